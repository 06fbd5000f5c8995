package timing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/rlock"
)

func TestFairLockGoesToWhoeverWaitsLongest(t *testing.T) {
	play(t, func(t *testing.T, s *server) {
		a, b := open(t, s), open(t, s)
		for name, clients := range map[string][]*rlock.Client{"one client": {a}, "two clients": {a, b}} {
			q := fairQueue{t, s.Dial(t), name}
			var locks []*rlock.Lock
			for _, c := range clients {
				locks = append(locks, c.NewFairLock(name))
			}
			h := lockOf(t, locks[0])
			ended := make(chan result, 12)
			for i := range 12 {
				// Some wait with a limit: that makes no difference to the order.
				opts := [][]rlock.AcquireOption{nil, {rlock.Wait(time.Hour)}, {rlock.Lease(time.Minute)}}[i%3]
				fairWaits(t.Context(), q, locks[i%len(locks)], i+1, i, ended, opts...)
			}
			began := time.Now()
			for i := range 12 {
				mustUnlock(t, h)
				r := nextOf(t, ended)
				if r.who != i {
					t.Fatalf("%s: %d entered in the place of %d", name, r.who, i)
				}
				h = r.h
			}
			mustUnlock(t, h)
			if took := time.Since(began); took > soon {
				t.Errorf("%s: 12 hand-offs took %v", name, took)
			}
			q.gone()
		}
	})
}

func TestFairLockIsNotTakenFromWhoeverWaits(t *testing.T) {
	play(t, func(t *testing.T, s *server) {
		c := open(t, s)
		l := c.NewFairLock("orders")
		q := fairQueue{t, s.Dial(t), "orders"}
		q.stranger(time.Hour)
		if _, err := l.TryLock(t.Context()); !errors.Is(err, rlock.ErrLocked) {
			t.Errorf("another's turn: %v", err)
		}
		if _, err := l.TryLockFor(t.Context(), time.Second); !errors.Is(err, rlock.ErrLocked) {
			t.Errorf("another's turn, with a wait: %v", err)
		}
		q.long(1)
	})
}

func TestFairWaiterThatGivesUpLeavesAtOnce(t *testing.T) {
	play(t, func(t *testing.T, s *server) {
		a, b := open(t, s), open(t, s)
		q := fairQueue{t, s.Dial(t), "orders"}
		h := lockOf(t, a.NewFairLock("orders"), rlock.Lease(time.Minute))
		gaveUp := make(chan result, 3)
		cancelled, cancel := context.WithCancel(t.Context())
		fairWaits(cancelled, q, a.NewFairLock("orders"), 1, 0, gaveUp)
		fairWaits(t.Context(), q, b.NewFairLock("orders"), 2, 1, gaveUp)
		timed := make(chan result, 1)
		fairWaits(t.Context(), q, a.NewFairLock("orders"), 3, 2, timed, rlock.Wait(time.Second))
		entered := make(chan result, 1)
		fairWaits(t.Context(), q, a.NewFairLock("orders"), 4, 3, entered, rlock.Wait(time.Hour))
		last := q.owners()[3]
		before := q.keeps(last)
		// The sum of the lease, the waits before it, and its own wait.
		if want := time.Minute + 2*5*time.Minute + time.Second + time.Hour; before > want || before < want-10*time.Second {
			t.Errorf("the last keeps its place for %v, want %v", before, want)
		}
		shorter := func(d time.Duration) {
			t.Helper()
			now := q.keeps(last)
			if less := before - now; less < d || less > d+10*time.Second {
				t.Errorf("the place is kept for %v less, want %v", less, d)
			}
			before = now
		}
		cancel()
		if r := <-gaveUp; !errors.Is(r.err, context.Canceled) {
			t.Errorf("cancelled: %v", r.err)
		}
		q.long(3)
		shorter(5 * time.Minute)
		if r := <-timed; !errors.Is(r.err, rlock.ErrLocked) {
			t.Errorf("its time is over: %v", r.err)
		}
		q.long(2)
		shorter(time.Second)
		b.Close()
		if r := <-gaveUp; !errors.Is(r.err, rlock.ErrClosed) {
			t.Errorf("closed: %v", r.err)
		}
		q.long(1)
		shorter(5 * time.Minute)
		began := time.Now()
		mustUnlock(t, h)
		r := nextOf(t, entered)
		if took := r.at.Sub(began); took > soon {
			t.Errorf("it entered after %v", took)
		}
		mustUnlock(t, r.h)
		q.gone()
	})
}

