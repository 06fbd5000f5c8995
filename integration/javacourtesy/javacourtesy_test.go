package main

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rlock-go/redisson/integration/javapeer"
)

func TestMain(m *testing.M) {
	obeyIfChild()
	goleak.VerifyTestMain(m)
}

// TestCourtesy is a short form of three rows. Its bounds are far from what the rows come to, and would be missed if
// courtesy did nothing, or everything. Holds of 10 ms tell Java's share most clearly: hardly any without courtesy.
func TestCourtesy(t *testing.T) {
	s := newStage(t)
	s.binary, s.warming = build(t), 2*time.Second
	p := plan{rounds: 4, slice: settling + 1500*time.Millisecond, on: true}
	brief := plan{rounds: 2, slice: settling + 500*time.Millisecond, off: true, on: true}

	withJava := p.row(s, named(t, "2go1java-10ms"))
	t.Log(withJava.text())
	if share := withJava.on.sideShare(javaSide); share < 0.09 {
		t.Errorf("Java got %.1f%% beside two courteous processes", 100*share)
	}
	if held := withJava.on.rate() * withJava.cast.hold.Seconds(); held < 0.5 {
		t.Errorf("the lock was held for %.0f%% of the time", 100*held)
	}

	twoGo := brief.row(s, named(t, "2go"))
	t.Log(twoGo.text())
	if total := rateRatio(twoGo.on, twoGo.off); total < 0.7 {
		t.Errorf("courtesy among Go processes left %.2f of all acquisitions", total)
	}

	brief.rounds = 1
	oneGo := brief.row(s, named(t, "1go"))
	t.Log(oneGo.text())
	if with, without := oneGo.on.commandsEach(), oneGo.off.commandsEach(); with > 1.03*without {
		t.Errorf("one process alone sends %.3f commands for each acquisition with courtesy, %.3f without", with, without)
	}
}

// build makes the Go processes' binary. Under the race detector, with which tests run, Go would be no quicker than Java.
func build(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "javacourtesy")
	if text, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return path
}

// named is a row without what Go has alone.
func named(t *testing.T, name string) row {
	t.Helper()
	chosen, err := chooseRows(name)
	if err != nil {
		t.Fatal(err)
	}
	chosen[0].alone = nil
	return chosen[0]
}

func TestTwoAtOnceAreFound(t *testing.T) {
	apart := []javapeer.Turn{{Asked: 5, Granted: 20, Releasing: 30}, {Asked: 0, Granted: 10, Releasing: 20}}
	if err := overlap(slices.Clone(apart)); err != nil {
		t.Error(err)
	}
	if err := overlap(append(apart, javapeer.Turn{Asked: 0, Granted: 29, Releasing: 40})); err == nil {
		t.Error("a grant before the release of the one before was not found")
	}
}

func TestSliceCountsWhatWasGrantedInIt(t *testing.T) {
	all := []process{&child{}, jvm{}}
	turns := [][]javapeer.Turn{
		{{Asked: 0, Granted: 9, Releasing: 10}, {Asked: 5, Granted: 12, Releasing: 15}},
		{{Asked: 2, Granted: 18, Releasing: 19}, {Asked: 16, Granted: 25, Releasing: 26}},
	}
	s, err := judge(all, turns, 10, 20)
	if err != nil {
		t.Fatal(err)
	}
	if s.turns != 4 || s.count() != 2 || s.took != 10 {
		t.Errorf("%+v", s)
	}
	for i, want := range []performance{{goSide, 1, []time.Duration{7}}, {javaSide, 1, []time.Duration{16, 4}}} {
		if got := s.processes[i]; got.side != want.side || got.count != want.count || !slices.Equal(got.waits, want.waits) {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

func TestTablesHaveEveryRow(t *testing.T) {
	var r report
	r.plan = plan{rounds: 1, slice: time.Second}
	for _, w := range rows() {
		var s slice
		for i := range w.cast.goes + w.cast.java {
			p := performance{side: goSide, count: int64(i + 1), waits: []time.Duration{time.Millisecond}}
			if i >= w.cast.goes {
				p.side = javaSide
			}
			s.processes = append(s.processes, p)
		}
		s.took, s.turns = time.Second, s.count()
		x := &result{cast: w.cast, slices: []slice{s}}
		r.rows = append(r.rows, &rowResult{row: w, off: x, on: x})
	}
	text := r.markdown()
	for _, w := range rows() {
		if got := strings.Count(text, "| "+holdText(w.cast.hold)+" | "+w.cast.String()+" |"); got != 2 {
			t.Errorf("%s is in %d tables:\n%s", w.name, got, text)
		}
	}
	if !strings.Contains(text, "Go 16.7 + 33.3, Java 50.0 |") {
		t.Errorf("the shares are missing:\n%s", text)
	}
}

func TestTablesGoIntoTheDocument(t *testing.T) {
	before, tables, after, err := cut("first\n" + begins + "old\n" + ends + "last\n")
	if err != nil || before != "first\n"+begins || tables != "old\n" || after != ends+"last\n" {
		t.Errorf("%q, %q, %q, %v", before, tables, after, err)
	}
	if _, _, _, err := cut("first\n" + begins); err == nil {
		t.Error("no end, and no error")
	}
	if _, err := excerpt("| 1 ms | 2 Go | 1 | 2 |\n"); err == nil {
		t.Error("no row to be shown, and no error")
	}
}
