package doccheck

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The pages for users can be read in an hour, and so can those for contributors. The test counts words like wc -w: each
// whole page with its tables and code. It leaves out only docs/dev/compare.md, which a command writes with a table for
// each fault: nobody reads it from end to end. The other tables for contributors have a folder of their own.
func TestPagesStayShort(t *testing.T) {
	for whose, of := range map[string]struct {
		pages string
		most  int
	}{
		"contributors": {"docs/dev/*.md", 15000},
		"users":        {"README.md docs/*.md", 16000},
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
				words += len(strings.Fields(string(text)))
			}
		}
		if pages < 5 || words > of.most {
			t.Errorf("%d pages for %s have %d words, at most %d are wanted", pages, whose, words, of.most)
		}
	}
}
