package locks

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// An object that is put back twice gets two users at the same time. Then the race detector
// reports them, or one of them meets what the other left.
func TestReusedObjectsHaveOneUser(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	clients := [2]*Client{open(t, s), open(t, s)}
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
func useOnce(t *testing.T, c *Client, l *Lock) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w := NewWaiter(l)
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
		if !errors.Is(err, ErrLocked) && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		return
	}
	// An unlock as another owner must not get this hold's outcome.
	if err := UnlockAs(ctx, l, c.NewOwner()); !errors.Is(err, ErrNotHeld) && !errors.Is(err, ErrUncertain) {
		t.Errorf("an unlock by a stranger: %v", err)
	}
	if rand.N(4) == 0 {
		cancel() // then the unlock's caller waits for a command timeout
	}
	if err := Unlock(ctx, h); err != nil {
		t.Error(err)
	}
	if err := Unlock(ctx, h); !errors.Is(err, ErrReleased) {
		t.Errorf("a second unlock: %v", err)
	}
}
