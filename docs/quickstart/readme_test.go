package main

import (
	"bytes"
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/rlock"
)

func TestReadmeExampleIsTheOneThatRuns(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "example_test.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(file.Decls, func(d ast.Decl) bool { _, ok := d.(*ast.FuncDecl); return ok })
	if i < 0 {
		t.Fatal("no function in example_test.go")
	}
	f := file.Decls[i]
	want := string(source[files.Position(f.Pos()).Offset:files.Position(f.End()).Offset])
	if got := block(t, "../../README.md", "```go\n"); got != want+"\n" {
		t.Errorf("the README has\n%s\nwhere example_test.go has\n%s", got, want)
	}
}

func TestReadmeExampleRuns(t *testing.T) {
	t.Parallel()
	server, err := startEmbedded()
	if err != nil {
		t.Fatal(err)
	}
	defer server.stop()
	client, err := rlock.Open(t.Context(), server.url())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	count := 0
	err = reconcile(t.Context(), client, func(context.Context) error { count++; return nil })
	if err != nil || count != 1 {
		t.Errorf("settled %d times, %v", count, err)
	}
	failure := errors.New("no paper")
	err = reconcile(t.Context(), client, func(context.Context) error { return failure })
	if !errors.Is(err, failure) {
		t.Errorf("%v instead of the work's own error", err)
	}
	err = reconcile(t.Context(), client, func(context.Context) error { server.redis.Del("invoices"); return nil })
	if !errors.Is(err, rlock.ErrNotHeld) {
		t.Errorf("the lock was lost while it worked, and the error is %v", err)
	}
	other, err := rlock.Open(t.Context(), server.url())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	hold, err := other.NewLock("invoices").Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := reconcile(t.Context(), client, func(context.Context) error { count++; return nil }); err != nil || count != 1 {
		t.Errorf("others held it, and it was settled %d times, %v", count, err)
	}
	if err := hold.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
	if keys := server.redis.Keys(); len(keys) != 0 {
		t.Errorf("left behind: %q", keys)
	}
}

// compareWithPage holds a run's output against the one that README.md here
// shows; figures and ids may differ.
func compareWithPage(t *testing.T, story string) {
	t.Helper()
	shown := block(t, "README.md", "```text\n")
	if got, want := shape(shown), shape(story); got != want {
		t.Errorf("the README shows\n%s\nbut it is\n%s", shown, story)
	}
}

var (
	ids     = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f-]{27})?`)
	figures = regexp.MustCompile(` *[0-9]+(\.[0-9]+)?`)
)

func shape(s string) string {
	return figures.ReplaceAllString(ids.ReplaceAllString(s, "ID"), " N")
}

// block is the first block of a page that begins with fence.
func block(t *testing.T, page, fence string) string {
	t.Helper()
	whole, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := bytes.Cut(whole, []byte("\n"+fence))
	text, _, closed := strings.Cut(string(after), "```")
	if !ok || !closed {
		t.Fatalf("%s has no block %q", page, fence)
	}
	return text
}
