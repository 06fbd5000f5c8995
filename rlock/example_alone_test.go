package rlock_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// pkg.go.dev shows an example without the other test files. It may only call importable packages
// and code in its own file: go/doc makes a runnable program of nothing else.
func TestEachExampleStandsAlone(t *testing.T) {
	paths, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	set := token.NewFileSet()
	for _, path := range paths {
		file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	examples := doc.Examples(files...)
	if len(examples) < 40 {
		t.Errorf("only %d examples were found", len(examples))
	}
	for _, e := range examples {
		if e.Play == nil {
			t.Errorf("Example%s needs what is declared in another file, or is no program", e.Name)
			continue
		}
		ast.Inspect(e.Play, func(n ast.Node) bool {
			if i, ok := n.(*ast.ImportSpec); ok && strings.Contains(i.Path.Value, "/internal/") {
				t.Errorf("Example%s imports %s, which nobody else can", e.Name, i.Path.Value)
			}
			return true
		})
	}
}
