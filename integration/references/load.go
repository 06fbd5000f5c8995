package main

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
	"strings"
)

// library is the module that is counted.
const library = "github.com/rlock-go/redisson"

// listed is a package as `go list` tells of it.
type listed struct {
	ImportPath string
	Dir        string
	Export     string // the file with what it exports
	GoFiles    []string
	DepOnly    bool

	exports map[string]string // of all packages, by import path
}

func (p *listed) name() string { return strings.TrimPrefix(p.ImportPath, library+"/") }

// load lists the packages of the module in dir.
func load(dir string) ([]*listed, error) {
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
	var all []*listed
	for d := json.NewDecoder(out); ; {
		p := &listed{exports: exports}
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

// uses are those of the package's files.
func (p *listed) uses() (uses, error) {
	set := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, 0)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	open := func(path string) (io.ReadCloser, error) { return os.Open(p.exports[path]) }
	return usesOf(p.ImportPath, set, files, importer.ForCompiler(set, "gc", open))
}

func usesOf(path string, set *token.FileSet, files []*ast.File, from types.Importer) (uses, error) {
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	pkg, err := (&types.Config{Importer: from}).Check(path, set, files, &info)
	if err != nil {
		return nil, err
	}
	u := uses{}
	for id, o := range info.Uses {
		if o.Pkg() != pkg {
			continue
		}
		if _, method := o.(*types.Func); !method && o.Parent() != pkg.Scope() {
			continue
		}
		u.add(filepath.Base(set.Position(id.Pos()).Filename), filepath.Base(set.Position(o.Pos()).Filename), o.Name())
	}
	return u, nil
}
