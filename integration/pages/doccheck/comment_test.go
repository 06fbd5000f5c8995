package doccheck

import (
	"go/doc/comment"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/integration/kit/redisserver"
)

// comment is the doc comment of a package.
func (c *checkout) comment(dir string) (text string) {
	for _, f := range c.packages[dir].files {
		text += f.Doc.Text()
	}
	return text
}

// The comment of package rlock is short, and the first code in it is a program that runs as it stands, but for its server.
func TestPackageCommentBeginsWithAProgram(t *testing.T) {
	t.Parallel()
	text := thisCheckout(t).comment("rlock")
	if n := len(strings.Fields(text)); n > 900 {
		t.Errorf("it has %d words", n)
	}
	program := ""
	for _, b := range new(comment.Parser).Parse(text).Content {
		if code, is := b.(*comment.Code); is {
			program = code.Text
			break
		}
	}
	const url = "redis://localhost:6379"
	if !strings.HasPrefix(program, "package main\n") || !strings.Contains(program, url) {
		t.Fatalf("it begins with no program:\n%s", program)
	}
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(program, url, redisserver.Local(t).URL())), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "run", file).CombinedOutput(); err != nil || string(out) != "no other process is here\n" {
		t.Errorf("%v: %s", err, out)
	}
}

// Who imports a package whose API may change is told first of all.
func TestPackagesThatMayChangeSayItFirst(t *testing.T) {
	t.Parallel()
	c := thisCheckout(t)
	for _, dir := range []string{"codec", "pubsub", "watchdog"} {
		first, _, _ := strings.Cut(c.comment(dir), "\n")
		if want := "Package " + dir + ", whose API may change in any minor version until 1.0,"; !strings.HasPrefix(first, want) {
			t.Errorf("%s begins with %q, want %q", dir, first, want)
		}
	}
}
