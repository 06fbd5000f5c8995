package rlock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// semaphore sets n permits on the server.
func semaphore(t *testing.T, c *Client, n int) *PermitSemaphore {
	t.Helper()
	s := c.NewPermitSemaphore("seats")
	if first, err := s.TrySetPermits(t.Context(), n); !first || err != nil {
		t.Fatalf("to set the permits: %v, %v", first, err)
	}
	return s
}

// permitsOf acquires n permits.
func permitsOf(t *testing.T, s *PermitSemaphore, n int, opts ...PermitOption) *Permits {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*soon)
	defer cancel()
	p, err := s.Acquire(ctx, n, opts...)
	if err != nil {
		t.Error(err)
		return new(Permits)
	}
	return p
}

func giveUp(t *testing.T, p *Permits) {
	t.Helper()
	if err := p.Release(context.Background()); err != nil {
		t.Error(err)
	}
}

// seatsAre checks how many permits are free and taken.
func seatsAre(t *testing.T, s *PermitSemaphore, free, taken int) {
	t.Helper()
	f, err1 := s.Available(context.Background())
	n, err2 := s.Acquired(context.Background())
	all, err3 := s.Total(context.Background())
	if err := errors.Join(err1, err2, err3); f != free || n != taken || all != free+taken || err != nil {
		t.Errorf("%d free, %d taken, %d in all, %v; want %d and %d", f, n, all, err, free, taken)
	}
}

