package main

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rlock-go/redisson/integration/internal/codeedit"
)

func TestMain(m *testing.M) {
	runIfChild()
	goleak.VerifyTestMain(m)
}

// TestEndurance plays rounds for 15 s, and looks for what they left, with a seed of its own, which it logs. ENDURANCE_SEED repeats a run's rounds.
func TestEndurance(t *testing.T) {
	c := campaign{duration: 15 * time.Second, seed: rand.Uint64() >> 16, lanes: 6}
	if s := os.Getenv("ENDURANCE_SEED"); s != "" {
		seed, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatalf("ENDURANCE_SEED: %v", err)
		}
		c.seed = seed
	}
	t.Logf("ENDURANCE_SEED=%d", c.seed)
	var mu sync.Mutex
	c.tell = func(v violation) {
		mu.Lock()
		defer mu.Unlock()
		t.Error(v.text)
	}
	began := time.Now()
	tally, wrong := c.run()
	t.Log(tally.table(time.Since(began)))
	for _, w := range wrong {
		t.Error(w)
	}
	// A run in which hardly anything happened shows nothing.
	for what, least := range map[int]int64{nRounds: 15, nHolds: 100, nProbes: 500, nTrusted: 500, nCounted: 1} {
		if n := tally.rungs[what].Load(); n < least {
			t.Errorf("counter %d is %d, want %d at least", what, n, least)
		}
	}
}

// TestEveryDefectMeetsTheCode keeps the list from falling behind what it breaks. A defect that does not build would be
// found by everything.
func TestEveryDefectMeetsTheCode(t *testing.T) {
	root, err := codeedit.Root()
	if err != nil {
		t.Fatal(err)
	}
	library, err := codeedit.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range defects {
		t.Run(d.what, func(t *testing.T) {
			list, err := library.Overlay(t.TempDir(), d.edits...)
			if err != nil {
				t.Fatal(err)
			}
			build := exec.Command("go", "build", "-buildvcs=false", "-overlay", list, "./...")
			build.Dir = root
			if out, err := build.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}
