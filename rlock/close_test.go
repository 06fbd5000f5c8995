package rlock

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// The release waits for its owner's earlier command, which is answered within the command timeout that Close waits.
func TestE1CloseSendsAReleaseThatIsInTheCommandQueue(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s, WithCommandTimeout(10*soon))
	l := c.NewLock("orders")
	h := lockOf(t, l, Lease(30*time.Second))
	conn := s.Dial(t)
	if _, err := conn.Do("CLIENT", "PAUSE", 500, "ALL"); err != nil {
		t.Fatal(err)
	}
	extended, released := make(chan error, 1), make(chan error, 1)
	go func() { extended <- h.Extend(context.Background(), 30*time.Second) }()
	awaitCommandQueue(t, h, 0)
	go func() { released <- h.Unlock(context.Background()) }()
	awaitCommandQueue(t, h, 1)
	c.Close()
	if err := <-released; err != nil {
		t.Error(err)
	}
	<-extended // either result is fine: the hold is over
	if n, err := conn.Do("EXISTS", "orders"); n != int64(0) {
		t.Errorf("the key is left: %v, %v", n, err)
	}
}

// awaitCommandQueue waits until a command of the hold's owner is in flight and `behind` commands wait after it.
func awaitCommandQueue(t *testing.T, h *Hold, behind int) {
	t.Helper()
	becomes(t, fmt.Sprint(behind, " wait in the command queue"), func() bool {
		busy, queued := h.h.OwnerSnapshot()
		return busy && queued == behind
	})
}

// Close and Shutdown wait for the same work to end.
func TestE1CloseBesideShutdownIsAsQuick(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	for i := range 50 {
		c := open(t, s, WithCommandTimeout(time.Hour)) // a Close that waits for something does not end
		var holds []*Hold
		for k := range 3 {
			holds = append(holds, lockOf(t, c.NewLock(fmt.Sprintf("orders-%d-%d", i, k))))
		}
		var all sync.WaitGroup
		all.Go(func() { _ = c.Shutdown(context.Background()) })
		becomes(t, "Shutdown begins", func() bool {
			_, err := c.NewLock("orders").TryLock(t.Context())
			return errors.Is(err, ErrClosed)
		})
		for _, h := range holds {
			all.Go(func() { _ = h.Unlock(context.Background()) }) // fails if Close was first
		}
		busy(rand.N(100 * time.Microsecond))
		c.Close()
		all.Wait()
	}
}

// The client gives back a grant that nobody wants any more right behind its acquire.
func TestE2GrantsThatAreGivenBackLeaveNoTimers(t *testing.T) {
	t.Parallel()
	c := open(t, redistest.Start(t))
	for i := range 2000 {
		ctx, cancel := context.WithCancel(t.Context())
		var both sync.WaitGroup
		both.Go(func() {
			busy(rand.N(100 * time.Microsecond))
			cancel()
		})
		if h, err := c.NewLock(fmt.Sprintf("orders-%d", i)).Lock(ctx); err == nil {
			mustUnlock(t, h)
		}
		both.Wait()
	}
	becomes(t, "no timer is left, and no command under way", func() bool {
		timers, commands := c.s.UnderWay()
		return timers+commands == 0
	})
}
