package rlock_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

// openSeveral opens a client of several servers that share the slots.
func openSeveral(t *testing.T, c *topologytest.Cluster, opts ...rlock.Option) *rlock.Client {
	t.Helper()
	return openWith(t, c.URL(), opts...)
}

// nameOn returns a lock name in a slot of the given one of two servers.
func nameOn(server int) string {
	for i := 0; ; i++ {
		if name := fmt.Sprint("lock-", i); int(codec.Slot(name))/8192 == server {
			return name
		}
	}
}

func TestEachCommandGoesToItsServerAtOnce(t *testing.T) {
	t.Parallel()
	s := topologytest.Start(t, 1, 1)
	c := openSeveral(t, s, rlock.WithWatchdogTimeout(9*time.Second))
	ctx := t.Context()
	// The servers knew the owners of all slots from the start, and the client knows them since
	// Open.
	var holds []*rlock.Hold
	for i := range 60 {
		l := c.NewLock(fmt.Sprint("name-", i))
		h, err := l.Lock(ctx)
		if err != nil {
			t.Fatal(err)
		}
		holds = append(holds, h)
		if _, err := l.TryLock(ctx); !errors.Is(err, rlock.ErrLocked) {
			t.Errorf("held, and TryLock says %v", err)
		}
		if n, err := l.HoldCount(ctx, h.Owner()); n != 1 || err != nil {
			t.Errorf("count %d, %v", n, err)
		}
		if _, err := l.RemainTTL(ctx); err != nil {
			t.Error(err)
		}
		fixed, err := c.NewLock(fmt.Sprint("fixed-", i)).Lock(ctx, rlock.Lease(time.Minute))
		if err == nil {
			err = fixed.Extend(ctx, time.Minute)
		}
		if err == nil {
			err = fixed.Unlock(ctx)
		}
		if err != nil {
			t.Error(err)
		}
		forced := c.NewLock(fmt.Sprint("forced-", i))
		if _, err := forced.Lock(ctx); err != nil {
			t.Error(err)
		}
		if ended, err := forced.ForceUnlock(ctx); !ended || err != nil {
			t.Errorf("forced: %t, %v", ended, err)
		}
		spun, err := c.NewSpinLock(fmt.Sprint("spun-", i)).Lock(ctx)
		if err == nil {
			err = spun.Unlock(ctx)
		}
		if err != nil {
			t.Error(err)
		}
		as := c.NewOwner()
		taken := c.NewLock(fmt.Sprint("taken-", i))
		if err := taken.UnlockAs(ctx, as); !errors.Is(err, rlock.ErrNotHeld) {
			t.Errorf("nobody's: %v", err)
		}
	}
	// First some renewals, then for each name a wait that ends by a message.
	areRenewed(t, holds...)
	for i, h := range holds {
		entered := make(chan error, 1)
		go func() {
			h, err := c.NewLock(fmt.Sprint("name-", i)).TryLockFor(ctx, time.Minute)
			if err == nil {
				err = h.Unlock(ctx)
			}
			entered <- err
		}()
		if err := h.Unlock(ctx); err != nil {
			t.Error(err)
		}
		if err := <-entered; err != nil {
			t.Error(err)
		}
	}
	for server := range 2 {
		for _, code := range []string{"MOVED", "ASK", "CROSSSLOT", "TRYAGAIN"} {
			if n := topologytest.Errors(t, s.Conn(server), code); n != 0 {
				t.Errorf("server %d answered %s %d times, though nothing moved", server, code, n)
			}
		}
		if n := topologytest.Calls(t, s.Conn(server), "evalsha"); n < 100 {
			t.Errorf("server %d ran %d scripts", server, n)
		}
	}
}

// The key moves with its slot, and is then deleted. The client renews at once after the move;
// otherwise the holder would learn of the loss after a third of its lease.
func TestHoldIsRenewedAtOnceWhenItsSlotMoves(t *testing.T) {
	t.Parallel()
	s := topologytest.Start(t, 1, 1)
	moving, staying := nameOn(0), nameOn(1)
	events := make(chan string, 100)
	c := openSeveral(t, s, patient, rlock.WithWatchdogTimeout(10*time.Minute), rlock.WithObserver(rlock.Observer{
		Renewed: func(s rlock.Subject, _ rlock.RenewalEvent) { events <- "renewed " + s.Name },
		Ended:   func(s rlock.Subject, _ rlock.HoldEvent) { events <- "ended " + s.Name },
	}))
	h, err := c.NewLock(moving).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other, err := c.NewLock(staying).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	with, err := c.NewLock("{" + moving + "}").Lock(t.Context()) // moves too, and stays held
	if err != nil {
		t.Fatal(err)
	}
	s.Move(0, 1, codec.Slot(moving))
	if n, err := redis.Int(s.Conn(1).Do("DEL", moving)); n != 1 || err != nil {
		t.Fatalf("deleted %d, %v", n, err)
	}
	select {
	case <-h.Done():
		if err := h.Err(); !errors.Is(err, rlock.ErrLeaseLost) {
			t.Errorf("got %v", err)
		}
	case <-time.After(3 * soonEnough):
		t.Fatal("it was not told within the third of its lease")
	}
	until := func(event string) (before []string) {
		for {
			select {
			case now := <-events:
				if now == event {
					return before
				}
				before = append(before, now)
			case <-time.After(soonEnough):
				t.Fatalf("%s: there was only %q", event, before)
			}
		}
	}
	all := until("renewed " + with.Name()) // what is still held
	// The server has answered what was sent with that renewal before it answers this.
	if err := other.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
	if all = append(all, until("ended "+staying)...); slices.Contains(all, "renewed "+staying) {
		t.Errorf("the one whose slot stayed: %q", all)
	}
}

// waits makes one client hold a name and another one wait for it.
func waits(t *testing.T, s *topologytest.Cluster, name string) (h *rlock.Hold, entered <-chan error) {
	t.Helper()
	h, err := openSeveral(t, s, rlock.WithWatchdogTimeout(10*time.Minute)).NewLock(name).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	l := openSeveral(t, s).NewLock(name)
	end := make(chan error, 1)
	go func() {
		_, err := l.Lock(t.Context())
		end <- err
	}()
	becomes(t, "the waiter listens where the slot is", func() bool { return listeners(t, s.Conn(0), name) == 1 })
	return h, end
}

func enters(t *testing.T, h *rlock.Hold, entered <-chan error) {
	t.Helper()
	if err := h.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
	select {
	case err := <-entered:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(3 * soonEnough):
		t.Error("the release woke nobody within the lease")
	}
}

func TestWaiterListensWhereItsSlotIs(t *testing.T) {
	t.Parallel()
	s := topologytest.Start(t, 1, 1)
	name := nameOn(0)
	h, entered := waits(t, s, name)
	s.Move(0, 1, codec.Slot(name))
	becomes(t, "the waiter listens at the new server only", func() bool {
		return listeners(t, s.Conn(1), name) == 1 && listeners(t, s.Conn(0), name) == 0
	})
	enters(t, h, entered)
}
