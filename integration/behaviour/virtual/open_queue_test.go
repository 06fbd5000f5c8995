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
						<-time.After(100 * time.Millisecond)
						must(0, h.Unlock(context.Background()))(&rig{T: t})
					}()
					<-time.After(100 * time.Millisecond)
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

// What needs keys of two servers, or one that the server which the slot leaves can't make, waits until the slot has settled, and
// goes on within a second then. Each change counts once.
func TestCallsGoOnWhenAnOpenSlotHasSettled(t *testing.T) {
	bg := context.Background()
	none, number := func(string) bool { return false }, func(key string) bool { return key == "orders" }
	var hold *rlock.Hold
	var permits *rlock.Permits
	locked := func(of func(c *rlock.Client, name string) *rlock.Lock) func(c *rlock.Client) {
		return func(c *rlock.Client) {
			hold = must(of(c, "orders").TryLock(bg))(&rig{T: t})
			_ = hold.Owner().String() // others may act as it
		}
	}
	taken := func(c *rlock.Client) {
		must(c.NewPermitSemaphore("orders").TrySetPermits(bg, 3))(&rig{T: t})
		permits = must(c.NewPermitSemaphore("orders").TryAcquire(bg, 1))(&rig{T: t})
	}
	for what, row := range map[string]struct {
		set   func(c *rlock.Client)
		moved func(key string) bool
		call  func(c *rlock.Client) error
		free  string // permits afterwards; "": there is no key
	}{
		"an unlock of an owner that others know": {locked(plain), none, func(*rlock.Client) error { return hold.Unlock(bg) }, ""},
		"a spin lock's":                          {locked((*rlock.Client).NewSpinLock), none, func(*rlock.Client) error { return hold.Unlock(bg) }, ""},
		"an acquire of permits whose number has moved": {taken, number, func(c *rlock.Client) error {
			_, err := c.NewPermitSemaphore("orders").Acquire(bg, 1)
			return err
		}, "1"},
		"a release of permits whose number has moved": {taken, number, func(*rlock.Client) error { return permits.Release(bg) }, "3"},
		"more permits": {taken, none, func(c *rlock.Client) error { return c.NewPermitSemaphore("orders").AddPermits(bg, 2) }, "4"},
	} {
		t.Run(what, func(t *testing.T) {
			inSplitSlot(t, "orders", row.moved, row.set, func(o *openSlot) {
				done := make(chan error, 1)
				var ended time.Time
				go func() {
					err := row.call(o.client)
					ended = time.Now()
					done <- err
				}()
				o.pass(3 * time.Second)
				select {
				case err := <-done:
					t.Errorf("it returned before the slot has settled: %v", err)
				default:
				}
				began := time.Now()
				o.settle()
				if err := <-done; err != nil || ended.Sub(began) > time.Second {
					t.Errorf("%v, %v after the move", err, ended.Sub(began))
				}
				o.at(func() {
					if n, _ := o.to.Value("orders"); n != row.free || row.free == "" && o.to.Exists("orders") {
						t.Errorf("%q permits are free, not %q", n, row.free)
					}
				})
			})
		})
	}
}

// A re-entry that waits until the slot has settled keeps nobody from renewing the hold.
func TestHoldIsRenewedWhileAReentryWaitsForItsNumber(t *testing.T) {
	var outer *rlock.Hold
	inSplitSlot(t, "orders", func(key string) bool { return key == "orders" }, func(c *rlock.Client) {
		outer = must(c.NewFencedLock("orders").TryLock(context.Background()))(&rig{T: t})
	}, func(o *openSlot) {
		entered, last := make(chan *rlock.Hold, 1), outer.Token()
		go func() {
			entered <- must(o.client.NewFencedLock("orders").Lock(context.Background(), rlock.As(outer.Owner())))(o.rig)
		}()
		o.pass(2 * time.Minute)
		if err := outer.Err(); err != nil || len(entered) > 0 {
			t.Error(err)
		}
		o.settle()
		if h := <-entered; h.Token() != last+1 {
			t.Errorf("token %d behind %d", h.Token(), last)
		}
	})
}
