package javamatrix

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/runfile"
	"github.com/rlock-go/redisson/integration/kit/testbed"
)

var render = flag.Bool("render", false, "have TestDocuments write "+details+" and the table of "+readme+" anew from "+recorded+", after a change of words")

// TestDocumentsAreWhatTheCodeWrites keeps the pages from being edited by hand and from falling behind the code.
func TestDocumentsAreWhatTheCodeWrites(t *testing.T) {
	r, err := runfile.Read[run](recorded)
	testbed.Must(t, err)
	pages, err := r.pages()
	testbed.Must(t, err)
	for file, want := range pages {
		if *render {
			testbed.Must(t, os.WriteFile(file, []byte(want), 0o644))
		}
		page, err := os.ReadFile(file)
		testbed.Must(t, err)
		if string(page) != want {
			t.Errorf("%s is not what its run renders to; run make test-matrix FLAGS=-write", file)
		}
	}
}

// TestDocumentCoversEveryPair wants the whole matrix on the page, each pair played in full and none of them red.
func TestDocumentCoversEveryPair(t *testing.T) {
	r, err := runfile.Read[run](recorded)
	testbed.Must(t, err)
	if r.red() {
		t.Error("the page is of a run that was red")
	}
	page := r.details()
	scenarios, behaviours := expected()
	for _, version := range javapeer.Recorded {
		for _, name := range redisserver.Packages {
			head := r.rowHead(&pair{Redisson: version, Server: name})
			n := strings.Count(page, "\n"+head)
			if slices.Contains(severalReleases, version) {
				n -= len(severalTopologies) // whose rows begin alike
			}
			for _, p := range r.all() {
				if p.Kind != "" && p.Redisson == version && p.Server == name {
					n-- // likewise
				}
			}
			if n != 1 {
				t.Errorf("the page has the row %q %d times", head, n)
			}
		}
	}
	if r.Several == nil {
		t.Fatal("the page lacks several servers")
	}
	for _, topology := range severalTopologies {
		for _, version := range severalReleases {
			for _, name := range redisserver.Packages {
				head := r.rowHead(&pair{Redisson: version, Server: name, Topology: topology})
				if n := strings.Count(page, "\n"+head); n != 1 {
					t.Errorf("the page has the row %q %d times", head, n)
				}
			}
		}
	}
	for _, p := range r.all() {
		if p.Kind != "" {
			continue // TestKindsOnThePageAreThoseThatWereRun
		}
		scenarios, behaviours := scenarios, behaviours
		if p.Topology != "" {
			what := onSeveral(p.Topology)
			scenarios, behaviours = len(what.scenarios), len(what.behaviours)
		}
		if p.Equal+p.Justified != scenarios || p.Passed < behaviours {
			t.Errorf("%s on %s: %d scenarios of %d, %d behaviours of %d", p.Redisson, p.Server,
				p.Equal+p.Justified, scenarios, p.Passed, behaviours)
		}
		if p.GoWakesJava <= 0 || p.JavaWakesGo <= 0 {
			t.Errorf("%s on %s: no wake-up was measured", p.Redisson, p.Server)
		}
	}
}
