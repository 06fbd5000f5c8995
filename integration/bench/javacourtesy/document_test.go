package main

import (
	"testing"

	"github.com/rlock-go/redisson/integration/kit/tablefile"
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
	_, text, err := usersPage()
	if err != nil {
		t.Fatal(err)
	}
	if _, got, _, err := cut(text); err != nil || got != "\n"+want {
		t.Errorf("docs/performance.md has\n%s\ninstead of\n%s: %v", got, want, err)
	}
}
