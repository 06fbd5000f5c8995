package timing

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/rlock"
)

// The release wakes the head of the queue, which gives up at the same time. Then the next waiter is woken.
func TestFairHeadThatGivesUpHandsItsWakeUpOn(t *testing.T) {
	play(t, func(t *testing.T, s *server) {
		a, b := open(t, s), open(t, s)
		q := fairQueue{t, s.Dial(t), "orders"}
		la, lb := a.NewFairLock("orders"), b.NewFairLock("orders")
		for range 30 {
			h := lockOf(t, la)
			ctx, cancel := context.WithCancel(t.Context())
			first, second := make(chan result, 1), make(chan result, 1)
			fairWaits(ctx, q, la, 1, 0, first)
			fairWaits(t.Context(), q, lb, 2, 1, second)
			began := time.Now()
			go cancel()
			mustUnlock(t, h)
			if r := <-first; r.err == nil {
				mustUnlock(t, r.h)
			}
			r := nextOf(t, second)
			if took := r.at.Sub(began); took > soon {
				t.Fatalf("it entered after %v", took)
			}
			mustUnlock(t, r.h)
			q.gone()
		}
	})
}

// The owners before it are dead, and nobody holds the lock. It enters when the last of them loses its place.
func TestFairWaiterBehindDeadPlacesEntersWhenTheyEnd(t *testing.T) {
	play(t, func(t *testing.T, s *server) {
		l := open(t, s).NewFairLock("orders")
		q := fairQueue{t, s.Dial(t), "orders"}
		q.stranger(1200 * time.Millisecond)
		second := "550e8400-e29b-41d4-a716-446655440000:33"
		if _, err := q.conn.Do("RPUSH", codec.FairQueue("orders"), second); err != nil {
			t.Fatal(err)
		}
		ends := time.Now().Add(1500 * time.Millisecond)
		if _, err := q.conn.Do("ZADD", codec.FairTimes("orders"), ends.UnixMilli(), second); err != nil {
			t.Fatal(err)
		}
		h := lockOf(t, l)
		if late := time.Since(ends); late < -time.Millisecond || late > 1500*time.Millisecond {
			t.Errorf("it entered %v after the last place before it ended", late)
		}
		mustUnlock(t, h)
		q.gone()
	})
}

// No message told the head that the lock is free. A waiter that comes later publishes one.
func TestWhoFindsAFairLockFreeTellsTheHead(t *testing.T) {
	play(t, func(t *testing.T, s *server) {
		c := open(t, s)
		q := fairQueue{t, s.Dial(t), "orders"}
		owner := q.stranger(time.Hour)
		sub := redis.PubSubConn{Conn: s.Dial(t)}
		if err := sub.Subscribe(codec.FairChannel("orders", owner)); err != nil {
			t.Fatal(err)
		}
		sub.Receive()
		tap := s.tap()
		ended := make(chan result, 1)
		fairWaits(t.Context(), q, c.NewFairLock("orders"), 2, 0, ended)
		began := time.Now()
		for i := range 4 {
			m, ok := sub.ReceiveWithTimeout(10 * soon).(redis.Message)
			if !ok || string(m.Data) != "0" {
				t.Fatalf("message %d: %v", i, m)
			}
		}
		// The first came with the place, the second with the subscription; then there are pauses.
		if took := time.Since(began); took < soon || took > 12*time.Second {
			t.Errorf("the pauses were %v together", took)
		}
		if n := fairTries(tap.Mark()); n > 5 {
			t.Errorf("%d tries for a lock that is another's to take", n)
		}
		// The head's place is removed without a message.
		if _, err := q.conn.Do("DEL", codec.FairQueue("orders"), codec.FairTimes("orders")); err != nil {
			t.Fatal(err)
		}
		mustUnlock(t, nextOf(t, ended).h)
		q.gone()
	})
}

func TestFairHeadEntersWhenTheLeaseEnds(t *testing.T) {
	play(t, func(t *testing.T, s *server) {
		c := open(t, s)
		q := fairQueue{t, s.Dial(t), "orders"}
		lockOf(t, c.NewFairLock("orders"), rlock.Lease(time.Second))
		began := time.Now()
		ended := make(chan result, 1)
		fairWaits(t.Context(), q, c.NewFairLock("orders"), 1, 0, ended)
		r := nextOf(t, ended)
		if took := r.at.Sub(began); took > 2*time.Second {
			t.Errorf("it entered after %v", took)
		}
		mustUnlock(t, r.h)
		q.gone()
	})
}

