package rlock

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/internal/stalls"
)

// The release waits for its owner's earlier command, which is answered within the command timeout that Close waits.
func TestE1CloseSendsAReleaseThatIsInTheCommandQueue(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s)
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
		busy, queued, _ := h.h.OwnerSnapshot()
		return busy && queued == behind
	})
}

// Close and Shutdown wait for the same work to end.
func TestE1CloseBesideShutdownIsAsQuick(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	for i := range 50 {
		c := open(t, s)
		var holds []*Hold
		for k := range 3 {
			holds = append(holds, lockOf(t, c.NewLock(fmt.Sprintf("orders-%d-%d", i, k))))
		}
		var all sync.WaitGroup
		all.Go(func() { _ = c.Shutdown(context.Background()) })
		time.Sleep(time.Millisecond)
		for _, h := range holds {
			all.Go(func() { _ = h.Unlock(context.Background()) }) // fails if Close was first
		}
		busy(rand.N(100 * time.Microsecond))
		began := time.Now()
		c.Close()
		took := time.Since(began)
		all.Wait()
		if took > time.Second {
			t.Fatalf("round %d: Close took %v", i, took)
		}
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

// Only redigo can interrupt a call on a pool's connection, so Close waits for the call to end.
func TestE1CloseOverAPoolIsBoundedWhenTheServerIsSilent(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "Close takes a command timeout")
	const timeout = 2 * time.Second
	s := redistest.Start(t)
	pool := &redis.Pool{MaxIdle: 4, Dial: func() (redis.Conn, error) {
		return redis.Dial("tcp", s.Addr(), redis.DialReadTimeout(timeout), redis.DialWriteTimeout(timeout))
	}}
	defer pool.Close()
	c, err := New(pool, WithCommandTimeout(timeout))
	if err != nil {
		t.Fatal(err)
	}
	l := c.NewLock("orders")
	lockOf(t, l)
	var all sync.WaitGroup
	all.Go(func() { _, _ = l.Lock(context.Background()) })
	awaitListening(t, c, l.Name())
	s.Pause()
	defer s.Resume()
	all.Go(func() { _, _ = c.NewLock("others").TryLock(context.Background()) })
	all.Go(func() { _, _ = c.NewLock("more").TryLock(context.Background()) })
	becomes(t, "two commands are under way", func() bool { _, commands := c.s.UnderWay(); return commands >= 2 })
	began := time.Now()
	c.Close()
	// A command in flight gets one command timeout.
	if took := time.Since(began); took > timeout+soon+stalls.Since(began) {
		t.Errorf("Close took %v", took)
	}
	all.Wait()
}