// neverMoreThan3 makes twelve goroutines take and give back some of three permits, each by do.
func neverMoreThan3(t *testing.T, do func(i, n int, fn func(context.Context) error) error) {
	t.Helper()
	var inside atomic.Int32
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			for range 20 {
				n := 1 + i%3
				err := do(i, n, func(context.Context) error {
					if now := inside.Add(int32(n)); now > 3 {
						t.Errorf("%d permits are taken at once", now)
					}
					inside.Add(int32(-n))
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func TestNeverMorePermitsThanThereAre(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	sems := []*PermitSemaphore{semaphore(t, open(t, s), 3), open(t, s).NewPermitSemaphore("seats")}
	neverMoreThan3(t, func(i, n int, fn func(context.Context) error) error { return sems[i%2].Do(context.Background(), n, fn) })
	seatsAre(t, sems[0], 3, 0)
}

func TestPermitsAreTakenTogetherOrNotAtAll(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	a, b := open(t, s), open(t, s)
	sem := semaphore(t, a, 3)
	two := permitsOf(t, sem, 2)
	ids := two.IDs()
	if len(ids) != 2 || ids[0] == ids[1] || len(ids[0]) != 32 {
		t.Errorf("ids %q", ids)
	}
	seatsAre(t, sem, 1, 2)
	if _, err := b.NewPermitSemaphore("seats").TryAcquire(t.Context(), 2); !errors.Is(err, ErrNoPermits) || errors.Is(err, ErrLocked) {
		t.Errorf("two of one: %v", err)
	}
	if _, err := sem.TryAcquireFor(t.Context(), 2, 2*time.Second); !errors.Is(err, ErrNoPermits) {
		t.Errorf("two of one, after a wait: %v", err)
	}
	if _, err := sem.Acquire(t.Context(), 2, Wait(2*time.Second)); !errors.Is(err, ErrNoPermits) {
		t.Errorf("two of one, after a wait: %v", err)
	}
	one, err := sem.TryAcquire(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	seatsAre(t, sem, 0, 3)
	giveUp(t, two)
	seatsAre(t, sem, 2, 1)
	if err := two.Release(t.Context()); !errors.Is(err, ErrReleased) {
		t.Errorf("released twice: %v", err)
	}
	giveUp(t, one)
	seatsAre(t, sem, 3, 0)
}

func TestWaiterForPermitsIsWoken(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	a, b := open(t, s), open(t, s)
	sem := semaphore(t, a, 2)
	held := permitsOf(t, sem, 2)
	many, few := make(chan *Permits, 1), make(chan *Permits, 1)
	other := b.NewPermitSemaphore("seats")
	go func() { many <- permitsOf(t, other, 3) }()
	awaitWaiting(t, &other.lock, 1)
	go func() { few <- permitsOf(t, other, 2) }()
	awaitWaiting(t, &other.lock, 2)
	giveUp(t, held)
	p := <-few // it queued behind a waiter for more than are free
	giveUp(t, p)
	if err := sem.AddPermits(t.Context(), 1); err != nil {
		t.Error(err)
	}
	giveUp(t, <-many)
	seatsAre(t, sem, 3, 0)
}

// awaitWaiting waits until n callers of the client wait, subscribed and with no attempt in flight.
func awaitWaiting(t *testing.T, l *Lock, n int) {
	t.Helper()
	becomes(t, "callers that wait", func() bool {
		now := l.l.Snapshot()
		return now.Waiting == n && now.Listening && !now.InFlight
	})
}

func TestPermitsByTheirIDs(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	a, b := open(t, s), open(t, s)
	sem, other := semaphore(t, a, 5), b.NewPermitSemaphore("seats")
	p := permitsOf(t, sem, 2)
	ids := p.IDs()
	if left, err := other.LeaseOf(t.Context(), ids[1]); err != nil || left <= 0 || left > 30*time.Second {
		t.Errorf("a lease of %v, %v", left, err)
	}
	if err := other.SetLease(t.Context(), ids[1], time.Minute); err != nil {
		t.Error(err)
	}
	if left, err := sem.LeaseOf(t.Context(), ids[1]); err != nil || left <= 30*time.Second {
		t.Errorf("a lease of %v, %v", left, err)
	}
	unknown := "0123456789abcdef0123456789abcdef"
	if err := other.ReleaseIDs(t.Context(), ids[0], unknown); !errors.Is(err, ErrNotHeld) {
		t.Errorf("with an unknown id: %v", err)
	}
	seatsAre(t, sem, 3, 2)
	for what, err := range map[string]error{
		"one of this client's": sem.ReleaseIDs(t.Context(), ids[0]),
		"its lease":            sem.SetLease(t.Context(), ids[0], time.Second),
		"none":                 other.ReleaseIDs(t.Context()),
		"one twice":            other.ReleaseIDs(t.Context(), unknown, unknown),
		"no id":                other.ReleaseIDs(t.Context(), unknown[1:]),
		"no lease":             other.SetLease(t.Context(), ids[0], 0),
	} {
		if !errors.Is(err, ErrInvalidOption) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := other.ReleaseIDs(t.Context(), ids...); err != nil {
		t.Error(err)
	}
	seatsAre(t, sem, 5, 0)
	if err := p.Release(t.Context()); !errors.Is(err, ErrNotHeld) {
		t.Errorf("after another has released it: %v", err)
	}
	seatsAre(t, sem, 5, 0)
	if _, err := sem.LeaseOf(t.Context(), ids[0]); !errors.Is(err, ErrNotHeld) {
		t.Errorf("the lease of none: %v", err)
	}
	if err := other.SetLease(t.Context(), ids[0], time.Second); !errors.Is(err, ErrNotHeld) {
		t.Errorf("the lease of none: %v", err)
	}
	// Entries without an end, as Redisson before 3.21 wrote them.
	for i := range 2 {
		id := fmt.Sprintf("%032x", 0xf00+i)
		if _, err := conn.Do("ZADD", "{seats}:timeout", int64(922337203685477), id); err != nil {
			t.Fatal(err)
		}
		if left, err := sem.LeaseOf(t.Context(), id); left != NoExpiry || err != nil {
			t.Errorf("a lease of %v, %v", left, err)
		}
		if err := sem.ReleaseIDs(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
	seatsAre(t, sem, 7, 0)
	nothingButLeft(t, conn, "seats")
}

// nothingButLeft waits until the server has this key only: receipts are deleted a little later.
func nothingButLeft(t *testing.T, conn redis.Conn, key string) {
	t.Helper()
	if _, err := conn.Do("DEL", codec.Latch(key, "begun")); err != nil { // the receipt of setting the permits
		t.Fatal(err)
	}
	becomes(t, "a server with one key", func() bool {
		keys, err := redis.Strings(conn.Do("KEYS", "*"))
		return err == nil && slices.Equal(keys, []string{key})
	})
}

func TestPermitsAreSetAndAdded(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	sem := semaphore(t, open(t, s), 2)
	if first, err := sem.TrySetPermits(t.Context(), 5); first || err != nil {
		t.Errorf("set twice: %v, %v", first, err)
	}
	p := permitsOf(t, sem, 2)
	if err := sem.SetPermits(t.Context(), 1); err != nil {
		t.Error(err)
	}
	seatsAre(t, sem, -1, 2)
	if err := sem.AddPermits(t.Context(), -1); err != nil {
		t.Error(err)
	}
	seatsAre(t, sem, -2, 2)
	giveUp(t, p)
	seatsAre(t, sem, 0, 0)
	if err := sem.AddPermits(t.Context(), 4); err != nil {
		t.Error(err)
	}
	seatsAre(t, sem, 4, 0)
	nothingButLeft(t, conn, "seats")
	p = permitsOf(t, sem, 1)
	if was, err := sem.Delete(t.Context()); !was || err != nil {
		t.Errorf("deleted: %v, %v", was, err)
	}
	if err := p.Err(); !errors.Is(err, ErrLeaseLost) {
		t.Errorf("deleted permits: %v", err)
	}
	if was, err := sem.Delete(t.Context()); was || err != nil {
		t.Errorf("deleted again: %v, %v", was, err)
	}
	seatsAre(t, sem, 0, 0)
	if n, err := redis.Int(conn.Do("EXISTS", "seats", codec.PermitTimes("seats"))); n != 0 || err != nil {
		t.Errorf("%d keys, %v", n, err)
	}
}
