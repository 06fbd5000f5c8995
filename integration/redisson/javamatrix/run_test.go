package javamatrix

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"
)

// run has everything that the pages show.
type run struct {
	Date    string
	Machine machine
	Took    time.Duration
	// Newest is the newest release at that time; NoNewest says why it is unknown.
	Newest, NoNewest string
	Unbuilt          []string `json:",omitempty"` // releases that the peer does not build against, and why
	Servers          []server
	Behaviours       []string // that each pair runs
	Pairs            []*pair
	Several          *section // results with several servers; nil if not asked for
	Kinds            *section `json:",omitempty"` // results of other lock objects, likewise
}

// section is a part of the run that can be repeated without the rest.
type section struct {
	Date    string
	Machine machine
	Took    time.Duration
	Servers []server
	Pairs   []*pair
}

// server is one of redisserver.Packages.
type server struct {
	Name    string
	Version string `json:",omitempty"` // as it reports
	Missing string `json:",omitempty"` // why it could not be had

	binary string // empty for own
}

// machine is where a run took place. Delays mean little without the load.
type machine struct {
	System, Go, Java         string
	Cores                    int
	LoadBefore, LoadAtTheEnd string
}

func describeMachine() machine {
	m := machine{System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(), Cores: runtime.NumCPU(), LoadBefore: load()}
	out, _ := exec.Command("java", "-version").CombinedOutput()
	// openjdk version "17.0.15" 2025-04-15
	if _, rest, ok := strings.Cut(string(out), `"`); ok {
		m.Java, _, _ = strings.Cut(rest, `"`)
	}
	return m
}

// load is the load average of a minute, empty where the system has none.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	one, _, _ := strings.Cut(string(text), " ")
	return one
}

// red reports whether anything failed.
func (r *run) red() bool {
	return len(r.Unbuilt) > 0 || slices.ContainsFunc(r.all(), (*pair).red)
}

// all are the pairs of one server, those of several, and those of other kinds.
func (r *run) all() []*pair {
	all := r.Pairs
	if r.Several != nil {
		all = slices.Concat(all, r.Several.Pairs)
	}
	if r.Kinds != nil {
		all = slices.Concat(all, r.Kinds.Pairs)
	}
	return all
}

const recorded = "testdata/run.json"
