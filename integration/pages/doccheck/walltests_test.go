package doccheck

import (
	"go/ast"
	"go/token"
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
	var followed []*ast.File
	for _, g := range groups {
		for _, f := range g.files {
			if c.proves(f.Pos()) {
				followed = append(followed, f)
			}
		}
	}
	c.reaches(follow(followed, imported.info, bubbles, c.proves), compared, slept)
	return compared, slept
}

// proofs are the folders of what tests share. Programs that measure are in others, and so is what plays a row again that
// came too late to be compared with Java's.
var proofs = []string{"integration/kit/", "integration/redisson/alike/", "integration/redisson/interop/", "integration/redisson/javakinds/",
	"internal/testkit/monitor/", "internal/testkit/outcomes/", "internal/testkit/redistest/", "internal/testkit/topologytest/"}

// proves tells whether a file is a test, or for tests alone.
func (c *checkout) proves(of token.Pos) bool {
	at := c.set.Position(of).Filename[len(c.root)+1:]
	return strings.Contains(at, "_test.go") || slices.ContainsFunc(proofs, func(folder string) bool { return strings.HasPrefix(at, folder) })
}

func (w *wall) makesBubble(body ast.Node) (makes bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		makes = makes || ok && w.bubble(call)
		return !makes
	})
	return makes
}

// reaches adds what the tests do.
func (c *checkout) reaches(w *wall, compared, slept map[string][]string) {
	for _, d := range w.decls {
		at := c.at(d)
		if !rootTest(d.Name.Name) || d.Name.Name == "TestMain" || !strings.Contains(at, "_test.go") {
			continue
		}
		folder := path.Dir(at)
		add := func(to map[string][]string, key, at string) {
			if !slices.Contains(to[key], at) {
				to[key] = append(to[key], at)
			}
		}
		w.reach(d, w.makesBubble(d.Body), map[ast.Node]bool{},
			func(n ast.Node) { add(compared, folder+"."+d.Name.Name, c.at(n)) },
			func(n ast.Node) {
				if at := c.at(n); strings.Contains(at, "_test.go") {
					add(slept, path.Dir(at), at)
				}
			})
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
