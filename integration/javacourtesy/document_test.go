package main

import (
	"os"
	"path/filepath"
	"testing"
)

// tablesOf are those of a page.
func tablesOf(t *testing.T, name string) string {
	t.Helper()
	docs, err := docsDir()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(docs, name))
	if err != nil {
		t.Fatal(err)
	}
	_, tables, _, err := cut(string(text))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return tables
}

func TestPageForUsersHasAnExcerptOfTheTables(t *testing.T) {
	want, err := excerpt(tablesOf(t, "dev/courtesy.md"))
	if err != nil {
		t.Fatal(err)
	}
	if got := tablesOf(t, "courtesy.md"); got != "\n"+want {
		t.Errorf("docs/courtesy.md has\n%s\ninstead of\n%s", got, want)
	}
}