// A place expires at the end of its time. Its waiter is alive, and queues again.
func TestFairPlaceIsLostAfterItsTimeAndTakenAnew(t *testing.T) {
	play(t, func(t *testing.T, s *server) {
		short, other := open(t, s, rlock.WithFairWait(300*time.Millisecond)), open(t, s)
		q := fairQueue{t, s.Dial(t), "orders"}
		h := lockOf(t, other.NewFairLock("orders"), rlock.Lease(2*time.Second))
		ended := make(chan result, 2)
		fairWaits(t.Context(), q, short.NewFairLock("orders"), 1, 0, ended)
		fairWaits(t.Context(), q, other.NewFairLock("orders"), 2, 1, ended)
		places := q.owners()
		if err := h.Extend(t.Context(), time.Minute); err != nil {
			t.Fatal(err)
		}
		// It tries again at the end of the lease that it last saw, and finds later that its place has
		// expired.
		becomes(t, "it is behind the other", func() bool { return slices.Equal(q.owners(), []string{places[1], places[0]}) })
		mustUnlock(t, h)
		for _, who := range []int{1, 0} {
			r := nextOf(t, ended)
			if r.who != who {
				t.Fatalf("%d entered", r.who)
			}
			mustUnlock(t, r.h)
		}
		q.gone()
	})
}

func TestFairReentryPassesTheQueue(t *testing.T) {
	play(t, func(t *testing.T, s *server) {
		a, b := open(t, s), open(t, s)
		q := fairQueue{t, s.Dial(t), "orders"}
		la, lb := a.NewFairLock("orders"), b.NewFairLock("orders")
		outer := lockOf(t, la, rlock.Lease(time.Minute))
		ended := make(chan result, 1)
		fairWaits(t.Context(), q, lb, 1, 0, ended)
		inner := lockOf(t, la, rlock.As(outer.Owner()), rlock.Lease(time.Second))
		counts(t, la, outer.Owner(), 2)
		mustUnlock(t, inner)
		if ttl, err := la.RemainTTL(t.Context()); err != nil || ttl < 50*time.Second {
			t.Errorf("what is left has %v, %v", ttl, err)
		}
		q.long(1)
		mustUnlock(t, outer)
		mustUnlock(t, nextOf(t, ended).h)
		q.gone()
	})
}

// Two callers that wait as one owner share one place. Its time counts once, whichever of them acquires.
func TestCallersOfOneOwnerShareAPlace(t *testing.T) {
	play(t, func(t *testing.T, s *server) {
		c := open(t, s)
		q := fairQueue{t, s.Dial(t), "orders"}
		l := c.NewFairLock("orders")
		h := lockOf(t, l, rlock.Lease(time.Minute))
		o := c.NewOwner()
		both, last := make(chan result, 2), make(chan result, 1)
		ctx, cancel := context.WithCancel(t.Context())
		tap := s.tap()
		fairWaits(ctx, q, l, 1, 0, both, rlock.As(o), rlock.Wait(10*time.Minute))
		fairWaits(t.Context(), q, l, 1, 1, both, rlock.As(o), rlock.Wait(time.Hour))
		fairWaits(t.Context(), q, l, 2, 2, last, rlock.Wait(time.Hour))
		q.listening(2)
		q.tried(tap, 5) // two of each subscribed waiter, and one of the second caller
		cancel()
		if r := <-both; r.who != 0 || !errors.Is(r.err, context.Canceled) {
			t.Fatalf("%d: %v", r.who, r.err)
		}
		q.long(2)
		owner := q.owners()[1]
		if left := q.keeps(owner); left > 71*time.Minute || left < 70*time.Minute {
			t.Errorf("the last keeps its place for %v", left)
		}
		mustUnlock(t, h)
		h = nextOf(t, both).h
		if left := q.keeps(owner); left > 61*time.Minute || left < 60*time.Minute {
			t.Errorf("the last keeps its place for %v, when nobody is before it", left)
		}
		mustUnlock(t, h)
		mustUnlock(t, nextOf(t, last).h)
		q.gone()
	})
}

