package lockstate

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/acquire"
	"github.com/rlock-go/redisson/internal/extend"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/internal/section"
	"github.com/rlock-go/redisson/internal/state"
	"github.com/rlock-go/redisson/watchdog"
)

// The client's count of the replicas may be older than the replica that is promoted.
func TestUnlockIsRememberedHoweverManyAcknowledgedIt(t *testing.T) {
	t.Parallel()
	c, _ := slowReplicas(t)
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	h := mustAcquire(t, &l)
	if c.Exclusive(h.State.Owner) && h.Everywhere {
		t.Error("the replicas were counted for an owner that nobody else can act as")
	}
	for range 2 {
		mustUnlock(t, h)
		remembered := func() bool {
			defer l.Shard.Enter(section.MustNotBlock).Leave()
			for u := range l.Shard.Past.Each {
				if u.Owner == h.State.Owner {
					return true
				}
			}
			return false
		}
		if !remembered() {
			t.Error("it is not remembered")
		}
		_ = h.Owner().Share() // now others may act as the owner of the next hold
		if h = mustAcquire(t, &l); !h.Everywhere {
			t.Error("all acknowledged the acquire, and it is not everywhere")
		}
	}
	mustUnlock(t, h)
}

// If all replicas acknowledged the acquire, they have the hold for the lease that it set, unless an Extend followed.
func TestHoldIsEverywhereForTheLeaseOfItsAcquire(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := openReplaced(t, s)
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	for what, row := range map[string]struct {
		acknowledged, extended bool
		lease, want            time.Duration
	}{
		"unacknowledged": {false, false, 0, 0},
		"watched":        {true, false, 0, c.Watchdog},
		"fixed":          {true, false, time.Second, time.Second},
		"extended":       {true, true, time.Second, 0},
	} {
		t.Run(what, func(t *testing.T) {
			w := acquire.New(&l)
			w.Terms.Lease = row.lease
			if err := w.Start(); err != nil {
				t.Fatal(err)
			}
			h, err := w.Result(t.Context(), w.Await(t.Context()))
			if err != nil {
				t.Fatal(err)
			}
			defer mustUnlock(t, h)
			if row.acknowledged {
				acknowledged(h)
			}
			if row.extended {
				if err := extend.Hold(t.Context(), h, time.Minute); err != nil {
					t.Fatal(err)
				}
			}
			want := row.want
			if want > 0 {
				want = watchdog.Trust(h.Since, want)
			}
			if got := h.HeldEverywhere(); got != want {
				t.Errorf("until %v, want %v", got, want)
			}
		})
	}
}

// A renewal that all replicas acknowledged came after the acquire on each of them.
func TestHoldIsEverywhereForTheLeaseOfItsRenewal(t *testing.T) {
	redistest.Slow(t, "waits for renewals")
	t.Parallel()
	c, silence := slowReplicas(t, func(o *state.Config) { o.Watchdog = 5 * time.Second })
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	h := mustAcquire(t, &l)
	read := func() (renewed, until time.Duration) {
		defer l.Shard.Enter(section.MustNotBlock).Leave()
		h.Everywhere, h.State.Marked = false, true // as if a replica had not acknowledged the acquire
		return h.State.EnsureExtras().Everywhere, h.HeldEverywhere()
	}
	next := func(what string, state func() bool) { t.Helper(); redistest.Becomes(t, what, state) }
	next("renewed on all replicas", func() bool { renewed, _ := read(); return renewed > h.Since })
	if renewed, until := read(); until != watchdog.Trust(renewed, c.Watchdog) {
		t.Errorf("until %v after a renewal at %v", until, renewed)
	}
	silence()
	moved := func() {
		t.Helper()
		before := h.ValidUntil()
		next("renewed on one replica", func() bool { return h.Err() != nil || h.ValidUntil().After(before.Add(c.Watchdog/6)) })
		if err := h.Err(); err != nil {
			t.Fatal(err)
		}
	}
	moved() // a renewal may have been under way at the silence
	before, _ := read()
	moved()
	moved() // by now the renewal before it has ended
	if after, _ := read(); after != before {
		t.Errorf("a renewal that one of two replicas acknowledged counts as everywhere")
	}
}
