package command_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// classify are the folders that may tell errors apart.
var classify = []string{"../../internal/command", "../../internal/redisconn"}

// classified are the names that only these folders may use.
var classified = map[string]bool{
	"redis.Error": true, "pipeline.LostError": true, "pipeline.NotSentError": true, "pipeline.ErrClosed": true,
}

// code is a text that begins as a server's error does.
var code = regexp.MustCompile(`^(LOADING|BUSY|MASTERDOWN|TRYAGAIN|CLUSTERDOWN|READONLY|OOM|NOREPLICAS|MISCONF|NOSCRIPT|WRONGTYPE|NOAUTH|NOPERM|WRONGPASS|DENIED|MOVED|ASK|CROSSSLOT|UNBLOCKED)( |$)|^ERR `)

// misplaced lists the classified names and error codes in a file.
func misplaced(set *token.FileSet, file *ast.File) (found []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && classified[x.Name+"."+n.Sel.Name] {
				found = append(found, fmt.Sprintf("%v: %s.%s", set.Position(n.Pos()), x.Name, n.Sel.Name))
			}
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil && code.MatchString(text) {
				found = append(found, fmt.Sprintf("%v: %q", set.Position(n.Pos()), text))
			}
		}
		return true
	})
	return found
}

func TestErrorsAreClassifiedNowhereElse(t *testing.T) {
	t.Parallel()
	const root = "../.."
	set, files := token.NewFileSet(), 0
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			_, ofItsOwn := os.Stat(filepath.Join(name, "go.mod"))
			if name != root && (ofItsOwn == nil || strings.HasPrefix(entry.Name(), ".")) || slices.Contains(classify, name) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files++
		for _, found := range misplaced(set, file) {
			t.Error(found)
		}
		return nil
	})
	if err != nil || files < 50 {
		t.Fatalf("%d files read, %v", files, err)
	}
}

func TestMisplacedClassificationIsFound(t *testing.T) {
	t.Parallel()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "x.go", `package x
var a = err.(redis.Error)
var b = strings.HasPrefix(s, "MOVED ")
var c, ok = err.(*pipeline.LostError)
var d = "moved"
var e = redis.Errors`, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if found := misplaced(set, file); len(found) != 3 {
		t.Errorf("found %q", found)
	}
}