func TestInfoCountsThePlacesOfAFairLock(t *testing.T) {
	play(t, func(t *testing.T, s *server) {
		c := open(t, s)
		q := fairQueue{t, s.Dial(t), "orders"}
		l := c.NewFairLock("orders")
		h := lockOf(t, l)
		q.stranger(time.Hour)
		q.stranger(time.Hour)
		i, err := l.Info(t.Context())
		if err != nil || i.Waiters != 2 || i.Owner != h.Owner() || i.Count != 1 {
			t.Errorf("%+v, %v", i, err)
		}
		mustUnlock(t, h)
	})
}

func TestFairWaitMustBeAMillisecond(t *testing.T) {
	play(t, func(t *testing.T, s *server) {
		for _, opts := range [][]rlock.Option{{rlock.WithFairWait(0)}, {rlock.WithFairWait(-1)}, {rlock.WithFairWait(time.Millisecond - 1)}, {rlock.WithFairWait(time.Hour), rlock.WithFairWait(time.Hour)}} {
			if _, err := rlock.Open(t.Context(), s.URL(), opts...); !errors.Is(err, rlock.ErrInvalidOption) {
				t.Error(err)
			}
		}
		q := fairQueue{t, s.Dial(t), "orders"}
		c := open(t, s, rlock.WithFairWait(time.Hour))
		h := lockOf(t, c.NewFairLock("orders"), rlock.Lease(time.Minute))
		ended := make(chan result, 1)
		fairWaits(t.Context(), q, c.NewFairLock("orders"), 1, 0, ended)
		if left := q.keeps(q.owners()[0]); left > 61*time.Minute || left < 60*time.Minute {
			t.Errorf("a place is kept for %v", left)
		}
		mustUnlock(t, h)
		mustUnlock(t, nextOf(t, ended).h)
	})
}

func TestFairLockLeavesAKeyOfAnotherTypeAlone(t *testing.T) {
	play(t, func(t *testing.T, s *server) {
		l := open(t, s).NewFairLock("orders")
		conn := s.Dial(t)
		if _, err := conn.Do("SET", "orders", "text"); err != nil {
			t.Fatal(err)
		}
		_, locked := l.Lock(t.Context())
		_, tried := l.TryLock(t.Context())
		_, forced := l.ForceUnlock(t.Context())
		for what, err := range map[string]error{"Lock": locked, "TryLock": tried, "ForceUnlock": forced} {
			if !errors.Is(err, rlock.ErrRefused) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if keys, err := redis.Strings(conn.Do("KEYS", "*")); err != nil || fmt.Sprint(keys) != "[orders]" {
			t.Errorf("the keys are %q, %v", keys, err)
		}
	})
}

// A name is meant for one kind of lock only.
func TestPlainLockTakesNoNoticeOfAFairQueue(t *testing.T) {
	play(t, func(t *testing.T, s *server) {
		c := open(t, s)
		q := fairQueue{t, s.Dial(t), "orders"}
		q.stranger(time.Hour)
		h, err := c.NewLock("orders").TryLock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		mustUnlock(t, h)
		q.long(1)
	})
}
