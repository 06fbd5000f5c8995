package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rlock-go/redisson/integration/torture/internal/campaign"
	"github.com/rlock-go/redisson/integration/torture/internal/kind"
	"github.com/rlock-go/redisson/integration/torture/internal/schedule"
	"github.com/rlock-go/redisson/integration/torture/internal/worker"
)

func TestMain(m *testing.M) {
	worker.RunIfAsked()
	goleak.VerifyTestMain(m)
}

// TestTorture runs for some 20 s with a seed of its own, which it logs. TORTURE_SEED repeats a run's faults,
// TORTURE_DURATION makes it longer, and TORTURE_HTML names a file for the timeline.
func TestTorture(t *testing.T) {
	torture(t, campaign.Config{
		Sizes:    schedule.Sizes{Duration: 20 * time.Second, Locks: 5, Go: 3, Java: 1},
		Watchdog: 1500 * time.Millisecond, CommandTimeout: 200 * time.Millisecond,
	}, 100)
}

// TestTortureOfASet is TestTorture behind Sentinels or in a cluster, by chance or as TORTURE_TOPOLOGY says.
func TestTortureOfASet(t *testing.T) {
	c := campaign.Config{
		Sizes:    schedule.Sizes{Duration: 20 * time.Second, Locks: 5, Go: 3, Java: 1},
		Watchdog: 5 * time.Second, CommandTimeout: 500 * time.Millisecond,
	}
	c.Sizes.Topology = []string{schedule.Sentinel, schedule.Cluster}[rand.IntN(2)]
	if s := os.Getenv("TORTURE_TOPOLOGY"); s != "" {
		c.Sizes.Topology = s
	}
	t.Logf("TORTURE_TOPOLOGY=%s", c.Sizes.Topology)
	torture(t, c, 50) // its faults stop all clients at once, and failovers take seconds
}

// TestTortureOfAKind is TestTorture, in short, of another kind of lock, by chance or as TORTURE_KIND says.
func TestTortureOfAKind(t *testing.T) {
	name := kind.All[1+rand.IntN(len(kind.All)-1)].Name
	if s := os.Getenv("TORTURE_KIND"); s != "" {
		name = s
	}
	k, found := kind.Named(name)
	if !found {
		t.Fatalf("TORTURE_KIND is not one of %s", kind.Names())
	}
	t.Logf("TORTURE_KIND=%s", name)
	r := torture(t, campaign.Config{
		Kind:     k,
		Sizes:    schedule.Sizes{Duration: 9 * time.Second, Locks: 5, Go: 3, Java: 1},
		Watchdog: 1500 * time.Millisecond, CommandTimeout: 200 * time.Millisecond,
	}, 50)
	met := 0
	for _, n := range r.Judged {
		met += n
	}
	if met < 20 && name != kind.All[0].Name {
		t.Errorf("what only this kind promises was judged %v times", r.Judged)
	}
}

func torture(t *testing.T, c campaign.Config, least int) *campaign.Result {
	if c.Kind.Name == "" {
		c.Kind = kind.All[0]
	}
	c.Seed, c.Workers = rand.Uint64()>>12, 4
	c.HTML, c.Logf = filepath.Join(t.TempDir(), "torture.html"), t.Logf
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
	if s := os.Getenv("TORTURE_HTML"); s != "" {
		c.HTML = s
	}
	t.Logf("TORTURE_SEED=%d TORTURE_DURATION=%v", c.Seed, c.Sizes.Duration)
	r := campaign.Run(t, c)
	t.Log(r.Summary())
	if r.Failed() {
		t.Fail()
	}
	// A run in which hardly anything happened shows nothing.
	if r.Windows < least || len(r.Faults) < 5 || len(r.Calm) == 0 {
		t.Errorf("%d windows, %d kinds of faults, wake-ups %v", r.Windows, len(r.Faults), r.Calm)
	}
	return r
}
