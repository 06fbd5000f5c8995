package codeedit

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Root returns the folder of the library's module, which must contain the working folder.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(text), "module github.com/rlock-go/redisson\n") {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("this must run within the checkout")
		}
		dir = up
	}
}

// Module indexes the source of one Go module, or of several, by function name.
type Module struct {
	set   *token.FileSet
	code  map[string][]*function
	tests map[string][]string // folders of each test function, by its name
}

type function struct {
	file string // its path
	text []byte // the file's
	decl *ast.FuncDecl
}

// Read reads the modules in these folders, without modules nested in them.
func Read(roots ...string) (*Module, error) {
	m := &Module{token.NewFileSet(), map[string][]*function{}, map[string][]string{}}
	for _, root := range roots {
		if err := m.walk(root); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *Module) walk(root string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && foreign(path):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		return m.read(path)
	})
}

// foreign reports whether a folder is not part of the module around it.
func foreign(dir string) bool {
	name := filepath.Base(dir)
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil || name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

func (m *Module) read(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	file, err := parser.ParseFile(m.set, path, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		name := fullName(f)
		if strings.HasSuffix(path, "_test.go") {
			dir := filepath.Dir(path)
			for _, full := range []string{name, filepath.Base(dir) + "." + name} {
				if !slices.Contains(m.tests[full], dir) {
					m.tests[full] = append(m.tests[full], dir)
				}
			}
			continue
		}
		for _, full := range []string{name, file.Name.Name + "." + name} {
			m.code[full] = append(m.code[full], &function{path, text, f})
		}
	}
	return nil
}

// fullName is "f" for a function, "T.f" for a method.
func fullName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	t := f.Recv.List[0].Type
	for {
		switch of := t.(type) {
		case *ast.StarExpr:
			t = of.X
		case *ast.IndexExpr:
			t = of.X
		case *ast.Ident:
			return of.Name + "." + f.Name.Name
		default:
			return f.Name.Name
		}
	}
}

// function finds the only function of a name.
func (m *Module) function(name string) (*function, error) {
	switch found := m.code[name]; len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, fmt.Errorf("no function %s", name)
	default:
		return nil, fmt.Errorf("%d functions %s; put the package's name before it", len(found), name)
	}
}

// TestFolders returns the folders of the packages that have a test: "TestX", or "folder.TestX".
func (m *Module) TestFolders(name string) []string { return m.tests[name] }
