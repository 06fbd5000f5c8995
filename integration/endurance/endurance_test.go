package main

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rlock-go/redisson/integration/internal/codeedit"
	"github.com/rlock-go/redisson/integration/internal/typecheck"
)

func TestMain(m *testing.M) {
	runIfChild()
	goleak.VerifyTestMain(m)
}

// step is how long the step of `make test` plays rounds.
const step = 15 * time.Second

// TestEndurance plays rounds for 15 s, and looks for what they left, with a seed of its own, which it logs. ENDURANCE_SEED repeats a run's rounds.
func TestEndurance(t *testing.T) {
	c := campaign{duration: step, seed: rand.Uint64() >> 16, lanes: 6}
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

func TestMakefileAndPageSayHowLongTheStepRuns(t *testing.T) {
	for file, about := range map[string]string{"../../Makefile": ".PHONY: endurance", "../../docs/dev/faults.md": "The code is in `integration/endurance`"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		before, _, _ := strings.Cut(string(text), about)
		before = before[strings.LastIndex(before, "`make test`"):]
		if before, _, _ = strings.Cut(before, "."); !strings.Contains(before, " for "+strings.TrimSuffix(step.String(), "s")+" s") {
			t.Errorf("%s says %q, the step runs for %v", file, before, step)
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
	packages, err := typecheck.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range defects {
		texts, err := library.Apply(d.edits...)
		if err == nil {
			err = typecheck.Edited(packages, texts)
		}
		if err != nil {
			t.Errorf("%s: %v", d.what, err)
		}
	}
}
