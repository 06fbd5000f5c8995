package doccheck

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// checkout is a tree of files as a fresh clone has it.
type checkout struct {
	root     string
	entries  map[string]bool // files (false) and folders (true), by their paths with slashes
	packages map[string]*pkg // by folder
	pages    map[string]*page
	set      *token.FileSet
}

// pkg is the Go code of one folder: a package and its tests.
type pkg struct {
	name  string // "" if there are only tests
	files map[string]*ast.File
}

// modulePath is what imports of this checkout begin with.
const modulePath = "github.com/rlock-go/redisson"

// notCloned tells what git ignores, and its own .git, which in a worktree is a file that names the repository.
func notCloned(name string) bool {
	return name == ".git" || name == "target" || name == ".cache" || name == "node_modules"
}

func readCheckout(t *testing.T, root string) *checkout {
	t.Helper()
	c := &checkout{
		root: root, entries: map[string]bool{}, packages: map[string]*pkg{}, pages: map[string]*page{},
		set: token.NewFileSet(),
	}
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch {
		case !notCloned(entry.Name()):
		case entry.IsDir():
			return filepath.SkipDir
		default:
			return nil
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		c.entries[name] = entry.IsDir()
		if entry.IsDir() {
			return nil
		}
		switch path.Ext(name) {
		case ".go":
			return c.addGo(name)
		case ".md":
			text, err := os.ReadFile(file)
			c.pages[name] = parsePage(name, string(text))
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *checkout) addGo(name string) error {
	f, err := parser.ParseFile(c.set, filepath.Join(c.root, name), nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	p := c.packages[path.Dir(name)]
	if p == nil {
		p = &pkg{files: map[string]*ast.File{}}
		c.packages[path.Dir(name)] = p
	}
	p.files[path.Base(name)] = f
	if !strings.HasSuffix(name, "_test.go") {
		p.name = f.Name.Name
	}
	return nil
}

// at returns the place of a node of the syntax tree.
func (c *checkout) at(n ast.Node) string {
	p := c.set.Position(n.Pos())
	name, err := filepath.Rel(c.root, p.Filename)
	if err != nil {
		name = p.Filename
	}
	return where(filepath.ToSlash(name), p.Line)
}

// folder tells whether the checkout has this folder.
func (c *checkout) folder(name string) bool { return c.entries[name] }

func (c *checkout) exists(name string) bool {
	_, ok := c.entries[name]
	return ok
}

// manual tells the pages whose commands readers run: the README, those for contributors, and those under docs.
func manual(name string) bool {
	return name == "README.md" || name == "CONTRIBUTING.md" || name == "CHANGELOG.md" || strings.HasPrefix(name, "docs/")
}

// sorted returns a map's keys in order, so that findings are in order.
func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// packagesAt finds the packages that ./a, ./a/... or an import path means in a folder.
func (c *checkout) packagesAt(dir, pattern string) (found []*pkg, ok bool) {
	if rest, mine := strings.CutPrefix(pattern, modulePath); mine {
		rest, _, _ = strings.Cut(rest, "@") // a version
		dir, pattern = ".", "."+rest
	} else if pattern != "." && pattern != ".." && !strings.HasPrefix(pattern, "./") && !strings.HasPrefix(pattern, "../") {
		return nil, true // a package of another project
	}
	pattern, below := strings.CutSuffix(pattern, "...")
	dir = path.Join(dir, pattern)
	for name, p := range c.packages {
		if name == dir || below && (dir == "." || strings.HasPrefix(name, dir+"/")) {
			found = append(found, p)
		}
	}
	return found, len(found) > 0
}
