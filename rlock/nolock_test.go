package rlock

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// A caller that waits for a hash that is no lock learns that when its context ends, as TryLock does at once.
func TestWaitForAHashThatIsNoLockSaysSo(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s, WithCommandTimeout(time.Minute)) // a sixteenth of it is for the question
	l := c.NewLock("foreign")
	if _, err := s.Dial(t).Do("HSET", "foreign", "colour", "red"); err != nil {
		t.Fatal(err)
	}
	for call, wait := range map[string]func(context.Context) error{
		"Lock": func(ctx context.Context) error { _, err := l.Lock(ctx); return err },
		"Do":   func(ctx context.Context) error { return l.Do(ctx, func(context.Context) error { return nil }) },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		err := make(chan error)
		go func() { err <- wait(ctx) }()
		becomes(t, "the wait was refused", func() bool { return c.Stats().Waiters == 1 && l.l.Snapshot().Listening })
		cancel()
		err1 := <-err
		if !errors.Is(err1, context.Canceled) || !errors.Is(err1, ErrRefused) || !strings.Contains(err1.Error(), `the key is a hash that is no lock of this kind (field "colour")`) {
			t.Errorf("%s: %v", call, err1)
		}
	}
}
