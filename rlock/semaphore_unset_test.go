package rlock

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// acquirer is a semaphore of either kind.
type acquirer struct {
	lock    *Lock
	try     func() error
	acquire func(ctx context.Context, opts ...WaitOption) error
	set     func(n int) error
	again   func(n int) (bool, error)
}

// acquirers returns both kinds, of one client.
func acquirers(c *Client, name string) map[string]acquirer {
	ctx := context.Background()
	s, p := c.NewSemaphore(name), c.NewPermitSemaphore("permits:"+name)
	return map[string]acquirer{
		"semaphore": {
			&s.lock, func() error { return s.TryAcquire(ctx, 1) },
			func(ctx context.Context, opts ...WaitOption) error { return s.Acquire(ctx, 1, opts...) },
			func(n int) error { return s.AddPermits(ctx, n) },
			func(n int) (bool, error) { return s.TrySetPermits(ctx, n, Expire(time.Hour)) },
		},
		"permits": {
			&p.lock, func() error { _, err := p.TryAcquire(ctx, 1); return err },
			func(ctx context.Context, opts ...WaitOption) error {
				some := make([]PermitOption, len(opts))
				for i, o := range opts {
					some[i] = o
				}
				_, err := p.Acquire(ctx, 1, some...)
				return err
			},
			func(n int) error { return p.AddPermits(ctx, n) },
			func(n int) (bool, error) { return p.TrySetPermits(ctx, n, Expire(time.Hour)) },
		},
	}
}

const unset = "none were set with TrySetPermits, or the semaphore was deleted"

func TestErrorSaysThatNobodyHasSetPermits(t *testing.T) {
	t.Parallel()
	for name, a := range acquirers(open(t, redistest.Start(t)), "unset") {
		t.Run(name, func(t *testing.T) {
			says := func(what string, err, kind error, want bool) {
				t.Helper()
				if !errors.Is(err, kind) || strings.Contains(err.Error(), unset) != want {
					t.Errorf("%s: %v", what, err)
				}
			}
			says("one try", a.try(), ErrNoPermits, true)
			says("a moment", a.acquire(t.Context(), Wait(700*time.Millisecond)), ErrNoPermits, true) // no poll is in flight at its end
			ctx, cancel := context.WithCancel(t.Context())
			first, second := make(chan error, 1), make(chan error, 1)
			go func() { first <- a.acquire(ctx) }()
			awaitWaiting(t, a.lock, 1)
			go func() { second <- a.acquire(ctx) }()
			awaitWaiting(t, a.lock, 2)
			becomes(t, "it is refused", func() bool { return a.lock.l.Snapshot().Listening })
			cancel()
			says("a wait that was cancelled", <-first, context.Canceled, true)
			says("one behind it", <-second, context.Canceled, true)
			if err := errors.Join(a.set(1), a.acquire(t.Context())); err != nil {
				t.Fatal(err)
			}
			says("one that was set", a.try(), ErrNoPermits, false)
		})
	}
}

func TestSemaphoreThatExpires(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	for name, a := range acquirers(open(t, s), "expires") {
		if set, err := a.again(2); !set || err != nil {
			t.Errorf("%s: %v, %v", name, set, err)
		}
		if set, err := a.again(2); set || err != nil {
			t.Errorf("%s is set again: %v, %v", name, set, err)
		}
		if err := a.try(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, key := range []string{"expires", "permits:expires", codec.PermitTimes("permits:expires")} {
		if ms, err := conn.Do("PTTL", key); err != nil || ms.(int64) <= 0 || ms.(int64) > time.Hour.Milliseconds() {
			t.Errorf("%s lives for %v ms, %v", key, ms, err)
		}
	}
}

// A caller with a time limit waits behind one that was refused. It ends in time without a reply of the
// server.
func TestSemaphoreWaitsAsLongAsWaitSays(t *testing.T) {
	t.Parallel()
	sem := rooms(t, open(t, redistest.Start(t)), 1)
	ran := false
	if err := sem.Do(t.Context(), 1, func(ctx context.Context) error {
		ran = true
		if err := sem.Acquire(ctx, 1, Wait(0)); !errors.Is(err, ErrNoPermits) {
			t.Errorf("one try: %v", err)
		}
		waits, cancel := context.WithCancel(ctx)
		first := make(chan error, 1)
		go func() { first <- sem.Acquire(waits, 1) }()
		awaitWaiting(t, &sem.lock, 1)
		err := sem.Do(ctx, 1, func(context.Context) error { t.Error("it ran"); return nil }, Wait(2*time.Second))
		cancel()
		if err := <-first; !errors.Is(err, context.Canceled) {
			t.Errorf("without a limit: %v", err)
		}
		return err
	}, Wait(time.Minute)); !errors.Is(err, ErrNoPermits) || !ran {
		t.Errorf("ran %v: %v", ran, err)
	}
	roomsAre(t, sem, 1)
}
