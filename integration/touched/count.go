package main

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// function is one of the library, by the file that it is in and its name there.
type function struct {
	file string // below the library's root
	line string
	name string
}

// count is in how many runs each function ran.
type count map[function]int

// add takes what `go tool covdata func` prints of one run: a line for each function, the last one a total.
func (c count) add(text string) error {
	any := false
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) != 3 {
			return fmt.Errorf("what is %q?", line)
		}
		place, inside := strings.CutPrefix(f[0], library+"/")
		if !inside || f[2] == "0.0%" || strings.HasPrefix(place, "integration/") {
			continue
		}
		file, number, _ := strings.Cut(strings.TrimSuffix(place, ":"), ":")
		c[function{file, number, f[1]}]++
		any = true
	}
	if !any {
		return fmt.Errorf("no function of the library ran: was %s built with coverage?", library)
	}
	return nil
}

// ran are those that most runs had, by file and line.
func (c count) ran() []function {
	all := slices.Collect(maps.Keys(c))
	all = slices.DeleteFunc(all, func(f function) bool { return 2*c[f] <= runs })
	slices.SortFunc(all, func(a, b function) int {
		return cmp.Or(cmp.Compare(path.Dir(a.file), path.Dir(b.file)), cmp.Compare(a.file, b.file),
			cmp.Compare(len(a.line), len(b.line)), cmp.Compare(a.line, b.line))
	})
	return all
}

// table tells how many functions and files of each package ran.
func (c count) table(verbose bool) string {
	var b strings.Builder
	all := c.ran()
	fmt.Fprintf(&b, "%-28s %9s %5s\n", "package", "functions", "files")
	line := func(name string, of []function) {
		files := map[string]bool{}
		for _, f := range of {
			files[f.file] = true
		}
		fmt.Fprintf(&b, "%-28s %9d %5d\n", name, len(of), len(files))
	}
	for rest := all; len(rest) > 0; {
		dir := path.Dir(rest[0].file)
		n := 0
		for n < len(rest) && path.Dir(rest[n].file) == dir {
			n++
		}
		line(dir, rest[:n])
		if verbose {
			for _, f := range rest[:n] {
				fmt.Fprintf(&b, "    %s:%s %s\n", f.file, f.line, f.name)
			}
		}
		rest = rest[n:]
	}
	line("all", all)
	return b.String()
}
