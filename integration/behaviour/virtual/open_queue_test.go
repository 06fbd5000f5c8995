package virtual_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// A free lock with a queue or a number is acquired and released while its slot is half moved, for the first time ever or not. Its
// owner enters again, others are told that it is taken, and the numbers go on.
func TestFreeLocksAreTakenInAnOpenSlot(t *testing.T) {
	for kind, of := range map[string]func(c *rlock.Client, name string) *rlock.Lock{"fair": fair, "fenced": (*rlock.Client).NewFencedLock} {
		for _, used := range []bool{false, true} {
			t.Run(fmt.Sprint(kind, ", used ", used), func(t *testing.T) {
				var last int64
				set := func(c *rlock.Client) {
					if used {
						h := must(of(c, "orders").TryLock(context.Background()))(&rig{T: t})
						last = h.Token()
						must(0, h.Unlock(context.Background()))(&rig{T: t})
					}
				}
				inOpenSlot(t, "orders", true, set, func(o *openSlot) {
					l := of(o.client, "orders")
					for range 3 {
						began := time.Now()
						h := must(l.TryLock(soon(o)))(o.rig)
						again := must(l.TryLock(soon(o), rlock.As(h.Owner())))(o.rig)
						if _, err := l.TryLock(soon(o)); !errors.Is(err, rlock.ErrLocked) {
							t.Error(err)
						}
						if kind == "fenced" {
							if again.Token() != last+2 {
								t.Errorf("the second token behind %d is %d", last, again.Token())
							}
							last = again.Token()
						}
						must(0, again.Unlock(soon(o)))(o.rig)
						must(0, h.Unlock(soon(o)))(o.rig)
						if took := since(began); took > time.Second {
							t.Errorf("it took %v", took)
						}
					}
					o.settle()
					h := must(l.TryLock(soon(o)))(o.rig)
					if kind == "fenced" && h.Token() != last+1 {
						t.Errorf("token %d behind %d", h.Token(), last)
					}
				})
			})
		}
	}
}

// While the number of the grants is where the slot leaves, nobody gets the free lock: the next number could be counted on no server.
// The caller gets it as soon as the slot has settled.
func TestFencedLockWaitsForItsNumber(t *testing.T) {
	var last int64
	inOpenSlot(t, "orders", false, func(c *rlock.Client) {
		h := must(c.NewFencedLock("orders").TryLock(context.Background()))(&rig{T: t})
		last = h.Token()
		must(0, h.Unlock(context.Background()))(&rig{T: t})
	}, func(o *openSlot) {
		l := o.client.NewFencedLock("orders")
		if _, err := l.TryLock(soon(o)); !errors.Is(err, rlock.ErrUnavailable) {
			t.Errorf("one attempt returned %v", err)
		}
		entered := make(chan *rlock.Hold, 1)
		go func() { entered <- must(l.Lock(context.Background()))(o.rig) }()
		o.pass(20 * time.Second)
		select {
		case <-entered:
			t.Error("it was granted")
		default:
		}
		began := time.Now()
		o.settle()
		if h := <-entered; h.Token() != last+1 || since(began) > 6*time.Second {
			t.Errorf("token %d behind %d, %v after the move", h.Token(), last, since(began))
		}
	})
}

// A fair lock is released while its slot is half moved, wherever the lock and the queue are. Who waits keeps its turn, and enters at
// once where the queue is beside the lock, or when the slot has settled. Nobody enters before.
func TestFairLockIsReleasedInAnOpenSlot(t *testing.T) {
	for split, row := range map[string]struct {
		moved  func(key string) bool
		passes bool // the next owner enters before the slot has settled
	}{
		"nothing has moved":   {func(string) bool { return false }, false},
		"all has moved":       {func(string) bool { return true }, true},
		"the lock has moved":  {func(key string) bool { return key == "orders" }, false},
		"the waiters moved":   {func(key string) bool { return key != "orders" }, true},
		"the queue has moved": {func(key string) bool { return strings.Contains(key, "queue") }, false},
		"the queue has not":   {func(key string) bool { return !strings.Contains(key, "queue") }, false},
	} {
		t.Run(split, func(t *testing.T) {
			var first *rlock.Hold
			order := make(chan int, 2)
			set := func(c *rlock.Client) {
				l := c.NewFairLock("orders")
				first = must(l.TryLock(context.Background()))(&rig{T: t})
				for i := range 2 {
					go func() {
						h := must(l.Lock(context.Background()))(&rig{T: t})
						order <- i
						time.Sleep(100 * time.Millisecond)
						must(0, h.Unlock(context.Background()))(&rig{T: t})
					}()
					time.Sleep(100 * time.Millisecond)
				}
			}
			inSplitSlot(t, "orders", row.moved, set, func(o *openSlot) {
				began := time.Now()
				must(0, first.Unlock(soon(o)))(o.rig)
				if took := since(began); took > time.Second {
					t.Errorf("the unlock took %v", took)
				}
				o.pass(20 * time.Second)
				if n := len(order); (n > 0) != row.passes {
					t.Errorf("%d have entered before the slot has settled", n)
				}
				began = time.Now()
				o.settle()
				for i := range 2 {
					if got := <-order; got != i {
						t.Errorf("%d entered as number %d", got, i)
					}
				}
				if took := since(began); took > 7*time.Second {
					t.Errorf("they entered %v after the move", took)
				}
			})
		})
	}
}

// A lock that is kept for the rest of an AtLeast is released while its slot is half moved. Nobody has it before that time is over,
// and the next one then. Where the slot leaves, it is kept by nobody before it has moved, since that server makes no key again.
func TestLockIsKeptInAnOpenSlot(t *testing.T) {
	for _, moved := range []bool{false, true} {
		for kind, of := range map[string]func(c *rlock.Client, name string) *rlock.Lock{"plain": plain, "fair": fair} {
			t.Run(fmt.Sprint(kind, ", moved ", moved), func(t *testing.T) {
				var h *rlock.Hold
				var began time.Time
				inOpenSlot(t, "orders", moved, func(c *rlock.Client) {
					began = time.Now()
					h = must(of(c, "orders").TryLock(context.Background(), rlock.AtLeast(30*time.Second)))(&rig{T: t})
				}, func(o *openSlot) {
					if err := h.Unlock(soon(o)); err != nil && !errors.Is(err, rlock.ErrUnavailable) {
						t.Error(err)
					}
					if _, err := of(o.client, "orders").TryLock(soon(o)); !errors.Is(err, rlock.ErrLocked) {
						t.Error(err)
					}
					o.settle()
					must(of(o.client, "orders").TryLockFor(context.Background(), time.Minute))(o.rig)
					if took := time.Since(began); took < 30*time.Second || took > 32*time.Second {
						t.Errorf("the next one had it %v after the acquire", took)
					}
				})
			})
		}
	}
}
