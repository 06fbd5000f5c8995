package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func all(string) bool { return true }

func TestPeersThatAreNotBuiltInAreMissingWithTheReason(t *testing.T) {
	t.Setenv(missingVariable, `{"redislock":"gone"}`)
	missing, err := missingPeers(all)
	if err != nil {
		t.Fatal(err)
	}
	why := map[string]string{}
	for _, m := range missing {
		why[m.Peer] = m.Why
	}
	for _, p := range []string{redsyncP, bsmP, rueidisP} {
		if openers[p] == nil && why[p] == "" || openers[p] != nil && why[p] != "" {
			t.Errorf("%s: built in %v, missing %q", p, openers[p] != nil, why[p])
		}
	}
	if openers[bsmP] == nil && why[bsmP] != "gone" {
		t.Errorf("redislock is missing for %q", why[bsmP])
	}
	if why[ours] != "" || why[rawPeer] != "" {
		t.Errorf("%v: missing without needing anything", why)
	}
	if missing, err := missingPeers(func(peer string) bool { return peer == ours }); err != nil || len(missing) > 0 {
		t.Errorf("nobody else is wanted: %v, %v", missing, err)
	}
	t.Setenv(missingVariable, "nonsense")
	if _, err := missingPeers(all); err == nil {
		t.Error("nonsense was understood")
	}
}

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

func TestTableNamesWhoIsMissing(t *testing.T) {
	var out strings.Builder
	if err := printTable(&out, lacking()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"rueidislock  missing", "!! rueidislock is missing: its module | was not there"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
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
		{"held", "100000", false}, // too many for it anyway
	} {
		d := &document{r: lacking()}
		d.table(c.part, "", []column{{"time", c.at, "µs"}, {"more", c.at, "µs"}})
		if named := strings.Contains(d.String(), "| rueidislock | missing | missing |\n"); named != c.named {
			t.Errorf("%s at %s: named %v, want %v in\n%s", c.part, c.at, named, c.named, d)
		}
	}
}

// A lost version of a peer must not keep the benchmark and its tests from being built.
func TestNoRequirementIsOnlyAPeers(t *testing.T) {
	requires := func(file string) (paths map[string]string) {
		out, err := exec.Command("go", "mod", "edit", "-json", file).Output()
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		var m struct {
			Require []struct {
				Path, Version string
				Indirect      bool
			}
		}
		if err := json.Unmarshal(out, &m); err != nil {
			t.Fatal(err)
		}
		paths = map[string]string{}
		for _, r := range m.Require {
			paths[r.Path] = r.Version
		}
		return paths
	}
	own := requires("go.mod")
	// Those of rlock's own modules are measured too, and what these need must be had anyway.
	for _, module := range []string{"rlockotel", "rlockprom"} {
		for path := range requires(filepath.Join("..", "..", module, "go.mod")) {
			if path != "github.com/gomodule/redigo" && path != "github.com/google/uuid" && path != modulePath && path != "golang.org/x/sys" {
				delete(own, path)
			}
		}
		delete(own, modulePath+"/"+module)
	}
	if want := []string{"github.com/gomodule/redigo", "github.com/google/uuid", modulePath, modulePath + "/integration", "golang.org/x/sys"}; !slices.Equal(sortedKeys(own), want) {
		t.Errorf("go.mod requires %q, want %q", sortedKeys(own), want)
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
		// What the table says of the version is what is built.
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

func sortedKeys(m map[string]string) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