func TestFairUnlockThatFindsNothingWakesTheHead(t *testing.T) {
	play(t, func(t *testing.T, s *server) {
		a, b := open(t, s), open(t, s)
		for name, end := range map[string]func(*rlock.Lock, *rlock.Hold) error{
			"unlock": func(_ *rlock.Lock, h *rlock.Hold) error { return h.Unlock(context.Background()) },
			"UnlockAs": func(l *rlock.Lock, _ *rlock.Hold) error {
				return l.UnlockAs(context.Background(), b.NewOwner())
			},
		} {
			q := fairQueue{t, s.Dial(t), name}
			la, lb := a.NewFairLock(name), b.NewFairLock(name)
			h := lockOf(t, la)
			ended := make(chan result, 1)
			tap := s.tap()
			fairWaits(t.Context(), q, lb, 1, 0, ended)
			q.listening(1)
			q.tried(tap, 2)
			if _, err := q.conn.Do("DEL", name); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			if err := end(la, h); !errors.Is(err, rlock.ErrNotHeld) {
				t.Errorf("%s: %v", name, err)
			}
			r := nextOf(t, ended)
			if took := r.at.Sub(began); took > time.Second {
				t.Errorf("%s: it entered after %v", name, took)
			}
			mustUnlock(t, r.h)
			q.gone()
		}
	})
}

func TestFairForceUnlockWakesTheHead(t *testing.T) {
	play(t, func(t *testing.T, s *server) {
		a, b := open(t, s), open(t, s)
		q := fairQueue{t, s.Dial(t), "orders"}
		h := lockOf(t, a.NewFairLock("orders"))
		ended := make(chan result, 2)
		fairWaits(t.Context(), q, a.NewFairLock("orders"), 1, 0, ended)
		fairWaits(t.Context(), q, b.NewFairLock("orders"), 2, 1, ended)
		if forced, err := b.NewFairLock("orders").ForceUnlock(t.Context()); !forced || err != nil {
			t.Fatalf("forced %v, %v", forced, err)
		}
		for i := range 2 {
			r := nextOf(t, ended)
			if r.who != i {
				t.Errorf("%d entered in the place of %d", r.who, i)
			}
			mustUnlock(t, r.h)
		}
		if err := h.Unlock(t.Context()); !errors.Is(err, rlock.ErrNotHeld) {
			t.Errorf("forced, and unlocked with %v", err)
		}
		q.gone()
	})
}

// The server knows whose turn it is. No other waiter of this client tries, however many there are.
func TestFairHandOffCostsTheSameHoweverManyWait(t *testing.T) {
	play(t, func(t *testing.T, s *server) {
		c := open(t, s)
		l := c.NewFairLock("orders")
		q := fairQueue{t, s.Dial(t), "orders"}
		h := lockOf(t, l)
		const waiters = 100
		ended := make(chan result, waiters)
		tap := s.tap()
		for i := range waiters {
			fairWaits(t.Context(), q, l, i+1, i, ended)
		}
		q.listening(waiters)
		q.tried(tap, 2*waiters)
		for i := range 3 {
			mustUnlock(t, h)
			h = nextOf(t, ended).h
			if n := fairTries(tap.Mark()); n != 1 {
				t.Errorf("%d tries for one hand-off", n)
			}
			if i == 1 { // the key vanishes: the unlock finds nothing
				if _, err := q.conn.Do("DEL", "orders"); err != nil {
					t.Fatal(err)
				}
				err := h.Unlock(t.Context())
				if !errors.Is(err, rlock.ErrNotHeld) {
					t.Error(err)
				}
				h = nextOf(t, ended).h
				// If the client had noticed the loss before the unlock, it has woken the next waiter too.
				if n := fairTries(tap.Mark()); n != 1 && !(n == 2 && errors.Is(err, rlock.ErrLeaseLost)) {
					t.Errorf("%d tries behind an unlock that found nothing", n)
				}
			}
		}
		c.Close()
		q.long(0)
	})
}

