// Package examples checks that go doc has an example for each thing that users of the module can
// call.
package examples

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/rlock-go/redisson"

// TestEveryEntryPointHasAnExample requires an example that is run and whose output is compared:
// for each package, exported function and method, and for each type that no function or method
// shows. The constants of a type that has some say all about it.
func TestEveryEntryPointHasAnExample(t *testing.T) {
	packages := publicPackages(t, "../../..")
	for _, known := range []string{"rlock", "pubsub", "watchdog", "codec"} {
		if !slices.Contains(packages, known) {
			t.Errorf("%s was not found", known)
		}
	}
	for _, name := range packages {
		t.Run(name, func(t *testing.T) { check(t, load(t, filepath.Join("../../..", name), path.Join(module, name))) })
	}
}

func check(t *testing.T, p *doc.Package) {
	if p.Name == "main" {
		return
	}
	shown(t, "package "+p.Name, p.Examples)
	for _, f := range p.Funcs {
		shown(t, p.Name+"."+f.Name, f.Examples)
	}
	for _, typ := range p.Types {
		name := p.Name + "." + typ.Name
		for _, f := range typ.Funcs {
			shown(t, p.Name+"."+f.Name, f.Examples)
		}
		methods := slices.DeleteFunc(slices.Clone(typ.Methods), func(m *doc.Func) bool { return forFormatting(m.Name) })
		for _, m := range methods {
			shown(t, name+"."+m.Name, m.Examples)
		}
		if len(typ.Funcs)+len(methods)+len(typ.Consts) == 0 {
			shown(t, name, typ.Examples)
		} else {
			compared(t, name, typ.Examples)
		}
	}
}

// forFormatting names the methods that only packages fmt and errors call.
func forFormatting(method string) bool {
	return slices.Contains([]string{"Error", "Unwrap", "Is"}, method)
}

func shown(t *testing.T, what string, examples []*doc.Example) {
	t.Helper()
	if len(examples) == 0 {
		t.Errorf("%s has no example", what)
	}
	compared(t, what, examples)
}

// compared reports examples that are only compiled, or print nothing, or have no comment.
func compared(t *testing.T, what string, examples []*doc.Example) {
	t.Helper()
	for _, e := range examples {
		if strings.TrimSpace(e.Output) == "" {
			t.Errorf("%s: Example%s shows no output", what, e.Name)
		}
		if strings.TrimSpace(e.Doc) == "" {
			t.Errorf("%s: Example%s has no comment", what, e.Name)
		}
	}
}

// publicPackages returns the folders, relative to root, of the packages that others may import.
func publicPackages(t *testing.T, root string) (folders []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && file != root {
			nested, err := filepath.Glob(filepath.Join(file, "go.mod"))
			if err != nil {
				return err
			}
			if len(nested) > 0 || name == "internal" || name == "testdata" || strings.HasPrefix(name, ".") {
				return fs.SkipDir
			}
		}
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			folder, err := filepath.Rel(root, filepath.Dir(file))
			if err != nil {
				return err
			}
			if !slices.Contains(folders, folder) {
				folders = append(folders, folder)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return folders
}

func load(t *testing.T, folder, importPath string) *doc.Package {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(names) == 0 {
		t.Fatal("no files", err)
	}
	set := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		file, err := parser.ParseFile(set, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	p, err := doc.NewFromFiles(set, files, importPath)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
