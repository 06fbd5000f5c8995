package simulation

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func TestContractIsThatOfThePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/guarantees.md")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(page)), " ")
	for _, c := range contract {
		if !strings.Contains(text, c.Sentence) {
			t.Errorf("%s: docs/guarantees.md has no such sentence: %s", c.Clause, c.Sentence)
		}
		headings := strings.FieldsFunc(string(page), func(r rune) bool { return r == '\n' })
		if c.Section != "" && !slices.ContainsFunc(headings, func(line string) bool {
			return strings.HasPrefix(line, "#") && anchor(line) == c.Section
		}) {
			t.Errorf("%s: docs/guarantees.md has no section %s", c.Clause, c.Section)
		}
	}
}

// anchor is how a heading is linked.
func anchor(heading string) string {
	kept := strings.Map(func(r rune) rune {
		if strings.ContainsRune("?,.'`", r) {
			return -1
		}
		return r
	}, strings.ToLower(strings.TrimLeft(heading, "# ")))
	return strings.ReplaceAll(kept, " ", "-")
}
