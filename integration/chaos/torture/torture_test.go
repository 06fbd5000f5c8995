package main

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rlock-go/redisson/integration/chaos/internal/kind"
	"github.com/rlock-go/redisson/integration/chaos/internal/schedule"
	"github.com/rlock-go/redisson/integration/chaos/internal/stage"
	"github.com/rlock-go/redisson/integration/chaos/internal/worker"
)

func TestMain(m *testing.M) {
	worker.RunIfAsked()
	goleak.VerifyTestMain(m)
}

// TestTorture runs for some 20 s with a random seed, which it logs. TORTURE_SEED repeats a run's faults,
// TORTURE_DURATION makes it longer.
func TestTorture(t *testing.T) { torture(t, configured(kind.All[0], "", 20*time.Second), 100) }

// TestTortureOfASet is TestTorture behind Sentinels or in a cluster: at random, unless TORTURE_TOPOLOGY chooses.
func TestTortureOfASet(t *testing.T) {
	topology := chosen(t, "TORTURE_TOPOLOGY", schedule.Sentinel, schedule.Cluster)
	torture(t, configured(kind.All[0], topology, 20*time.Second), 50) // its faults stop all clients at once, and failovers take seconds
}

// TestTortureOfSharedOwners is TestTorture with owners that several processes act as.
func TestTortureOfSharedOwners(t *testing.T) {
	shared, _ := kind.Named("shared")
	r := torture(t, configured(shared, "", 15*time.Second), 100)
	for what, least := range map[string]int{"looks at the server": 500, "valid holds held against a look": 500, "counts of owners held against what was granted and released": 500} {
		if n := r.Looked[what]; n < least {
			t.Errorf("%s: %d, want %d at least", what, n, least)
		}
	}
}

// TestTortureOfAKind is a shorter TestTorture of another kind of lock: at random, unless TORTURE_KIND chooses.
func TestTortureOfAKind(t *testing.T) {
	k, found := kind.Named(chosen(t, "TORTURE_KIND", strings.Split(kind.Names(), ", ")[2:]...))
	if !found {
		t.Fatalf("TORTURE_KIND is not one of %s", kind.Names())
	}
	r := torture(t, configured(k, "", 9*time.Second), 50)
	met := 0
	for _, n := range r.Judged {
		met += n
	}
	if met < 20 {
		t.Errorf("what only this kind promises was judged %v times", r.Judged)
	}
}

// chosen returns the variable's value, or one of from at random.
func chosen(t *testing.T, variable string, from ...string) string {
	s := os.Getenv(variable)
	if s == "" {
		s = from[rand.IntN(len(from))]
	}
	t.Logf("%s=%s", variable, s)
	return s
}

func torture(t *testing.T, c stage.Config, least int) *result {
	c.Seed = rand.Uint64() >> 12
	c.Logf = t.Logf
	var err error
	if s := os.Getenv("TORTURE_SEED"); s != "" {
		if c.Seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatalf("TORTURE_SEED: %v", err)
		}
	}
	if s := os.Getenv("TORTURE_DURATION"); s != "" {
		if c.Sizes.Duration, err = time.ParseDuration(s); err != nil {
			t.Fatalf("TORTURE_DURATION: %v", err)
		}
	}
	t.Logf("TORTURE_SEED=%d TORTURE_DURATION=%v", c.Seed, c.Sizes.Duration)
	r := campaign(t, c)
	t.Log(r.summary())
	if r.failed() {
		t.Fail()
	}
	// A run in which hardly anything happened shows nothing.
	if r.Windows < least || len(r.Faults) < 5 || len(r.Calm) == 0 {
		t.Errorf("%d windows, %d kinds of faults, wake-ups %v", r.Windows, len(r.Faults), r.Calm)
	}
	return r
}
