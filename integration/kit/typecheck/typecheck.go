package typecheck

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// Package describes a package in the words of `go list`.
type Package struct {
	ImportPath string   // import path
	Dir        string   // folder of its files
	Export     string   // file with its export data
	GoFiles    []string // names of its files, without tests
	DepOnly    bool     // belongs to another module or to the standard library

	set    *token.FileSet // shared by all packages
	others types.Importer // imports their dependencies, each read once
}

// Load lists the packages of the module in dir. Its `go list` compiles them and all that they import.
func Load(dir string) ([]*Package, error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,DepOnly", "./...")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	exports := map[string]string{}
	set := token.NewFileSet()
	others := importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	var all []*Package
	for d := json.NewDecoder(out); ; {
		p := &Package{set: set, others: others}
		if err := d.Decode(p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		exports[p.ImportPath] = p.Export
		if !p.DepOnly {
			all = append(all, p)
		}
	}
	return all, cmd.Wait()
}

// Check type-checks the package and fills info, or returns the first error. texts replace the files at their paths.
func (p *Package) Check(texts map[string][]byte, info *types.Info) (*types.Package, *token.FileSet, error) {
	var files []*ast.File
	for _, name := range p.GoFiles {
		path := filepath.Join(p.Dir, name)
		var text any
		if t, replaced := texts[path]; replaced {
			text = t
		}
		f, err := parser.ParseFile(p.set, path, text, 0)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, f)
	}
	c := types.Config{Importer: p.others}
	pkg, err := c.Check(p.ImportPath, p.set, files, info)
	return pkg, p.set, err
}

// Edited type-checks, with texts in place, each package that has one of their files. It is an error if no package has
// one.
func Edited(packages []*Package, texts map[string][]byte) error {
	checked := false
	for _, p := range packages {
		if !slices.ContainsFunc(p.GoFiles, func(name string) bool { return texts[filepath.Join(p.Dir, name)] != nil }) {
			continue
		}
		checked = true
		if _, _, err := p.Check(texts, nil); err != nil {
			return err
		}
	}
	if !checked {
		return errors.New("no package has the files that are edited")
	}
	return nil
}
