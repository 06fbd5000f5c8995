package behaviour_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// contents is all of a key: its type, its TTL's kind and its dump.
func (r *rig) contents(key string) string {
	r.Helper()
	return fmt.Sprintf("%s %v %q", r.Text("TYPE", key), r.Number("PTTL", key) < 0, r.Text("DUMP", key))
}

func TestKeyOfAnotherType(t *testing.T) {
	r := start(t)
	c := r.open(rlock.WithCommandTimeout(3 * time.Second))
	ctx := t.Context()
	for kind, put := range map[string][]any{
		"string": {"SET", "a text"},
		"list":   {"RPUSH", "an element"},
		"set":    {"SADD", "a member"},
		"stream": {"XADD", "*", "f", "v"},
	} {
		l := c.NewLock(r.name())
		r.Do(put[0].(string), append([]any{l.Name()}, put[1:]...)...)
		t.Cleanup(func() { r.Do("DEL", l.Name()) })
		before := r.contents(l.Name())
		for call, do := range map[string]func() error{
			"Lock":       func() error { _, err := l.Lock(ctx); return err },
			"TryLock":    func() error { _, err := l.TryLock(ctx); return err },
			"TryLockFor": func() error { _, err := l.TryLockFor(ctx, patience); return err },
			"Lock as":    func() error { _, err := l.Lock(ctx, rlock.As(c.NewOwner())); return err },
			"Do":         func() error { return l.Do(ctx, func(context.Context) error { panic("it ran") }) },
			"IsHeldBy":   func() error { _, err := l.IsHeldBy(ctx, c.NewOwner()); return err },
			"HoldCount":  func() error { _, err := l.HoldCount(ctx, c.NewOwner()); return err },
			"UnlockAs":   func() error { return l.UnlockAs(ctx, c.NewOwner()) },
		} {
			t.Run(call+" of a "+kind, func(t *testing.T) {
				began := time.Now()
				err := do()
				wants(t, err, nil, l.Name(), "WRONGTYPE")
				isServerError(t, err)
				between(t, "the answer", time.Since(began), 0, 5*time.Second)
				if after := r.contents(l.Name()); after != before {
					t.Errorf("%s became %s", before, after)
				}
			})
		}
	}
	t.Run("is not forced", func(t *testing.T) {
		l := c.NewLock(r.name())
		r.Do("RPUSH", l.Name(), "an element")
		defer r.Do("DEL", l.Name())
		before := r.contents(l.Name())
		forced, err := l.ForceUnlock(ctx)
		wants(t, err, nil, "force", l.Name(), "list")
		if after := r.contents(l.Name()); forced || after != before {
			t.Errorf("forced %v: %s became %s", forced, before, after)
		}
	})
	t.Run("put over a lock that is held", func(t *testing.T) {
		l := c.NewLock(r.name())
		h := r.Lock(l)
		r.Do("SET", l.Name(), "another's")
		defer r.Do("DEL", l.Name())
		err := h.Unlock(ctx)
		wants(t, err, nil, "release", l.Name(), "WRONGTYPE")
		isServerError(t, err)
		wants(t, h.Err(), rlock.ErrReleased)
		if got := r.Text("GET", l.Name()); got != "another's" {
			t.Errorf("the key became %q", got)
		}
	})
}

func TestPoisonedKeySpoilsNoOthersLease(t *testing.T) {
	t.Parallel()
	const timeout = 4 * time.Second
	r := start(t)
	c := r.open(rlock.WithWatchdogTimeout(timeout))
	healthy := make([]*rlock.Hold, 20)
	for i := range healthy {
		healthy[i] = r.Lock(c.NewLock(r.name()))
	}
	poisoned := r.Lock(c.NewLock(r.name()))
	r.Do("SET", poisoned.Name(), "a text")
	defer r.Do("DEL", poisoned.Name())
	until := poisoned.ValidUntil()
	testbed.Receive(r, "the poisoned hold to be told", poisoned.Done())
	wants(t, poisoned.Err(), rlock.ErrLeaseLost)
	// A renewal that fails is not a loss; the end of trust is.
	between(t, "telling, after the end", time.Since(until), -timeout/100, time.Second)
	<-time.After(timeout)
	for _, h := range healthy {
		if err := h.Err(); err != nil {
			t.Fatal(err)
		}
		r.Unlock(h)
	}
	if got := r.Text("GET", poisoned.Name()); got != "a text" {
		t.Errorf("the key became %q", got)
	}
}

func TestHashWithForeignFields(t *testing.T) {
	t.Parallel()
	r := start(t)
	c := r.open()
	ctx := t.Context()
	l := c.NewLock(r.name())
	mine := c.NewOwner()
	r.Do("HSET", l.Name(), "colour", "red", mine, "two")
	defer r.Do("DEL", l.Name())
	before := r.contents(l.Name())
	t.Run("is locked by another, without end", func(t *testing.T) {
		_, err := l.TryLock(ctx)
		wants(t, err, rlock.ErrLocked)
		began := time.Now()
		_, err = l.TryLockFor(ctx, stall)
		wants(t, err, rlock.ErrLocked)
		between(t, "the bounded wait", time.Since(began), stall, 3*time.Second)
		if ttl, err := l.RemainTTL(ctx); ttl != -1 || err != nil {
			t.Errorf("%d, %v", ttl, err)
		}
	})
	t.Run("a count that is no number is shown", func(t *testing.T) {
		_, err := l.HoldCount(ctx, mine)
		wants(t, err, nil, l.Name(), "hold count", "two")
		_, err = l.TryLock(ctx, rlock.As(mine))
		wants(t, err, nil, l.Name(), "not an integer")
		isServerError(t, err)
		err = l.UnlockAs(ctx, mine)
		wants(t, err, nil, l.Name(), "not an integer")
		isServerError(t, err)
	})
	t.Run("is left alone", func(t *testing.T) {
		if after := r.contents(l.Name()); after != before {
			t.Errorf("%s became %s", before, after)
		}
	})
	t.Run("is entered when somebody frees it", func(t *testing.T) {
		waiter := r.enter(l)
		r.Listeners(l.Name(), 1)
		if forced, err := r.open().NewLock(l.Name()).ForceUnlock(ctx); !forced || err != nil {
			t.Fatal(forced, err)
		}
		r.Unlock(r.Entered(waiter).Hold)
	})
}
