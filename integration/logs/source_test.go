package logs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"path/filepath"
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
