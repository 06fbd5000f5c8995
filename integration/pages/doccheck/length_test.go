package doccheck

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The pages for users can be read in an hour and a half, those for contributors in less. The test counts words like wc -w,
// code included, and of the pages for contributors no tables, which nobody reads from end to end. It leaves out
// docs/dev/compare.md, which a command writes.
func TestPagesStayShort(t *testing.T) {
	for whose, of := range map[string]struct {
		pages string
		most  int
	}{
		"contributors": {"docs/dev/*.md", 11000},
		"users":        {"README.md docs/*.md", 21000},
	} {
		words, pages := 0, 0
		for pattern := range strings.FieldsSeq(of.pages) {
			found, err := filepath.Glob("../../../" + pattern)
			if err != nil {
				t.Fatal(err)
			}
			pages += len(found)
			for _, page := range found {
				if page == "../../../docs/dev/compare.md" {
					continue
				}
				text, err := os.ReadFile(page)
				if err != nil {
					t.Fatal(err)
				}
				for line := range strings.Lines(string(text)) {
					if whose == "users" || !strings.HasPrefix(line, "|") {
						words += len(strings.Fields(line))
					}
				}
			}
		}
		if pages < 5 || words > of.most {
			t.Errorf("%d pages for %s have %d words, at most %d are wanted", pages, whose, words, of.most)
		}
	}
}
