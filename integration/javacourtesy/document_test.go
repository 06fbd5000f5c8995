package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rlock-go/redisson/integration/internal/tablefile"
)

func TestPageForUsersHasAnExcerptOfTheTables(t *testing.T) {
	_, tables, err := tablefile.Read("courtesy")
	if err != nil {
		t.Fatal(err)
	}
	want, err := excerpt(tables)
	if err != nil {
		t.Fatal(err)
	}
	docs, err := docsDir()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(docs, "performance.md"))
	if err != nil {
		t.Fatal(err)
	}
	if _, got, _, err := cut(string(text)); err != nil || got != "\n"+want {
		t.Errorf("docs/performance.md has\n%s\ninstead of\n%s: %v", got, want, err)
	}
}
