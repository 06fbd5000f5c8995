package lockstate

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/acquire"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/lockerr"
	"github.com/rlock-go/redisson/internal/state"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/unlock"
)

// An object that is put back twice gets two users at the same time. Then the race detector
// reports them, or one of them meets what the other left.
func TestReusedObjectsHaveOneUser(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	clients := [2]*State{open(t, s), open(t, s)}
	rounds := 300
	if testing.Short() {
		rounds = 100
	}
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			c := clients[i%2]
			for range rounds {
				// Some names are shared by all goroutines, others belong to one.
				name := string(rune('a' + rand.N(3)))
				if rand.N(2) == 0 {
					name = string(rune('A' + i))
				}
				l := c.NewLock(kind.Reentrant, name, name)
				useOnce(t, c, &l)
			}
		})
	}
	all.Wait()
}

// useOnce takes the lock in one of several ways, and releases it in another.
func useOnce(t *testing.T, c *State, l *state.Lock) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w := acquire.New(l)
	switch rand.N(4) {
	case 0:
		w.Terms.HasWait = true
	case 1:
		w.Terms.As, w.Terms.Owner = true, c.NewOwner()
	case 2:
		stop := time.AfterFunc(rand.N(2*time.Millisecond), cancel)
		defer stop.Stop()
	}
	if err := w.Start(); err != nil {
		t.Error(err)
		return
	}
	h, err := w.Result(ctx, w.Await(ctx))
	if err != nil {
		if !errors.Is(err, lockerr.ErrLocked) && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		return
	}
	// An unlock as another owner must not get this hold's outcome.
	if err := unlock.As(ctx, l, c.NewOwner()); !errors.Is(err, lockerr.ErrNotHeld) && !errors.Is(err, lockerr.ErrUncertain) {
		t.Errorf("an unlock by a stranger: %v", err)
	}
	if rand.N(4) == 0 {
		cancel() // then the unlock's caller waits for a command timeout
	}
	if err := unlock.Hold(ctx, h); err != nil {
		t.Error(err)
	}
	if err := unlock.Hold(ctx, h); !errors.Is(err, lockerr.ErrReleased) {
		t.Errorf("a second unlock: %v", err)
	}
}
