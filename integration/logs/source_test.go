package logs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// kind names the kind of an attribute as the page does.
func kind(v slog.Value) string {
	if v.Kind() == slog.KindAny {
		if _, ok := v.Any().(error); ok {
			return "error"
		}
	}
	return strings.ToLower(strings.TrimSuffix(v.Kind().String(), "64"))
}

// telling are the functions that take a message.
var telling = []string{"LogAttrs", "later", "log", "Of"}

// What no scenario makes happen would be missing from the page without a word, so the source is asked for messages too.
func TestThePageTellsEveryMessageInTheSource(t *testing.T) {
	var told []string
	for _, e := range events(t) {
		message, _, _ := strings.Cut(e, ",")
		told = append(told, message)
	}
	var found []string
	for _, dir := range []string{"rlock", "internal/lockstate", "internal/eventlog", "internal/connlog", "internal/pipeline", "internal/redisconn", "internal/topology", "pubsub"} {
		files, err := filepath.Glob(filepath.Join("../..", dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", dir, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			set := token.NewFileSet()
			tree, err := parser.ParseFile(set, file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(tree, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					f, ok := n.Fun.(*ast.SelectorExpr)
					if !ok {
						return true
					}
					if logger, ok := f.X.(*ast.SelectorExpr); ok && slices.Contains([]string{"l", "log", "Logger", "logger"}, logger.Sel.Name) &&
						slices.Contains([]string{"Debug", "Info", "Warn", "Error", "Log"}, f.Sel.Name) {
						t.Errorf("%s: %s builds its attributes whatever the level is", set.Position(n.Pos()), f.Sel.Name)
					}
					if slices.Contains(telling, f.Sel.Name) {
						found = append(found, literals(n.Args)...)
					}
				}
				return true
			})
		}
	}
	slices.Sort(found)
	found = slices.Compact(found)
	if len(found) < 20 {
		t.Fatalf("the source has only these messages: %q", found)
	}
	for _, m := range found {
		if !slices.Contains(told, m) {
			t.Errorf("not on the page: %q", m)
		}
	}
	for _, m := range told {
		if !slices.Contains(found, m) {
			t.Errorf("on the page, but not in the source: %q", m)
		}
	}
}

// Several warnings at once are for messages that each name another lock.
func TestThePageTellsWhichWarningsAreLoggedSeveralTimesAtOnce(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	first := regexp.MustCompile("name a lock,\\s+(?:except `([^`]+)`,\\s+)?the first ten").FindSubmatch(text)
	if first == nil {
		t.Fatal("the page does not say of which messages the first ten are logged")
	}
	named := map[string]bool{}
	for _, r := range table(t, page, head) {
		named[words(r[0])[0]] = slices.Contains(words(r[2]), "lock")
	}
	limits := 0
	for _, dir := range []string{"internal/eventlog", "internal/connlog", "watchdog"} {
		files, err := filepath.Glob(filepath.Join("../..", dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(`loglimit\.Of\(.*, "(.+)", (\w+)\)`).FindAllStringSubmatch(string(source), -1) {
				limits++
				if ten := named[m[1]] && m[1] != string(first[1]); ten != (m[2] != "1") {
					t.Errorf("%q is logged %s times at once; the page says ten: %t", m[1], m[2], ten)
				}
			}
		}
	}
	if limits < 10 {
		t.Errorf("the source has only %d limits", limits)
	}
}

// literals are the strings among expressions, those inside of calls left out.
func literals(list []ast.Expr) (all []string) {
	for _, e := range list {
		if l, ok := e.(*ast.BasicLit); ok && l.Kind == token.STRING {
			if s, err := strconv.Unquote(l.Value); err == nil {
				all = append(all, s)
			}
		}
	}
	return all
}
