package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/integration/kit/runfile"
)

// Writing a run of the kinds leaves the published run of the rest alone.
func TestKindsAreWrittenToTheirOwnPage(t *testing.T) {
	docs := t.TempDir()
	old := map[string]string{"performance.md": "old page", "performance/run.json": "old run", "dev/tables/performance.md": "old tables"}
	for name, text := range old {
		path := filepath.Join(docs, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := &Report{}
	for p, slow := range map[string]float64{ours: 1, javaP: 4} {
		for _, round := range []float64{1, 1.1, 0.9} {
			r.add(kindsPart, p, atCallers("read", 1), "acquisitions/s", 100/slow*round)
			r.add(kindsPart, p, atCallers("read", permits), "acquisitions/s", 300*round)
			r.add(kindsPart, p, atCallers(permitsTitle, 1), "acquisitions/s", 100*round)
			r.add(kindsPart, p, atCallers(permitsTitle, permits), "acquisitions/s", 110*round)
		}
	}
	if err := writePages(r, docs); err != nil {
		t.Fatal(err)
	}
	for name, text := range old {
		if now, err := os.ReadFile(filepath.Join(docs, name)); err != nil || string(now) != text {
			t.Errorf("%s is %q, %v", name, now, err)
		}
	}
	page, err := os.ReadFile(filepath.Join(docs, "dev", "tables", "kinds.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"rlock 3.00 times as many acquisitions (a gain)", "Redisson (Java) 12.00 times", "rlock 1.10 times as many acquisitions (NO GAIN in every round)",
		"| read, 1 callers | acquisitions/s | 100 | 25.0 | 4.00 |",
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	again, err := runfile.Read[Report](filepath.Join(docs, "performance", "kinds.json"))
	if err != nil || len(again.Cells) != len(r.Cells) {
		t.Errorf("%d cells, %v", len(again.Cells), err)
	}
	r.Quick = true
	if err := r.publishable(); err == nil {
		t.Error("a quick run is written")
	}
	// A run of another part, but not of all, writes nothing.
	if err := writePages(&Report{Cells: []*Cell{{Part: "pairs", Peer: ours, At: "1", Metric: "µs", Rounds: []float64{1}}}}, t.TempDir()); err == nil {
		t.Error("half a run is written")
	}
}
