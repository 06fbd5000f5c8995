package rlock

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// leap is the system's clock, which a test can move ahead, as if the process had been paused.
type leap struct{ ahead atomic.Int64 }

func (l *leap) Now() time.Duration { return clock.System().Now() + time.Duration(l.ahead.Load()) }

// After a pause a hold's methods find the loss, whichever of them is called first.
func TestFirstLookAfterAPauseFindsTheLoss(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	for what, look := range map[string]func(*Hold){
		"Done":       func(h *Hold) { <-h.Done() },
		"Done twice": func(h *Hold) { <-h.Done(); <-h.Done() },
		"Err":        func(h *Hold) { _ = h.Err() },
		"ValidUntil": func(h *Hold) { h.ValidUntil() },
		"Context": func(h *Hold) {
			ctx, cancel := h.Context(t.Context())
			defer cancel()
			<-ctx.Done()
		},
	} {
		t.Run(what, func(t *testing.T) {
			now := &leap{}
			c, err := Open(t.Context(), server.URL(), func(s *settings) error { s.Clock = now; return nil })
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			h, err := c.NewLock(what).Lock(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			now.ahead.Store(int64(time.Hour))
			look(h)
			if err := h.Err(); !errors.Is(err, ErrLeaseLost) {
				t.Errorf("an hour later: %v", err)
			}
		})
	}
}
