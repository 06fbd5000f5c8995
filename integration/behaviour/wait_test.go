package behaviour_test

import (
	"context"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

func TestWaitOfNothing(t *testing.T) {
	r := start(t)
	c := r.open()
	l := c.NewLock(r.name())
	r.Lock(l)
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
}
