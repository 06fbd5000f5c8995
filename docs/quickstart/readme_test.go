package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/rlock"
)

// firstProgram is the text of the program at the top of README.md.
func firstProgram(t *testing.T) string {
	t.Helper()
	source, err := os.ReadFile("first/main.go")
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(source), "\npackage main\n")
	if !found {
		t.Fatal("first/main.go is no program")
	}
	return "package main\n" + text
}

func TestReadmeShowsTheProgramThatRuns(t *testing.T) {
	t.Parallel()
	want := firstProgram(t)
	if got := block(t, "../../README.md", "```go\n"); got != want {
		t.Errorf("the README has\n%s\nwhere first/main.go has\n%s", got, want)
	}
}

// The program runs with another server's address. The README says in its text what it prints.
func TestReadmesProgramPrintsWhatTheReadmeSays(t *testing.T) {
	t.Parallel()
	server, err := startEmbedded()
	if err != nil {
		t.Fatal(err)
	}
	defer server.stop()
	run := func() string {
		file := filepath.Join(t.TempDir(), "main.go")
		text := strings.Replace(firstProgram(t), "redis://localhost:6379", server.url(), 1)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), "go", "run", file).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if !strings.Contains(block(t, "../../README.md", "```text\n"), string(out)) {
			t.Errorf("the README does not say that the program prints %q", out)
		}
		return string(out)
	}
	alone := run()
	client, err := rlock.Open(t.Context(), server.url())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	hold, err := client.NewLock("invoices").Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if busy := run(); busy == alone {
		t.Errorf("another client had the lock, and the program printed %q", busy)
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
