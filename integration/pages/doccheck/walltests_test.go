package doccheck

import (
	"go/ast"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"
)

// wallTimes finds the places at which each test compares wall time, by folder and name of the test, and those at which the
// tests of each folder sleep. Bubbles of testing/synctest are left out.
func (c *checkout) wallTimes() (compared, slept map[string][]string) {
	compared, slept = map[string][]string{}, map[string][]string{}
	imported := &folders{checkout: c, done: map[string]*types.Package{}, info: &types.Info{
		Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{},
	}}
	type group struct {
		folder string
		files  []*ast.File
	}
	var groups []group
	for _, folder := range sorted(c.packages) {
		byName := map[string][]*ast.File{}
		for _, name := range sorted(c.packages[folder].files) {
			f := c.packages[folder].files[name]
			byName[f.Name.Name] = append(byName[f.Name.Name], f)
		}
		for _, files := range byName {
			imported.check(folder, files)
			groups = append(groups, group{folder, files})
		}
	}
	// Functions that call synctest.Test run an argument in a bubble, and so do those that call them.
	bubbles := map[string]bool{}
	for n := -1; n != len(bubbles); {
		n = len(bubbles)
		for _, g := range groups {
			w := &wall{info: imported.info, bubbles: bubbles}
			for _, f := range g.files {
				for _, d := range f.Decls {
					if d, ok := d.(*ast.FuncDecl); ok && d.Recv == nil && d.Body != nil && !rootTest(d.Name.Name) && w.makesBubble(d.Body) {
						bubbles[modulePath+"/"+g.folder+"."+d.Name.Name] = true
					}
				}
			}
		}
	}
	for _, g := range groups {
		if slices.ContainsFunc(g.files, func(f *ast.File) bool { return strings.HasSuffix(c.set.Position(f.Pos()).Filename, "_test.go") }) {
			c.reaches(g.folder, follow(g.files, imported.info, bubbles), compared, slept)
		}
	}
	return compared, slept
}

func (w *wall) makesBubble(body ast.Node) (makes bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		makes = makes || ok && w.bubble(call)
		return !makes
	})
	return makes
}

// reaches adds what the tests of a package do.
func (c *checkout) reaches(folder string, w *wall, compared, slept map[string][]string) {
	for of, d := range w.decls {
		if !rootTest(of.Name()) || !strings.HasSuffix(c.set.Position(d.Pos()).Filename, "_test.go") {
			continue
		}
		add := func(to map[string][]string, key string) func(ast.Node) {
			return func(n ast.Node) {
				if at := c.at(n); strings.Contains(at, "_test.go") && !slices.Contains(to[key], at) {
					to[key] = append(to[key], at)
				}
			}
		}
		w.reach(d, map[ast.Node]bool{}, add(compared, folder+"."+of.Name()), add(slept, folder))
	}
}

// folders imports the packages of a checkout from their sources. Those of others are empty, which makes errors that nobody
// minds: only the project's own names are followed.
type folders struct {
	*checkout
	done map[string]*types.Package
	info *types.Info
}

func (f *folders) Import(from string) (*types.Package, error) {
	if p := f.done[from]; p != nil {
		return p, nil
	}
	f.done[from] = types.NewPackage(from, path.Base(from))
	f.done[from].MarkComplete()
	folder, ours := strings.CutPrefix(from, modulePath+"/")
	if p := f.packages[folder]; ours && p != nil {
		var files []*ast.File
		for _, name := range slices.Sorted(maps.Keys(p.files)) {
			if !strings.HasSuffix(name, "_test.go") {
				files = append(files, p.files[name])
			}
		}
		f.done[from] = f.check(folder, files)
	}
	return f.done[from], nil
}

func (f *folders) check(folder string, files []*ast.File) *types.Package {
	conf := types.Config{Importer: f, Error: func(error) {}, FakeImportC: true}
	p, _ := conf.Check(modulePath+"/"+folder, f.set, files, f.info)
	return p
}
