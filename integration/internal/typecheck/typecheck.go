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
)

// Package is one as `go list` tells of it.
type Package struct {
	ImportPath string   // as it is imported
	Dir        string   // the folder of its files
	Export     string   // the file with what it exports
	GoFiles    []string // names, without tests
	DepOnly    bool     // it is of another module, or of the standard library

	exports map[string]string // of all packages, by import path
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
	var all []*Package
	for d := json.NewDecoder(out); ; {
		p := &Package{exports: exports}
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
	set := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		path := filepath.Join(p.Dir, name)
		var text any
		if t, replaced := texts[path]; replaced {
			text = t
		}
		f, err := parser.ParseFile(set, path, text, 0)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, f)
	}
	open := func(path string) (io.ReadCloser, error) { return os.Open(p.exports[path]) }
	c := types.Config{Importer: importer.ForCompiler(set, "gc", open)}
	pkg, err := c.Check(p.ImportPath, set, files, info)
	return pkg, set, err
}
