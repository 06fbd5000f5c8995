package sentinels_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/gate"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

// gated is a set with each node behind a gate, which can lose what clients send. Servers and Sentinels pass unread.
type gated struct {
	*redistest.SentinelSet
	gates map[*redistest.Server]*gate.Gate
}

func startGated(t *testing.T) *gated {
	network := gate.New(t)
	var gates [3]*gate.Gate
	var nodes, sentinels [3]redistest.Front
	for i := range gates {
		gates[i] = network.Gate(nil)
		nodes[i], sentinels[i] = gates[i].Front(), gate.WatcherFront(i)
	}
	s := &gated{
		redistest.StartSentinelsFronted(t, redistest.SentinelPasswords{}, nodes, sentinels),
		map[*redistest.Server]*gate.Gate{},
	}
	for i, n := range s.Nodes {
		s.gates[n] = gates[i]
	}
	return s
}

// owners returns the owners of a lock on a server.
func (s *gated) owners(t *testing.T, n *redistest.Server, name string) []string {
	t.Helper()
	c := n.Dial(t) // a Sentinel that makes another master ends the connections of clients
	defer c.Close()
	list, err := redis.Strings(c.Do("HKEYS", name))
	testbed.Must(t, err)
	return list
}

// rivals are callers of two clients that want the same locks, and the holds that they believed to have.
type rivals struct {
	*testing.T
	names   []string
	inside  []atomic.Pointer[rlock.Hold] // by name: the latest hold
	entered atomic.Int32
	all     sync.WaitGroup
}

// want has a caller of c acquire one of the locks, and stay inside until others had time to enter, too.
func (r *rivals) want(ctx context.Context, c *rlock.Client, i int) {
	r.all.Go(func() {
		h, err := c.NewLock(r.names[i]).Lock(ctx)
		if err != nil {
			r.Errorf("%s: %v", r.names[i], err)
			return
		}
		if other := r.inside[i].Swap(h); other != nil && other.Err() == nil && h.Err() == nil {
			r.Errorf("%s: %s entered beside %s", r.names[i], h.Owner(), other.Owner())
		}
		r.entered.Add(1)
		select {
		case <-h.Done():
			r.Errorf("%s: %v", r.names[i], h.Err())
		case <-time.After(50 * time.Millisecond):
		}
		if err := h.Unlock(ctx); err != nil {
			r.Errorf("%s: %v", r.names[i], err)
		}
	})
}

// TestAcquiresThatAreLostWithADemotedMasterHoldNothing demotes a live master while acquires, or the replies to them, are on
// their way. The next master has the holds of those that ran, whose callers do not know of them.
func TestAcquiresThatAreLostWithADemotedMasterHoldNothing(t *testing.T) {
	t.Parallel()
	for what, lost := range map[string]struct {
		do  faultproxy.Action
		ran bool
	}{
		"their replies":  {faultproxy.HoldReply, true},
		"their commands": {faultproxy.Withhold, false},
	} {
		t.Run(what, func(t *testing.T) { loseAcquires(t, lost.do, lost.ran) })
	}
}

func loseAcquires(t *testing.T, do faultproxy.Action, ran bool) {
	set := startGated(t)
	former := set.Master()
	// Neither a lease nor a timeout mends anything here.
	opts := []rlock.Option{rlock.WithWatchdogTimeout(long), rlock.WithCommandTimeout(farOff)}
	clients := []*rlock.Client{testbed.Open(t, set.URL(), opts...), testbed.Open(t, set.URL(), opts...)}
	kept := lock(t, clients[0].NewLock("kept"))
	for _, n := range set.Nodes {
		testbed.BecomesWithin(t, farOff, "on each node", func() bool { return holds(t, n, kept) })
	}
	rule := set.gates[former].Clients.Add(faultproxy.Rule{Match: faultproxy.Script(luasrc.LockScript.SHA1), Do: do})
	r := &rivals{T: t, inside: make([]atomic.Pointer[rlock.Hold], 8)}
	for i := range r.inside {
		r.names = append(r.names, fmt.Sprint("lost", i))
	}
	ctx, cancel := context.WithTimeout(t.Context(), farOff)
	defer cancel()
	orphans := map[string]string{}
	for i, c := range clients { // each client wants one lock first, then the other's and all the rest
		r.want(ctx, c, i)
		testbed.BecomesWithin(t, farOff, "the acquire is on its way", func() bool { return rule.Hits() == i+1 })
		for _, n := range set.Nodes {
			testbed.BecomesWithin(t, farOff, "it ran and was replicated", func() bool { return !ran || len(set.owners(t, n, r.names[i])) == 1 })
		}
		if ran {
			orphans[r.names[i]] = set.owners(t, former, r.names[i])[0]
		}
	}
	for i := range r.names {
		for j, c := range clients {
			if i != j {
				r.want(ctx, c, i)
			}
		}
	}
	if n := r.entered.Load(); n != 0 {
		t.Fatalf("%d entered though nothing was answered", n)
	}
	before := kept.ValidUntil()
	set.Failover(set.Sentinels[0])
	next := set.AwaitMaster(former)
	r.all.Wait()
	if n := int(r.entered.Load()); n != len(clients)*len(r.names) {
		t.Errorf("%d of %d entered", n, len(clients)*len(r.names))
	}
	for _, name := range r.names {
		if left := set.owners(t, next, name); len(left) > 0 {
			t.Errorf("%s: %v are left, the lost acquire's was %q", name, left, orphans[name])
		}
	}
	untilRenewed(t, kept, before)
	if kept.Err() != nil || !holds(t, next, kept) {
		t.Errorf("the one that was held: %v", kept.Err())
	}
	if _, err := clients[1].NewLock("kept").TryLock(ctx); !errors.Is(err, rlock.ErrLocked) {
		t.Errorf("somebody else, of the one that was held: %v", err)
	}
	// What comes late reaches the former master, and changes nothing at the next.
	rule.Remove()
	rule.Release()
	for _, name := range r.names {
		if left := set.owners(t, next, name); len(left) > 0 {
			t.Errorf("%s: %v are there later", name, left)
		}
	}
	if err := kept.Unlock(ctx); err != nil {
		t.Error(err)
	}
}
