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

// Package is one as `go list` tells of it.
type Package struct {
	ImportPath string   // as it is imported
	Dir        string   // the folder of its files
	Export     string   // the file with what it exports
	GoFiles    []string // names, without tests
	DepOnly    bool     // it is of another module, or of the standard library

	set    *token.FileSet // of all packages
	others types.Importer // what they import, read once
}

// Load lists the packages of the module in dir. It has those that they import compiled.
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

// Check returns the package with what info asks for, or its first error. The texts stand for the files of these paths.
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

// Edited checks those of the packages that have files of these paths, with the texts in their place. It is an error if none
// has.
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
