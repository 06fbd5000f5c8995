package main

import (
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestCourtesy is a short form of three rows. Its bounds are far from the rows' usual results, and would be missed if
// courtesy did nothing, or did too much. Holds of 10 ms show Java's share best: almost none without courtesy.
func TestCourtesy(t *testing.T) {
	s := newStage(t, build(t), 2*time.Second)
	long, brief := plan{4, settling + 1500*time.Millisecond}, plan{2, settling + 500*time.Millisecond}

	withJava := long.row(s, named(t, "2go1java-10ms"))
	if share := withJava.on.sideShare(javaSide); share < 0.09 {
		t.Errorf("Java got %.1f%% beside two courteous processes", 100*share)
	}
	if held := withJava.on.rate() * withJava.hold.Seconds(); held < 0.5 {
		t.Errorf("the lock was held for %.0f%% of the time", 100*held)
	}

	twoGo := brief.row(s, named(t, "2go"))
	if total := rateRatio(twoGo.on, twoGo.off); total < 0.7 {
		t.Errorf("courtesy among Go processes left %.2f of all acquisitions", total)
	}

	brief.rounds = 1
	oneGo := brief.row(s, named(t, "1go"))
	if with, without := oneGo.on.commandsEach(), oneGo.off.commandsEach(); with > 1.03*without {
		t.Errorf("one process alone sends %.3f commands for each acquisition with courtesy, %.3f without", with, without)
	}
	t.Log(report{rows: []rowResult{withJava, twoGo, oneGo}, plan: long}.markdown())
}

// build builds the Go processes' binary without the race detector, which would make Go as slow as Java.
func build(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "javacourtesy")
	if text, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return path
}

func named(t *testing.T, name string) row {
	t.Helper()
	chosen, err := chooseRows(name)
	if err != nil {
		t.Fatal(err)
	}
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
	all := []process{{side: goSide}, {side: javaSide}}
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
