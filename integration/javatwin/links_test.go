package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\]\(([^)#]*)(?:#([^)]*))?\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	// GitHub drops these from a heading to make its anchor.
	dropped = regexp.MustCompile("[^a-z0-9 _-]")
)

// TestPageLinksLeadSomewhere: each link's file is there, and has the heading.
func TestPageLinksLeadSomewhere(t *testing.T) {
	const docs = "../../docs"
	text, err := os.ReadFile(filepath.Join(docs, "from-java.md"))
	if err != nil {
		t.Fatal(err)
	}
	links := link.FindAllStringSubmatch(string(text), -1)
	if len(links) < 10 {
		t.Errorf("only %d links", len(links))
	}
	for _, l := range links {
		target, anchor := filepath.Join(docs, l[1]), l[2]
		if l[1] == "" {
			target = filepath.Join(docs, "from-java.md")
		}
		if anchor == "" {
			if _, err := os.Stat(target); err != nil {
				t.Error(err)
			}
			continue
		}
		text, err := os.ReadFile(target)
		if err != nil {
			t.Error(err)
			continue
		}
		found := false
		for _, h := range heading.FindAllStringSubmatch(string(text), -1) {
			slug := strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-")
			found = found || slug == anchor
		}
		if !found {
			t.Errorf("%s has no heading for #%s", target, anchor)
		}
	}
}
