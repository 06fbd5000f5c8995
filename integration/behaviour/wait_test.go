package behaviour_test

import (
	"context"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/rlock"
)

func TestBoundedWaitEndsOnTime(t *testing.T) {
	t.Parallel()
	const wait = 3 * time.Second
	r := start(t)
	holder, c := r.open(), r.open()
	for _, row := range []struct {
		behaviour string
		try       func(t *testing.T, l *rlock.Lock) error
		want      error
	}{
		{"TryLockFor returns ErrLocked when its wait has elapsed", func(t *testing.T, l *rlock.Lock) error {
			_, err := l.TryLockFor(t.Context(), wait)
			return err
		}, rlock.ErrLocked},
		{"Lock returns the context's error when that has ended", func(t *testing.T, l *rlock.Lock) error {
			ctx, cancel := context.WithTimeout(t.Context(), wait)
			defer cancel()
			_, err := l.Lock(ctx)
			return err
		}, context.DeadlineExceeded},
		{"TryLockFor prefers its context when that ends first", func(t *testing.T, l *rlock.Lock) error {
			ctx, cancel := context.WithTimeout(t.Context(), wait)
			defer cancel()
			_, err := l.TryLockFor(ctx, time.Minute)
			return err
		}, context.DeadlineExceeded},
	} {
		t.Run(row.behaviour, func(t *testing.T) {
			t.Parallel()
			r := &rig{&testbed.Rig{T: t, Server: r.Server}}
			name := r.name()
			h := r.Lock(holder.NewLock(name))
			began := time.Now()
			err := row.try(t, c.NewLock(name))
			between(t, "the wait", time.Since(began), wait*9/10, wait*11/10)
			wants(t, err, row.want, name)
			r.Unlock(h)
		})
	}
}

func TestWaitOfNothing(t *testing.T) {
	r := start(t)
	c := r.open()
	l := c.NewLock(r.name())
	h := r.Lock(l)
	for behaviour, wait := range map[string]time.Duration{"zero": 0, "negative": -time.Second} {
		t.Run("a wait of "+behaviour+" is one attempt", func(t *testing.T) {
			began := time.Now()
			_, err := l.TryLockFor(t.Context(), wait)
			wants(t, err, rlock.ErrLocked)
			between(t, "one attempt", time.Since(began), 0, time.Second)
		})
	}
	t.Run("a context that has ended sends nothing", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		before := r.Number("HLEN", l.Name())
		r.Unlock(h)
		_, err := l.Lock(ctx)
		wants(t, err, context.Canceled)
		if n := r.Number("HLEN", l.Name()); before != 1 || n != 0 {
			t.Errorf("%d owners before, %d after", before, n)
		}
	})
}
