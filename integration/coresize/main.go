package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/rlock-go/redisson/integration/internal/typecheck"
	"github.com/rlock-go/redisson/internal/kind"
)

// rows are the kinds as size.sh has them, with the files of package rlock that are of none but them.
var rows = []struct {
	name  string
	files string
	kinds []kind.Kind
}{
	{"plain", "", []kind.Kind{kind.Reentrant}},
	{"spin", "spin.go", []kind.Kind{kind.Spin}},
	{"fair", "fair.go", []kind.Kind{kind.Fair(0)}},
	{"read-write", "readwrite.go", []kind.Kind{kind.ReadLock, kind.WriteLock}},
	{"fenced", "fenced.go", []kind.Kind{kind.Fenced}},
	{"non-reentrant", "nonreentrant.go", []kind.Kind{kind.NonReentrant}},
	{"permits", "permits.go object.go", []kind.Kind{kind.Permits(1)}},
	{"semaphore, latch", "semaphore.go countdown.go object.go", []kind.Kind{kind.Semaphore(1), kind.CountDownLatch}},
}

func main() {
	verbose := flag.Bool("v", false, "print the lines by function too")
	flag.Parse()
	if err := run(*verbose); err != nil {
		fmt.Fprintln(os.Stderr, "coresize:", err)
		os.Exit(1)
	}
}

func run(verbose bool) error {
	packages, err := typecheck.Load("..")
	if err != nil {
		return err
	}
	m, err := read(packages)
	if err != nil {
		return err
	}
	each, err := m.sizes()
	if err != nil {
		return err
	}
	all := lines{}
	for i, own := range each {
		maps.Copy(all, own)
		fmt.Printf("%s\t%d\n", rows[i].name, len(own))
		by := map[string]int{}
		for _, name := range own {
			by[name]++
		}
		for _, name := range slices.Sorted(maps.Keys(by)) {
			if verbose {
				fmt.Printf("    %4d %s\n", by[name], strings.ReplaceAll(name, library, ""))
			}
		}
	}
	fmt.Printf("all of them\t%d\n", len(all))
	return nil
}

// sizes are the lines of the core that each row has and the plain lock has not.
func (m *module) sizes() (each []lines, err error) {
	known := map[kind.Label]bool{}
	plain := m.reached(kind.Reentrant.Traits(), rows[0].files)
	for _, row := range rows {
		own := lines{}
		for _, k := range row.kinds {
			known[k.Traits().Label] = true
			maps.Copy(own, m.reached(k.Traits(), row.files))
		}
		maps.DeleteFunc(own, func(at place, _ string) bool { return plain[at] != "" })
		each = append(each, own)
	}
	if len(known) != int(kind.Labels) {
		return nil, fmt.Errorf("%d of %d kinds are in a row", len(known), kind.Labels)
	}
	return each, m.unread()
}
