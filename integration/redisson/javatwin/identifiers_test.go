package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// declarations has the names that a span of the page may use.
const declarations = `package main

import (
	"context"
	"crypto/tls"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

func main() {}

func _(ctx, parent context.Context, client *rlock.Client, lock *rlock.Lock, locks []*rlock.Lock, hold *rlock.Hold, owner rlock.Owner, url, name,
	text string, d, wait time.Duration, m rlock.NameMapper, config *tls.Config, pool rlock.Pool, fn func(context.Context) error) {
`

// goSpan matches Go that the compiler can check; other spans are Java, keys or words.
var goSpan = regexp.MustCompile(`^(rlock\.[A-Z]|(client|lock|hold|owner|ctx)\.[A-Z]|Err[A-Z]|With[A-Z])`)

// TestPageCompiles compiles each Go expression of the page's text, so that it names only what exists. Each row of a table
// must have one, or say that there is none.
func TestPageCompiles(t *testing.T) {
	p := readPage(t, fromJava)
	for title, rows := range p.tables {
		if title == "object" {
			continue // it has the names of keys by release
		}
		for _, r := range rows {
			if len(statements(r.golang)) == 0 && !strings.HasPrefix(r.text, "none") {
				t.Errorf("%s: %v has neither Go nor the word none: %s", title, r.java, r.text)
			}
		}
	}
	all := statements(p.spans)
	if len(all) < 50 {
		t.Errorf("only %d expressions on the page: %q", len(all), all)
	}
	file := filepath.Join(t.TempDir(), "page.go")
	if err := os.WriteFile(file, []byte(declarations+strings.Join(all, "\n")+"\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-o", os.DevNull, file).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s\n%s", err, out, strings.Join(all, "\n"))
	}
	t.Logf("%d expressions", len(all))
}

// statements makes a statement of each Go span: calls stand alone, other expressions are assigned to the blank identifier.
func statements(spans []string) []string {
	var all []string
	for _, s := range spans {
		if !goSpan.MatchString(s) {
			continue
		}
		if !strings.Contains(s, ".") || strings.HasPrefix(s, "With") {
			s = "rlock." + s
		}
		expr, err := parser.ParseExpr(s)
		if _, call := expr.(*ast.CallExpr); err == nil && !call {
			s = fmt.Sprint("_ = ", s)
		}
		all = append(all, s)
	}
	return all
}
