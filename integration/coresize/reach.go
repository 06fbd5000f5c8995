package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rlock-go/redisson/integration/internal/typecheck"
	"github.com/rlock-go/redisson/internal/kind"
)

const library = "github.com/rlock-go/redisson/"

// core are the packages that serve all kinds.
var core = strings.Fields("internal/command internal/lease internal/lockstate internal/pipeline internal/release internal/topology internal/waitqueue internal/wakepolicy pubsub watchdog")

// lines are those of some functions, with the function's name.
type lines map[place]string

type place struct {
	file string
	line int
}

// module is the library.
type module struct {
	set       *token.FileSet
	info      types.Info
	functions map[string]*function
	code      map[string][]string    // of a file, by line
	methods   map[string][]*function // of a type, those that may be called by an interface
	asked     map[string]bool        // fields of kind.Traits that a condition reads
}

// function is one of the module, or a declaration outside all of them.
type function struct {
	ast.Node
	name string // as types.Func.FullName has it; of a declaration, where it is
	file string // its path
	core bool
	root bool // whoever calls it is not known
}

func read(packages []*typecheck.Package) (m *module, err error) {
	m = &module{functions: map[string]*function{}, code: map[string][]string{}, methods: map[string][]*function{}, asked: map[string]bool{}}
	m.info = types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}}
	for _, p := range packages {
		m.info.FileVersions = map[*ast.File]string{}
		if _, m.set, err = p.Check(nil, &m.info); err != nil {
			return nil, err
		}
		for f := range m.info.FileVersions {
			path := m.set.Position(f.Package).Filename
			text, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			m.code[path] = append([]string{""}, strings.Split(string(text), "\n")...)
			for _, d := range f.Decls {
				one := &function{d, m.set.Position(d.Pos()).String(), path, slices.Contains(core, strings.TrimPrefix(p.ImportPath, library)), true}
				if d, ok := d.(*ast.FuncDecl); ok {
					one.name, one.root = m.info.Defs[d.Name].(*types.Func).FullName(), false
				}
				m.functions[one.name] = one
			}
		}
	}
	called, dynamic := map[string]bool{}, map[string]bool{}
	for _, o := range m.info.Uses {
		if f, ok := o.(*types.Func); ok {
			called[f.Origin().FullName()] = true
		}
	}
	for _, o := range m.info.Defs {
		if f, ok := o.(*types.Func); ok && f.Signature().Recv() != nil && types.IsInterface(f.Signature().Recv().Type()) {
			dynamic[f.Name()] = true
		}
	}
	for _, f := range m.functions {
		of, method, is := strings.Cut(strings.TrimLeft(f.name, "(*"), ").")
		switch {
		case !is:
			f.root = f.root || !f.core || !called[f.name]
		case !called[f.name] || dynamic[method]:
			m.methods[of] = append(m.methods[of], f)
		}
	}
	return m, nil
}

// reached are the lines of the core that may run for a kind with these traits, whose files of package rlock these are.
func (m *module) reached(t *kind.Traits, files string) lines {
	all, done := lines{}, map[*function]bool{}
	var next []*function
	for _, f := range m.functions {
		if f.root {
			next = append(next, f)
		}
	}
	for len(next) > 0 {
		f := next[0]
		if next = next[1:]; f == nil || done[f] || foreign(f.file, files) {
			continue
		}
		done[f] = true
		if f.core {
			m.eachLine(f, f.Node, func(at place) { all[at] = f.name })
		}
		skip := map[ast.Node]bool{}
		ast.Inspect(f.Node, func(n ast.Node) bool {
			for _, s := range m.skipped(n, t) {
				skip[s] = true
				m.eachLine(f, s, func(at place) { delete(all, at) })
			}
			if id, ok := n.(*ast.Ident); ok {
				switch o := m.info.Uses[id].(type) {
				case *types.Func:
					next = append(next, m.functions[o.Origin().FullName()])
				case *types.TypeName:
					if o.Pkg() != nil {
						next = append(next, m.methods[o.Pkg().Path()+"."+o.Name()]...)
					}
				}
			}
			return !skip[n]
		})
	}
	return all
}

// foreign tells whether a file of package rlock is of other kinds than those with these files.
func foreign(file, own string) bool {
	for _, row := range rows {
		if filepath.Base(filepath.Dir(file)) == "rlock" && slices.Contains(strings.Fields(row.files), filepath.Base(file)) {
			return !slices.Contains(strings.Fields(own), filepath.Base(file))
		}
	}
	return false
}

// eachLine goes through the lines of a part of a function that are neither blank nor comments.
func (m *module) eachLine(f *function, n ast.Node, do func(place)) {
	for i := m.set.Position(n.Pos()).Line; i <= m.set.Position(n.End()).Line; i++ {
		if text := strings.TrimSpace(m.code[f.file][i]); text != "" && !strings.HasPrefix(text, "//") {
			do(place{f.file, i})
		}
	}
}
