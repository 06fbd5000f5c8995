package rlocktest_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestPageShowsTheCodeThatRuns compares docs/testing.md with consumer_test.go.
func TestPageShowsTheCodeThatRuns(t *testing.T) {
	page, err := os.ReadFile("../docs/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("consumer_test.go")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]string{}
	for _, block := range regexp.MustCompile("(?ms)^<!-- consumer_test\\.go: ([a-z]+) -->\n```go\n(.*?)^```$").FindAllStringSubmatch(string(page), -1) {
		shown[block[1]] = block[2]
	}
	runs := regexp.MustCompile(`(?ms)^// begin page: ([a-z]+)\n\n(.*?)\n// end page$`).FindAllStringSubmatch(string(source), -1)
	for _, part := range runs {
		if shown[part[1]] != part[2] {
			t.Errorf("%s: the page shows\n%s\nwhere the test has\n%s", part[1], shown[part[1]], part[2])
		}
	}
	if blocks := strings.Count(string(page), "```go\n"); len(runs) == 0 || blocks != len(runs) || len(shown) != blocks {
		t.Errorf("the page has %d blocks, %d of them named, and %d parts run", blocks, len(shown), len(runs))
	}
}
