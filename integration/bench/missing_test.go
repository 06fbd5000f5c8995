package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/integration/bench/peers"
)

// lacking is a report of a run in which rueidislock was missing.
func lacking() *Report {
	r := &Report{Missing: []Missing{{rueidisP, "its module | was not there"}}}
	for _, p := range []string{ours, rawPeer} {
		r.add("pairs", p, "1", "µs", 1)
		r.add("held", p, "1000", "µs", 1)
		r.add("held", p, "100000", "µs", 1)
	}
	return r
}

func TestDocumentNamesWhoIsMissing(t *testing.T) {
	d := &document{r: lacking()}
	d.detailsHead()
	if want := `| rueidislock | missing: its module \| was not there |`; !strings.Contains(d.String(), want) {
		t.Errorf("no %q in\n%s", want, d)
	}
	for _, c := range []struct {
		part, at string
		named    bool
	}{
		{"pairs", "1", true},
		{"held", "1000", true},
		{"held", "100000", false}, // more holds than it is measured with
	} {
		d := &document{r: lacking()}
		d.table(c.part, "", []column{{"time", c.at, "µs"}, {"more", c.at, "µs"}})
		if named := strings.Contains(d.String(), "| rueidislock | missing | missing |\n"); named != c.named {
			t.Errorf("%s at %s: named %v, want %v in\n%s", c.part, c.at, named, c.named, d)
		}
	}
}

// If a version of a peer disappears, the benchmark and its tests must still build.
func TestNoRequirementIsOnlyAPeers(t *testing.T) {
	requires := func(file string) map[string]string {
		paths, err := peers.Requires(file)
		if err != nil {
			t.Fatal(err)
		}
		return paths
	}
	own := requires("go.mod")
	// rlock's modules for metrics are measured too, so what they need is required anyway.
	for _, module := range []string{"rlockotel", "rlockprom"} {
		for path := range requires(filepath.Join("..", "..", module, "go.mod")) {
			if path != "github.com/gomodule/redigo" && path != "github.com/google/uuid" && path != modulePath && path != "golang.org/x/sys" {
				delete(own, path)
			}
		}
		delete(own, modulePath+"/"+module)
	}
	if want := []string{"github.com/gomodule/redigo", "github.com/google/uuid", modulePath, modulePath + "/integration", "golang.org/x/sys"}; !slices.Equal(slices.Sorted(maps.Keys(own)), want) {
		t.Errorf("go.mod requires %v, want %q", own, want)
	}
	for _, p := range goPeers() {
		if p.name == ours || p.name == rawPeer {
			continue
		}
		source := filepath.Join("peer_" + p.name + ".go")
		text, err := os.ReadFile(source)
		if err != nil || !strings.HasPrefix(string(text), "//go:build "+p.name+"\n") {
			t.Errorf("%s is not behind the tag %s: %v", source, p.name, err)
		}
		// The version in the table's note is the one that is built.
		for path, version := range requires(filepath.Join("peers", p.name+".mod")) {
			if own[path] == version {
				continue
			}
			if strings.Contains(string(text), `"`+path) && !strings.Contains(p.note, version) {
				t.Errorf("%s is built with %s %s, and its note does not say so: %q", p.name, path, version, p.note)
			}
		}
	}
}

const modulePath = "github.com/rlock-go/redisson"
