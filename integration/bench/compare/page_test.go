package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/integration/kit/quantile"
	"github.com/rlock-go/redisson/integration/kit/runfile"
	"github.com/rlock-go/redisson/internal/testkit/leakcheck"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

// recorded returns the run from which the page was made.
func recorded(t *testing.T) *Report {
	t.Helper()
	r, err := runfile.Read[Report]("../../../docs/dev/compare/run.json")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestEveryCellCanBeNamed(t *testing.T) {
	for _, f := range faults() {
		for _, p := range parties() {
			wanted, err := cells(f.name + "/" + p.name)
			if err != nil || !wanted(&f, p) {
				t.Fatalf("%s/%s: %v", f.name, p.name, err)
			}
			n := 0
			for _, o := range parties() {
				if wanted(&f, o) {
					n++
				}
			}
			if n != 1 {
				t.Errorf("%s/%s names %d cells", f.name, p.name, n)
			}
		}
	}
	if _, err := cells("no such fault/rlock"); err == nil {
		t.Error("a cell that is not there was accepted")
	}
}

func TestEveryReasonIsWritten(t *testing.T) {
	for _, b := range recorded(t).better() {
		if b.why == unexplained {
			t.Errorf("%s/%s/%s: %s against %s is not explained", b.fault, b.party, b.metric, b.its, b.ours)
		}
	}
}

var linked = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)

// readmeRow is a row of README's table of libraries, by library.
func readmeRow(t *testing.T, first string) map[string]string {
	t.Helper()
	page, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "## Why not another library")
	var heads, cells []string
	for line := range strings.Lines(section) {
		line = linked.ReplaceAllString(strings.TrimSpace(line), "$1")
		columns := strings.Split(strings.Trim(line, "|"), "|")
		switch {
		case !strings.HasPrefix(line, "|"):
		case heads == nil:
			heads = columns
		case strings.TrimSpace(columns[0]) == first:
			cells = columns
		}
	}
	if len(cells) < 2 || len(cells) != len(heads) {
		t.Fatalf("README has no row %q", first)
	}
	row := map[string]string{}
	for i := range cells {
		row[strings.TrimPrefix(strings.TrimSpace(heads[i]), "bsm/")] = strings.TrimSpace(cells[i])
	}
	return row
}

// README's table must agree with the run.
func TestREADMEsTableIsOfTheRun(t *testing.T) {
	r := recorded(t)
	for party, says := range readmeRow(t, "when a holder learns that its key was deleted") {
		young, old := r.of("key deleted, lease of 30 s", party), r.of("key deleted later, lease of 30 s", party)
		if young == nil || young.Rounds == 0 {
			continue
		}
		m, _ := young.metric("holder told after")
		n, _ := old.metric("holder told after")
		ok := false
		switch told, later := quantile.Median(m.Values), quantile.Median(n.Values); {
		case says == "at once":
			ok = told < 100 && later < 100
		case strings.HasPrefix(says, "at once, or within two seconds "):
			ok = told < 2000 && later < 100
		case strings.HasPrefix(says, "when it "):
			ok = told > 20_000 && later > 20_000 // by its own clock, or never
		}
		if !ok {
			t.Errorf("README says of %s %q, the run %s and %s", party, says, m, n)
		}
	}
	for party, says := range readmeRow(t, "when an unlock's reply is lost") {
		c := r.of("reply to an unlock lost, connection cut", party)
		if c == nil || c.Rounds == 0 {
			continue
		}
		m, _ := c.metric("unlock got an error")
		if failed := says == "an error"; failed != (sum(m.Values) > 0) {
			t.Errorf("README says of %s %q, the run: an error in %s", party, says, m)
		}
	}
}
