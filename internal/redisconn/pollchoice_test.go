package redisconn

import (
	"testing"
	"time"
)

// choose tells how many of so many reads are polled for, where they take as long as is said.
func choose(reads int, polled, slept func(i int) time.Duration) (asked int) {
	var c pollChoice
	for i := range reads {
		if c.decided > 0 {
			if c.decided--; c.pays {
				asked++
			}
			continue
		}
		if c.poll() {
			asked++
			c.took(polled(i))
		} else {
			c.took(slept(i))
		}
	}
	return asked
}

func always(d time.Duration) func(int) time.Duration { return func(int) time.Duration { return d } }

func TestTheQuickerWayToWaitIsTaken(t *testing.T) {
	const reads = 10 * trialEvery
	// A hundredth of the reads meets a machine that stands still.
	still := func(d time.Duration) func(int) time.Duration {
		return func(i int) time.Duration {
			if i%100 == 50 {
				return time.Second
			}
			return d
		}
	}
	for _, c := range []struct {
		what          string
		polled, slept func(int) time.Duration
		pays          bool
	}{
		{"polling is quicker", always(15 * time.Microsecond), always(25 * time.Microsecond), true},
		{"polling is a little quicker", always(24 * time.Microsecond), always(25 * time.Microsecond), false},
		{"sleeping is quicker", always(30 * time.Microsecond), always(20 * time.Microsecond), false},
		{"the server is far", always(1100 * time.Microsecond), always(1000 * time.Microsecond), false},
		{"the machine stands still at times", still(300 * time.Microsecond), still(500 * time.Microsecond), true},
	} {
		want := reads / 64
		if c.pays {
			want = reads - want
		}
		if asked := choose(reads, c.polled, c.slept); asked != want {
			t.Errorf("%s: %d of %d replies were polled for, not %d", c.what, asked, reads, want)
		}
	}
}

func TestTheWayToWaitFollowsTheMachine(t *testing.T) {
	const half = 4 * trialEvery
	asked := choose(2*half, always(15*time.Microsecond), func(i int) time.Duration {
		if i < half {
			return 25 * time.Microsecond
		}
		return 10 * time.Microsecond
	})
	if want := half; asked != want {
		t.Errorf("%d of %d replies were polled for, not %d", asked, 2*half, want)
	}
}
