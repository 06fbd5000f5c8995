package locks

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/kind"
)

// leaves is a kind that records the waiters that leave.
type leaves struct {
	kind.Kind
	scripts *[][]*kind.Want
}

func (k leaves) Leave(all ...*kind.Want) kind.Call {
	*k.scripts = append(*k.scripts, all)
	return k.Kind.Leave(all...)
}

// One script takes a limited number of leaving waiters: first those with the fewest waiters behind them.
func TestWhoCameLastLeavesFirst(t *testing.T) {
	t.Parallel()
	n := newName(t, "redis://localhost:1")
	var scripts [][]*kind.Want
	l := n.lock.Client.NewLock(leaves{kind.Fair(0), &scripts}, "q", "q")
	defer n.lock.shard.enter(mustNotBlock).leave()
	const crowd = mostLeave + 500
	came := map[kind.Owner]int{}
	for _, i := range rand.Perm(crowd) {
		o := n.lock.Client.actors.ofAcquire()
		came[o] = i
		n.lock.shard.leavers[n] = append(n.lock.shard.leavers[n], &leaver{&l, kind.Want{Names: &l.names, Owner: o}, time.Duration(i), func(uint64) {}})
	}
	n.sendLeavers()
	if rest := n.lock.shard.leavers[n]; len(scripts) != 1 || len(scripts[0]) != mostLeave || len(rest) != crowd-mostLeave {
		t.Fatalf("%d scripts, and %d wait", len(scripts), len(rest))
	}
	for _, w := range scripts[0] {
		if i := came[w.Owner]; i < crowd-mostLeave {
			t.Fatalf("%d of %d leaves with the last", i, crowd)
		}
	}
}

// Close waits for leaving waiters while the server answers, and no longer than its patience after the last answer.
func TestCloseWaitsWhileLeaversAreAnswered(t *testing.T) {
	const patience = time.Second
	type at []time.Duration // a time a leaver
	for what, test := range map[string]struct {
		answered, come at
		took           time.Duration
	}{
		"nobody is answered":                   {nil, nil, patience},
		"some are":                             {at{800 * time.Millisecond, 1600 * time.Millisecond}, nil, 2600 * time.Millisecond},
		"all are":                              {at{800 * time.Millisecond, 1600 * time.Millisecond, 2 * time.Second, 2 * time.Second, 2900 * time.Millisecond}, nil, 2900 * time.Millisecond},
		"nobody is answered, and some come":    {nil, at{500 * time.Millisecond, 900 * time.Millisecond}, patience},
		"one is answered as another one comes": {at{900 * time.Millisecond}, at{900 * time.Millisecond}, 1900 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := &Client{leaving: clock.NewGauge()}
			for range 5 {
				c.leaving.Add()
			}
			for _, when := range test.come {
				time.AfterFunc(when, c.leaving.Add)
			}
			for _, when := range test.answered {
				time.AfterFunc(when, c.leaverIsAnswered)
			}
			began := time.Now()
			until := c.awaitLeavers(patience)
			if took := time.Since(began); took != test.took || time.Until(until) < 0 {
				t.Errorf("%s: it took %v, and has %v left", what, took, time.Until(until))
			}
		})
	}
}
