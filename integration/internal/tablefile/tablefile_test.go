package tablefile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file that no command writes is a page, and belongs to them.
func TestEachFileSaysWhatWritesIt(t *testing.T) {
	files, err := filepath.Glob("../../../docs/dev/tables/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, file := range files {
		if _, table, err := Read(strings.TrimSuffix(filepath.Base(file), ".md")); err != nil || table == "" {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func TestWriteLeavesTheHeadAsItIs(t *testing.T) {
	root := t.TempDir()
	t.Chdir(root)
	file := filepath.Join(root, Path("x"))
	const head = "# A table\n\nWritten by `a test`, not by hand.\n"
	for name, text := range map[string]string{filepath.Join(root, "go.mod"): "module github.com/rlock-go/redisson\n", file: head + "\nold\n"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := Write("x", "new\n"); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != head+"\nnew\n" {
		t.Errorf("%q, %v", text, err)
	}
}
