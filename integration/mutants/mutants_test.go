package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/integration/kit/codeedit"
	"github.com/rlock-go/redisson/integration/kit/tablefile"
	"github.com/rlock-go/redisson/integration/kit/typecheck"
)

func read(t *testing.T) *source {
	t.Helper()
	src, err := readSource()
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// TestEveryEditMeetsTheCode keeps the list in step with the code that it breaks, and with the tests.
func TestEveryEditMeetsTheCode(t *testing.T) {
	src := read(t)
	seen := map[string]bool{}
	for _, d := range catalogue() {
		if _, err := src.library.Apply(d.edits...); err != nil {
			t.Errorf("%s: %v", d.what, err)
		}
		if _, err := src.catchers(d); err != nil {
			t.Error(err)
		}
		if len(d.edits) == 0 || len(d.by) == 0 || d.guards == "" || seen[d.what] {
			t.Errorf("%q: nothing is edited, no test named, it stands for nothing, or it is there twice", d.what)
		}
		seen[d.what] = true
	}
}

// TestEveryEditBuilds: a defect that does not build breaks nothing. An edit may leave an unused import, even if its
// code has only moved to another file.
func TestEveryEditBuilds(t *testing.T) {
	src := read(t)
	var packages []*typecheck.Package
	for _, module := range []string{".", "rlocktest"} {
		loaded, err := typecheck.Load(filepath.Join(src.root, module))
		if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, loaded...)
	}
	// builds tells whether all of them build at once. Two that meet in one place do not.
	builds := func(defects []defect) error {
		var all []codeedit.Edit
		for _, d := range defects {
			all = append(all, d.edits...)
		}
		texts, err := src.library.Apply(all...)
		if err != nil {
			return err
		}
		return typecheck.Edited(packages, texts)
	}
	var check func([]defect)
	check = func(defects []defect) {
		err := builds(defects)
		if half := len(defects) / 2; err != nil && half > 0 {
			check(defects[:half])
			check(defects[half:])
		} else if err != nil {
			t.Errorf("%s: %v", defects[0].what, err)
		}
	}
	// Neighbors in the catalogue often edit the same lines, so that those of a part are far from each other.
	const parts = 40
	all := make([][]defect, parts)
	for i, d := range catalogue() {
		all[i%parts] = append(all[i%parts], d)
	}
	for _, part := range all {
		check(part)
	}
}

// TestEveryInvariantIsGuarded compares the list with the invariants by their numbers.
func TestEveryInvariantIsGuarded(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(read(t).root, "docs", "dev", "invariants.md"))
	if err != nil {
		t.Fatal(err)
	}
	guarded := map[string]bool{}
	for _, d := range catalogue() {
		for g := range strings.SplitSeq(d.guards, ", ") {
			guarded[g] = true
		}
	}
	invariants := regexp.MustCompile(`(?m)^\W*([AHRPEI][0-9])\b`).FindAllStringSubmatch(string(text), -1)
	if len(invariants) < 23 {
		t.Fatalf("%d invariants are found", len(invariants))
	}
	for _, m := range invariants {
		if !guarded[m[1]] {
			t.Errorf("no defect stands for %s", m[1])
		}
	}
}

func TestDocumentHasEveryDefect(t *testing.T) {
	_, inside, err := tablefile.Read(tableFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range catalogue() {
		if n := strings.Count(inside, d.head()); n != 1 {
			t.Errorf("%s has the row %q %d times; run make mutants FLAGS=-write", tablefile.Path(tableFile), d.head(), n)
		}
	}
	if rows := strings.Count(inside, "\n| ") - 1; rows != len(catalogue()) {
		t.Errorf("%s has %d rows, the catalogue %d", tablefile.Path(tableFile), rows, len(catalogue()))
	}
}

func TestTestThatIsNotThereOrTwiceIsRefused(t *testing.T) {
	src := read(t)
	for _, name := range []string{"TestNobodyWroteThis", "TestH1TrustCountsFromTheSend", "rlock.TestH1TrustCountsFromTheSend"} {
		if by, err := src.catchers(defect{what: "x", by: tests{name}}); err == nil {
			t.Errorf("%s: %v", name, by)
		}
	}
	by, err := src.catchers(defect{by: tests{"watchdog.TestH1TrustCountsFromTheSend"}})
	if want := (catcher{"watchdog", "TestH1TrustCountsFromTheSend"}); err != nil || len(by) != 1 || by[0] != want {
		t.Errorf("%v, %v", by, err)
	}
}

// A build failure prints no result, and a skipped test has none either.
func TestOnlyTestsThatRanAndFailedCount(t *testing.T) {
	for output, want := range map[string][]string{
		"# pkg\nx.go:1: undefined: TestA\n":                        nil,
		"\x16=== RUN   TestA\n\x16--- PASS: TestA (0.00s)\nPASS\n": nil,
		"\x16=== RUN   TestA\n\x16--- SKIP: TestA (0.00s)\nPASS\n": nil,
		"\x16=== RUN   TestA\n\x16=== RUN   TestA/sub\nleft\x16--- FAIL: TestA (0.00s)\n    \x16--- FAIL: TestA/sub (0.00s)\nFAIL\n":      {"TestA"},
		"\x16=== RUN   TestA\n\x16--- PASS: TestA (0.00s)\n\x16=== RUN   TestB\npanic: test timed out after 2m0s\nrunning tests: TestB\n": {"TestB"},
		"\x16=== RUN   TestA\n--- FAIL: TestA\n\x16--- PASS: TestA (0.00s)\nPASS\n":                                                       nil,
	} {
		if got := results(output).failed; !slices.Equal(got, want) {
			t.Errorf("%q: failed %v, want %v", output, got, want)
		}
	}
}
