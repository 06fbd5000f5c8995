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

	"github.com/rlock-go/redisson/integration/kit/tablefile"
)

// kind returns the kind of an attribute in the page's words.
func kind(v slog.Value) string {
	if v.Kind() == slog.KindAny {
		if _, ok := v.Any().(error); ok {
			return "error"
		}
	}
	return strings.ToLower(strings.TrimSuffix(v.Kind().String(), "64"))
}

// written is a call in the source that logs a message, and how many are logged before any is held back: 0 for all.
type written struct {
	message string
	first   int
}

// telling has the functions that take a message, and how many messages each logs at once.
var telling = map[string]int{"write": 0, "line": 0, "debug": 0, "info": 0, "warn": 0, "later": 0, "tell": 1, "warnLater": 10}

// inSource returns the lines that internal/eventlog logs.
func inSource(t *testing.T) (all []written) {
	constants := map[string]string{}
	inspect(t, "internal/eventlog", func(_ token.Position, n ast.Node) {
		if c, ok := n.(*ast.ValueSpec); ok && len(c.Values) == 1 {
			for _, text := range literals(c.Values) {
				constants[c.Names[0].Name] = text
			}
		}
	})
	inspect(t, "internal/eventlog", func(_ token.Position, n ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return
		}
		f, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return
		}
		first, ok := telling[f.Sel.Name]
		if !ok {
			return
		}
		texts := literals(call.Args)
		for _, a := range call.Args {
			if id, ok := a.(*ast.Ident); ok {
				if text := constants[id.Name]; text != "" {
					texts = append(texts, text)
				}
				first += map[string]int{"one": 1, "ten": 10}[id.Name]
			}
		}
		for _, text := range texts {
			all = append(all, written{text, first})
		}
	})
	return all
}

// inspect visits the source of a package.
func inspect(t *testing.T, dir string, visit func(token.Position, ast.Node)) {
	files, err := filepath.Glob(filepath.Join("../../..", dir, "*.go"))
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
			if n != nil {
				visit(set.Position(n.Pos()), n)
			}
			return true
		})
	}
}

// The page could lack an event that no scenario makes happen, so the test reads the messages from the source too.
func TestThePageTellsEveryMessageInTheSource(t *testing.T) {
	var told, found []string
	for _, e := range events(t) {
		message, _, _ := strings.Cut(e, ",")
		told = append(told, message)
	}
	for _, l := range inSource(t) {
		found = append(found, l.message)
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

// Several warnings at once are right for messages that each name another lock.
func TestThePageTellsWhichWarningsAreLoggedSeveralTimesAtOnce(t *testing.T) {
	text, err := os.ReadFile("../../../" + page)
	if err != nil {
		t.Fatal(err)
	}
	first := regexp.MustCompile("name a lock,\\s+(?:except `([^`]+)`,\\s+)?the first ten").FindSubmatch(text)
	if first == nil {
		t.Fatal("the page does not say of which messages the first ten are logged")
	}
	named := map[string]bool{}
	for _, r := range tablefile.Rows(t, page, head) {
		named[words(r[0])[0]] = slices.Contains(words(r[2]), "lock")
	}
	limits := 0
	for _, l := range inSource(t) {
		if l.first == 0 {
			continue
		}
		limits++
		if ten := named[l.message] && l.message != string(first[1]); ten != (l.first != 1) {
			t.Errorf("%q is logged %d at once; the page says ten: %t", l.message, l.first, ten)
		}
	}
	if limits < 10 {
		t.Errorf("the source has only %d limits", limits)
	}
}

// literals returns the strings among expressions, except those inside calls.
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
