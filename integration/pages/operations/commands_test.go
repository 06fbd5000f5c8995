package operations_test

import (
	"flag"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

var write = flag.Bool("write", false, "put the outputs of this run into the pages")

func TestEveryCommandOnThePages(t *testing.T) {
	t.Parallel()
	sections := readPages(t)
	var mu sync.Mutex // guards found
	var found []change
	t.Run("sections", func(t *testing.T) {
		for name, s := range sections {
			scenario := scenarios[name]
			if len(s.steps)+len(s.logs) == 0 {
				if scenario != nil {
					t.Errorf("section %q has no commands", name)
				}
				continue
			}
			if scenario == nil {
				t.Errorf("section %q has commands and no scenario", name)
				continue
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				r := start(t)
				scenario(r)
				now := r.run(s)
				mu.Lock()
				defer mu.Unlock()
				found = append(found, now...)
			})
		}
		for name := range scenarios {
			if sections[name] == nil {
				t.Errorf("the pages have no section %q", name)
			}
		}
	})
	if *write {
		for _, file := range []string{operations, wire} {
			rewrite(t, file, found)
		}
	}
}

// change is the output that a page should have in the place of some lines.
type change struct {
	file       string
	first, old int // the number of the first line, and how many lines go
	output     []string
}

// run types a section's commands, compares their outputs with the page, and returns the differences.
func (r *rig) run(s *section) (found []change) {
	r.Helper()
	var page, here mask
	toPage := strings.NewReplacer(r.ids...)
	var back []string
	for i := 0; i < len(r.ids); i += 2 {
		back = append(back, r.ids[i+1], r.ids[i])
	}
	fromPage := strings.NewReplacer(back...)
	check := func(told step, got []string) {
		got = strings.Split(toPage.Replace(strings.Join(got, "\n")), "\n")
		want, is := page.lines(told.command, told.output), here.lines(told.command, got)
		if same(want, is) {
			return
		}
		found = append(found, change{s.file, told.first, len(told.output), got})
		if !*write {
			r.Errorf("%s, line %d, %q, Redis %s: got\n%s\nThe page has\n%s", s.file, told.first, told.command, r.version(), strings.Join(is, "\n"), strings.Join(want, "\n"))
		}
	}
	for _, told := range s.steps {
		got, ran := r.answers[told.command]
		if !ran {
			typed := fromPage.Replace(told.command)
			if instead, ok := r.typed[typed]; ok {
				typed = instead
			}
			if strings.HasPrefix(typed, "rlock ") {
				got = r.tool(typed)
			} else {
				got = r.cli(typed)
			}
		}
		check(told, got)
	}
	for _, told := range s.logs {
		check(told, r.lines)
	}
	if r.after != nil {
		r.after()
	}
	return found
}

// rewrite puts changes into a page, from its end on, so that line numbers stay true.
func rewrite(t *testing.T, file string, found []change) {
	t.Helper()
	found = slices.DeleteFunc(slices.Clone(found), func(c change) bool { return c.file != file })
	slices.SortFunc(found, func(a, b change) int { return b.first - a.first })
	lines := linesOf(t, file)
	for _, c := range found {
		lines = slices.Replace(lines, c.first, c.first+c.old, c.output...)
	}
	if err := os.WriteFile("../../../"+file, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}
