package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func checkout(t *testing.T) string {
	t.Helper()
	root, err := findRoot()
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// TestEveryEditMeetsTheCode keeps the list from falling behind what it breaks.
func TestEveryEditMeetsTheCode(t *testing.T) {
	root := checkout(t)
	for _, d := range catalogue() {
		dir := t.TempDir()
		for _, e := range d.edits {
			text, err := os.ReadFile(filepath.Join(root, e.file))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, e.file)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, e.file), text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if len(d.edits) == 0 || len(d.by) == 0 {
			t.Errorf("%s: no edit or no test", d.what)
		}
		if _, err := d.apply(dir); err != nil {
			t.Errorf("%s: %v", d.what, err)
		}
	}
}

func TestEveryNamedTestExists(t *testing.T) {
	root := checkout(t)
	for _, d := range catalogue() {
		for _, c := range d.by {
			files, err := filepath.Glob(filepath.Join(root, c.pkg, "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(files, func(file string) bool {
				text, err := os.ReadFile(file)
				return err == nil && strings.Contains(string(text), "\nfunc "+c.test+"(t *testing.T)")
			}) {
				t.Errorf("%s: %s has no test %s", d.what, c.pkg, c.test)
			}
		}
	}
}

func TestDocumentHasEveryDefect(t *testing.T) {
	_, inside, _, err := cut(checkout(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range catalogue() {
		if n := strings.Count(inside, d.head()); n != 1 {
			t.Errorf("%s has the row %q %d times; run make mutants FLAGS=-write", document, d.head(), n)
		}
	}
	if rows := strings.Count(inside, "\n| ") - 1; rows != len(catalogue()) {
		t.Errorf("%s has %d rows, the catalogue %d", document, rows, len(catalogue()))
	}
}

func TestEditThatMissesIsRefusedAndChangesNothing(t *testing.T) {
	const text = "one two two three"
	for name, edits := range map[string][]edit{
		"text that is not there":      {{"f", "one", "1"}, {"f", "four", "4"}},
		"text that is there twice":    {{"f", "two", "2"}},
		"change that changes nothing": {{"f", "one", "one"}},
		"edit within another":         {{"f", "one two", "12"}, {"f", "one", "1"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "f")
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := (defect{edits: edits}).apply(dir); err == nil {
				t.Error("it was applied")
			}
			if now, err := os.ReadFile(file); err != nil || string(now) != text {
				t.Errorf("the file has %q, %v", now, err)
			}
		})
	}
}

func TestEditsAreMadeAndUndone(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	if err := os.WriteFile(file, []byte("one two three"), 0o644); err != nil {
		t.Fatal(err)
	}
	restore, err := defect{edits: []edit{{"f", "three", "3"}, {"f", "one", "1"}}}.apply(dir)
	if err != nil {
		t.Fatal(err)
	}
	if now, err := os.ReadFile(file); err != nil || string(now) != "1 two 3" {
		t.Errorf("the file has %q, %v", now, err)
	}
	if err := restore(); err != nil {
		t.Fatal(err)
	}
	if now, err := os.ReadFile(file); err != nil || string(now) != "one two three" {
		t.Errorf("restored, the file has %q, %v", now, err)
	}
}

// A build failure prints no result at all; a skipped test is no result either.
func TestOnlyTestsThatRanAndFailedCount(t *testing.T) {
	for output, want := range map[string][]string{
		"# pkg\nx.go:1: undefined: TestA\n":                        nil,
		"\x16=== RUN   TestA\n\x16--- PASS: TestA (0.00s)\nPASS\n": nil,
		"\x16=== RUN   TestA\n\x16--- SKIP: TestA (0.00s)\nPASS\n": nil,
		"\x16=== RUN   TestA\n\x16=== RUN   TestA/sub\nleft\x16--- FAIL: TestA (0.00s)\n    \x16--- FAIL: TestA/sub (0.00s)\nFAIL\n":      {"TestA"},
		"\x16=== RUN   TestA\n\x16--- PASS: TestA (0.00s)\n\x16=== RUN   TestB\npanic: test timed out after 2m0s\nrunning tests: TestB\n": {"TestB"},
		"\x16=== RUN   TestA\n--- FAIL: TestA\n\x16--- PASS: TestA (0.00s)\nPASS\n":                                                       nil,
	} {
		if got := read(output).failed; !slices.Equal(got, want) {
			t.Errorf("%q: failed %v, want %v", output, got, want)
		}
	}
}
