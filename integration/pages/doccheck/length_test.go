package doccheck

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The pages for users are to be read in an hour, and so are those for contributors. Words are what wc -w counts: all of each
// page, tables and code too. Only docs/dev/compare.md is left out: a command writes it, a table for each fault, and nobody
// reads it from end to end. The other tables for contributors are in a folder of their own.
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
