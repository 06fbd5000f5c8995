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
		{"Do with Wait returns ErrLocked when that has elapsed", func(t *testing.T, l *rlock.Lock) error {
			return l.Do(t.Context(), func(context.Context) error { panic("it ran") }, rlock.Wait(wait))
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
		{"Lock with Wait prefers its context when that ends first", func(t *testing.T, l *rlock.Lock) error {
			ctx, cancel := context.WithTimeout(t.Context(), wait)
			defer cancel()
			_, err := l.Lock(ctx, rlock.Wait(time.Minute))
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
	for behaviour, try := range map[string]func(context.Context) error{
		"a wait of zero":    func(ctx context.Context) error { _, err := l.TryLockFor(ctx, 0); return err },
		"a negative wait":   func(ctx context.Context) error { _, err := l.TryLockFor(ctx, -time.Second); return err },
		"Lock with Wait(0)": func(ctx context.Context) error { _, err := l.Lock(ctx, rlock.Wait(0)); return err },
		"Do with Wait(0)": func(ctx context.Context) error {
			return l.Do(ctx, func(context.Context) error { panic("it ran") }, rlock.Wait(0))
		},
	} {
		t.Run(behaviour+" is one attempt", func(t *testing.T) {
			// Far longer than an attempt, so that a call that waits ends with its context's error.
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			wants(t, try(ctx), rlock.ErrLocked)
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
