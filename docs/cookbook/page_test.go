package cookbook_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var write = flag.Bool("write", false, "put the programs' text into the page instead of comparing")

const page = "../cookbook.md"

// shown is a program's text on the page: the line that names it and its block.
var shown = regexp.MustCompile("(?ms)^(<!-- cookbook/([a-z]+)/main\\.go -->\n```go\n)(.*?)(^```$)")

func TestPageShowsThePrograms(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var recipes []string
	updated := shown.ReplaceAllStringFunc(string(text), func(block string) string {
		part := shown.FindStringSubmatch(block)
		recipes = append(recipes, part[2])
		want := heart(t, filepath.Join(part[2], "main.go"))
		if !*write && part[3] != want {
			t.Errorf("the page shows\n%s\nwhere %s/main.go has\n%s", part[3], part[2], want)
		}
		return part[1] + want + part[4]
	})
	if *write {
		if err := os.WriteFile(page, []byte(updated), 0o644); err != nil {
			t.Fatal(err)
		}
	}

	programs, err := filepath.Glob("*/main.go")
	if err != nil || len(programs) == 0 {
		t.Fatal("no programs", err)
	}
	for _, program := range programs {
		name := filepath.Dir(program)
		if n := len(slices.DeleteFunc(slices.Clone(recipes), func(s string) bool { return s != name })); n != 1 {
			t.Errorf("%s is on the page %d times", name, n)
		}
		if _, err := os.Stat(name + "_test.go"); err != nil {
			t.Errorf("%s has no test: %v", name, err)
		}
	}
	if len(recipes) != len(programs) {
		t.Errorf("the page has %q, the programs are %q", recipes, programs)
	}
}

// heart is what stands between a program's markers.
func heart(t *testing.T, program string) string {
	t.Helper()
	source, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	_, after, begins := strings.Cut(string(source), "\n// begin page\n\n")
	text, _, ends := strings.Cut(after, "\n// end page\n")
	if !begins || !ends {
		t.Fatalf("%s has no markers", program)
	}
	return text
}
