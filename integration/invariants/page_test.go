package invariants_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A number that a test's name or a comment has is explained, and what is explained is tested.
func TestEachNumberIsOnThePageAndHasATest(t *testing.T) {
	t.Parallel()
	const root = "../.."
	page, err := os.ReadFile(filepath.Join(root, "docs", "dev", "invariants.md"))
	if err != nil {
		t.Fatal(err)
	}
	explained, tested := map[string]bool{}, map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^- \*\*([A-Z]\d)\.\*\* `).FindAllSubmatch(page, -1) {
		explained[string(m[1])] = true
	}
	test := regexp.MustCompile(`(?m)^func Test([A-Z]\d)[A-Z]`)
	remark := regexp.MustCompile(`//.*\(([A-Z]\d)\)`)
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() != filepath.Base(root) && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir // what others wrote is fetched into one
		}
		if err != nil || !strings.HasSuffix(path, ".go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range test.FindAllSubmatch(text, -1) {
			tested[string(m[1])] = true
		}
		for _, m := range remark.FindAllSubmatch(text, -1) {
			if !explained[string(m[1])] {
				t.Errorf("%s: %s is not on the page", path, m[1])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for n := range tested {
		if !explained[n] {
			t.Errorf("tests have %s in their names, which is not on the page", n)
		}
	}
	for n := range explained {
		if !tested[n] {
			t.Errorf("no test has %s in its name", n)
		}
	}
	if len(explained) < 20 {
		t.Errorf("only %d are found on the page", len(explained))
	}
}