func TestFairLockIsOneCommandAndListensOnlyWhileItWaits(t *testing.T) {
	play(t, func(t *testing.T, s *server) {
		c := open(t, s)
		l := c.NewFairLock("orders")
		q := fairQueue{t, s.Dial(t), "orders"}
		mustUnlock(t, lockOf(t, l)) // the scripts are known now
		tap := s.tap()
		h := lockOf(t, l)
		mustUnlock(t, h)
		sent := 0
		for _, line := range tap.Mark() {
			switch {
			case line.Lua():
			case line.Is("EVALSHA"):
				sent++
			case !line.Is("DEL") && !line.Is("PING"):
				t.Errorf("it sent %v", line)
			}
		}
		if sent != 2 {
			t.Errorf("%d scripts for a pair", sent)
		}
		h = lockOf(t, l)
		const waiters = 20
		ended := make(chan result, waiters)
		for i := range waiters {
			fairWaits(t.Context(), q, l, i+1, i, ended)
		}
		q.listening(waiters)
		if list, err := redis.String(q.conn.Do("CLIENT", "LIST", "TYPE", "pubsub")); err != nil || strings.Count(list, "\n") != 1 {
			t.Errorf("not one connection listens: %s, %v", list, err)
		}
		for range waiters {
			mustUnlock(t, h)
			h = nextOf(t, ended).h
		}
		mustUnlock(t, h)
		q.listening(0)
	})
}

// Messages without a subscriber are lost, so a waiter tries again after each subscription.
func TestFairWaiterLooksAfterEachSubscription(t *testing.T) {
	play(t, func(t *testing.T, s *server) {
		a, b := open(t, s), open(t, s)
		q := fairQueue{t, s.Dial(t), "orders"}
		lockOf(t, a.NewFairLock("orders"))
		ended := make(chan result, 1)
		tap := s.tap()
		fairWaits(t.Context(), q, b.NewFairLock("orders"), 1, 0, ended)
		q.listening(1)
		q.tried(tap, 2)
		if _, err := q.conn.Do("DEL", "orders"); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := q.conn.Do("CLIENT", "KILL", "TYPE", "pubsub"); err != nil {
			t.Fatal(err)
		}
		r := nextOf(t, ended)
		if took := r.at.Sub(began); took > 2*time.Second {
			t.Errorf("it entered after %v", took)
		}
		mustUnlock(t, r.h)
	})
}

// A wait that has elapsed sends nothing more, because the server may be silent by then.
func TestFairWaitElapsesInTimeThoughTheServerIsSilent(t *testing.T) {
	play(t, func(t *testing.T, s *server) {
		c := open(t, s, rlock.WithCommandTimeout(20*time.Second))
		l := c.NewFairLock("orders")
		lockOf(t, l)
		const waiters, wait = 12, 2 * time.Second // the server replies no TTL to the last ones, which are too far back
		took := make(chan time.Duration, waiters)
		for range waiters {
			go func() {
				began := time.Now()
				if _, err := l.TryLockFor(t.Context(), wait); !errors.Is(err, rlock.ErrLocked) {
					t.Error(err)
				}
				took <- time.Since(began)
			}()
		}
		fairQueue{t, s.Dial(t), "orders"}.told(l, waiters)
		s.Pause()
		defer s.Resume()
		for range waiters {
			if d := <-took; d > 3*wait {
				t.Errorf("a wait of %v took %v", wait, d)
			}
		}
	})
}

// A fair wait ends in an outage, with an attempt that was never written. It leaves the server's queue when the server is
// back. Meanwhile the client keeps one state of the lock (H6): a nested lease does not shorten the outer one.
func TestH6LeavingAFairQueueInAnOutageSplitsNoOwner(t *testing.T) {
	play(t, func(t *testing.T, s *server) {
		c := open(t, s, rlock.WithCommandTimeout(20*time.Second))
		l := c.NewFairLock("orders")
		lockOf(t, open(t, s).NewFairLock("orders"))
		waits := make(chan error, 1)
		go func() {
			_, err := l.TryLockFor(t.Context(), 2*time.Second)
			waits <- err
		}()
		fairQueue{t, s.Dial(t), "orders"}.told(l, 1)
		s.Kill()
		if err := <-waits; !errors.Is(err, rlock.ErrLocked) {
			t.Error(err)
		}
		entered := make(chan *rlock.Hold, 1)
		go func() { entered <- lockOf(t, l) }()
		s.Wipe()
		h := <-entered
		time.Sleep(3 * time.Second) // nobody leaves any more
		nested := lockOf(t, l, rlock.As(h.Owner()), rlock.Lease(time.Second))
		if left, err := redis.Int64(s.Dial(t).Do("PTTL", "orders")); left < 20_000 || err != nil {
			t.Errorf("the key lives for %d ms inside, %v", left, err)
		}
		mustUnlock(t, nested)
		mustUnlock(t, h)
	})
}
