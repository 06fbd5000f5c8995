package pipeline

import (
	"testing"
	"time"
)

// waits chooses as many times as given, where each way takes as long as is said, and
// gives the share of the commands that went each way.
func waits(commands int, took func(w way, i int) time.Duration) (share [ways]float64) {
	var c loneChoice
	for i := range commands {
		share[c.way] += 1 / float64(commands)
		c.took(took(c.way, i))
	}
	return share
}

func TestALoneCallerGoesTheQuickestWay(t *testing.T) {
	t.Parallel()
	const µs = time.Microsecond
	for _, c := range []struct {
		what string
		took [ways]time.Duration
		way  way
	}{
		{"the caller polls", [ways]time.Duration{140 * µs, 90 * µs, 130 * µs, 70 * µs}, callerPolls},
		{"the caller sleeps", [ways]time.Duration{90 * µs, 150 * µs, 70 * µs, 120 * µs}, callerSleeps},
		{"the reader polls", [ways]time.Duration{140 * µs, 70 * µs, 130 * µs, 90 * µs}, readerPolls},
		{"the reader sleeps", [ways]time.Duration{60 * µs, 70 * µs, 70 * µs, 90 * µs}, readerSleeps},
		{"polling is a little quicker", [ways]time.Duration{80 * µs, 60 * µs, 60 * µs, 58 * µs}, callerSleeps},
	} {
		share := waits(10*loneTrialEvery, func(w way, i int) time.Duration {
			if i%100 == 50 {
				return c.took[w] + 200*µs // something else has the core
			}
			return c.took[w]
		})
		if share[c.way] < 0.96 {
			t.Errorf("%s: the shares of the ways are %.3f", c.what, share)
		}
		for w := range ways {
			if share[w] < 0.005 {
				t.Errorf("%s: way %d is never tried", c.what, w)
			}
		}
	}
}

// TestACallerSleepsOnABusyMachine: commands wait for the processor time and again, and
// polling is the quickest way otherwise.
func TestACallerSleepsOnABusyMachine(t *testing.T) {
	t.Parallel()
	took := [ways]time.Duration{140 * time.Microsecond, 90 * time.Microsecond, 130 * time.Microsecond, 70 * time.Microsecond}
	const all = 10 * loneTrialEvery
	for _, c := range []struct {
		what      string
		every     int // of how many commands one waits
		disturbed func(i int) bool
		way       way
	}{
		{"always", 100, func(int) bool { return true }, callerSleeps},
		{"from now on", 100, func(i int) bool { return i > loneWindow }, callerSleeps},
		{"until now", 100, func(i int) bool { return i < loneTrialEvery/2 }, callerPolls},
		{"now and then", 1000, func(int) bool { return true }, callerPolls},
	} {
		share := waits(all, func(w way, i int) time.Duration {
			if i%c.every == 50 && c.disturbed(i) {
				return loneGap
			}
			return took[w]
		})
		if share[c.way] < 0.8 {
			t.Errorf("%s: the shares of the ways are %.3f", c.what, share)
		}
	}
}
