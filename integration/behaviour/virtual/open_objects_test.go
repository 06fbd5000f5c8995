package virtual_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/rlock"
)

// both has o's client and another one, of which the other one waits when the slot is opened.
type both struct {
	*openSlot
	a, b *rlock.Client
	hold *rlock.Hold // a's
}

// told runs give 2 s after take has begun to wait, and returns their errors once both have ended.
func (o *openSlot) told(take, give func() error) error {
	took := make(chan error, 1)
	go func() { took <- take() }()
	o.pass(2 * time.Second)
	if len(took) > 0 {
		return fmt.Errorf("nothing was waited for: %w", <-took)
	}
	began := time.Now()
	err := errors.Join(give(), <-took)
	if waited := since(began); waited > time.Second {
		err = errors.Join(err, fmt.Errorf("it was woken after %v", waited))
	}
	return err
}

// is fails unless a call has returned what it should.
func is[T comparable](want T) func(got T, err error) error {
	return func(got T, err error) error {
		if got != want {
			err = errors.Join(err, fmt.Errorf("%v, not %v", got, want))
		}
		return err
	}
}

// What needs keys of one server, all of which are there or have moved, is done at once while its slot is half moved. Waiters are
// woken, and no receipt stays.
func TestObjectsAreUsedInAnOpenSlot(t *testing.T) {
	bg := context.Background()
	locked := func(o *both) { o.hold = must(o.a.NewLock("orders").TryLock(bg))(o.rig) }
	waits := func(o *both) func() error {
		return func() error { return o.b.NewLock("orders").Do(soon(o.openSlot), nothing) }
	}
	for what, row := range map[string]struct {
		set     func(o *both)
		use     func(o *both) error
		unmoved bool // or there is nothing to move
		moved   bool
	}{
		"semaphore": {func(o *both) {
			must(o.a.NewSemaphore("orders").TrySetPermits(bg, 3))(o.rig)
			must(0, o.a.NewSemaphore("orders").Acquire(bg, 2))(o.rig)
		}, func(o *both) error {
			s, ctx := o.a.NewSemaphore("orders"), soon(o.openSlot)
			err := errors.Join(
				o.told(func() error { return o.b.NewSemaphore("orders").Acquire(ctx, 2) }, func() error { return s.Release(ctx, 1) }),
				s.Release(ctx, 3), s.TryAcquire(ctx, 1), is(2)(s.Available(ctx)), s.AddPermits(ctx, 2), is(4)(s.Drain(ctx)),
				is(true)(s.ReleaseIfExists(ctx, 4)))
			for range 20 {
				err = errors.Join(err, s.Do(ctx, 1, nothing))
			}
			return err
		}, true, true},
		"a new semaphore": {nil, func(o *both) error {
			s, ctx := o.a.NewSemaphore("orders"), soon(o.openSlot)
			return errors.Join(is(true)(s.TrySetPermits(ctx, 1)), s.Do(ctx, 1, nothing), s.AddPermits(ctx, 1), is(2)(s.Drain(ctx)),
				is(true)(s.Delete(ctx)))
		}, true, false},
		"Java's semaphore": {func(o *both) { o.at(func() { operate(o.from, "SET", "orders", "1") }) }, func(o *both) error {
			s, ctx := o.a.NewSemaphore("orders"), soon(o.openSlot)
			return errors.Join(s.Release(ctx, 1), s.TryAcquire(ctx, 2), is(true)(s.Delete(ctx)))
		}, true, true},
		"latch": {func(o *both) { must(o.a.NewCountDownLatch("orders").TrySetCount(bg, 2))(o.rig) }, func(o *both) error {
			l, ctx := o.a.NewCountDownLatch("orders"), soon(o.openSlot)
			return errors.Join(l.CountDown(ctx),
				o.told(func() error { return o.b.NewCountDownLatch("orders").Await(ctx) }, func() error { return l.CountDown(ctx) }))
		}, true, true},
		"Java's latch": {func(o *both) { o.at(func() { operate(o.from, "SET", "orders", "1") }) }, func(o *both) error {
			l, ctx := o.a.NewCountDownLatch("orders"), soon(o.openSlot)
			return errors.Join(l.CountDown(ctx), l.Await(ctx))
		}, true, true},
		"permits": {func(o *both) { must(o.a.NewPermitSemaphore("orders").TrySetPermits(bg, 3))(o.rig) }, func(o *both) (err error) {
			for range 2 { // nobody has any at first
				p := must(o.a.NewPermitSemaphore("orders").Acquire(soon(o.openSlot), 3))(o.rig)
				if _, none := o.b.NewPermitSemaphore("orders").TryAcquire(soon(o.openSlot), 1); !errors.Is(none, rlock.ErrNoPermits) {
					err = errors.Join(err, fmt.Errorf("of none: %w", none))
				}
				err = errors.Join(err, p.Release(soon(o.openSlot)))
			}
			return err
		}, false, true},
		"readers of a free lock": {nil, func(o *both) (err error) {
			var all []*rlock.Hold
			for range 5 {
				all = append(all, must(o.a.NewReadWriteLock("orders").ReadLock().TryLock(soon(o.openSlot)))(o.rig))
			}
			if _, taken := o.b.NewReadWriteLock("orders").WriteLock().TryLock(soon(o.openSlot)); !errors.Is(taken, rlock.ErrLocked) {
				err = fmt.Errorf("to write: %w", taken)
			}
			for _, h := range all {
				err = errors.Join(err, h.Unlock(soon(o.openSlot)))
			}
			return err
		}, true, false},
		"an unlock": {locked, func(o *both) error {
			return o.told(waits(o), func() error { return o.hold.Unlock(soon(o.openSlot)) })
		}, true, true},
		"a force unlock": {locked, func(o *both) error {
			return o.told(waits(o), func() error { return is(true)(o.a.NewLock("orders").ForceUnlock(soon(o.openSlot))) })
		}, true, true},
		"a force unlock of a free lock": {nil, func(o *both) error {
			return is(false)(o.a.NewLock("orders").ForceUnlock(soon(o.openSlot)))
		}, true, false},
	} {
		for _, moved := range []bool{false, true} {
			if moved && !row.moved || !moved && !row.unmoved {
				continue
			}
			t.Run(fmt.Sprint(what, ", moved ", moved), func(t *testing.T) {
				inCluster(t, "orders", func(o *openSlot) {
					all := &both{o, o.client, o.opened("redis+cluster://"+o.from.Addr, 2), nil}
					if row.set != nil {
						row.set(all)
					}
					o.opens(func(string) bool { return moved })
					began := time.Now()
					if err := row.use(all); err != nil || since(began) > 4*time.Second {
						t.Errorf("after %v: %v", since(began), err)
					}
					o.pass(5 * time.Second)
					o.at(func() {
						for _, key := range append(o.from.Keys(), o.to.Keys()...) {
							if strings.Contains(key, "#") {
								t.Errorf("%s is left", key)
							}
						}
					})
				})
			})
		}
	}
}

// The only place in a fair lock's queue has expired, or all permits that were taken, so the script deletes the key that it
// would add to next. Where the slot leaves it may not make the key again. The undo needs all keys too, and the caller outlasts it.
func TestAcquireThatMeetsAKeyElsewhereIsTriedAgain(t *testing.T) {
	for what, row := range map[string]struct {
		there [][]string
		gone  string
		do    func(c *rlock.Client) error
		left  string // permits
		waits time.Duration
	}{
		"fair": {
			[][]string{{"HSET", "orders", "somebody", "1"}, {"RPUSH", codec.FairQueue("orders"), "dead"}, {"ZADD", codec.FairTimes("orders"), "1", "dead"}},
			codec.FairQueue("orders"),
			func(c *rlock.Client) error { return c.NewFairLock("orders").Do(context.Background(), nothing) }, "", 20 * time.Second,
		},
		"permits": {
			[][]string{{"SET", "orders", "0"}, {"ZADD", codec.PermitTimes("orders"), "1", "0123456789abcde1", "1", "0123456789abcde2"}},
			codec.PermitTimes("orders"),
			func(c *rlock.Client) error {
				return c.NewPermitSemaphore("orders").Do(context.Background(), 2, nothing)
			}, "2", 100 * time.Millisecond,
		},
	} {
		t.Run(what, func(t *testing.T) {
			inCluster(t, "orders", func(o *openSlot) {
				must(o.client.NewPermitSemaphore("orders").TrySetPermits(context.Background(), 2))(o.rig)
				o.at(func() {
					operate(o.from, "DEL", "orders")
					for _, args := range row.there {
						operate(o.from, args...)
					}
				})
				o.opens(func(string) bool { return false })
				entered := make(chan error, 1)
				go func() { entered <- row.do(o.client) }()
				o.pass(row.waits)
				o.at(func() {
					if o.from.Exists(row.gone) || len(entered) > 0 {
						t.Error("it met no key elsewhere, or does not wait")
					}
				})
				o.settle()
				o.at(func() {
					if row.left == "" {
						operate(o.to, "DEL", "orders")
					}
				})
				o.pass(time.Minute)
				if err := <-entered; err != nil {
					t.Error(err)
				}
				o.at(func() {
					if n, _ := o.to.Value("orders"); n != row.left {
						t.Errorf("%q permits are free, not %q", n, row.left)
					}
				})
			})
		})
	}
}

// A batch of renewals has keys at both servers, and each lease is renewed where its lock is.
func TestLeasesOfASlotInTwoPlacesAreRenewedOneByOne(t *testing.T) {
	inCluster(t, "{orders}", func(o *openSlot) {
		var holds []*rlock.Hold
		for i := range 20 {
			holds = append(holds, must(o.client.NewLock(fmt.Sprint("{orders}", i)).TryLock(context.Background()))(o.rig))
		}
		o.opens(func(key string) bool { return strings.HasSuffix(key, "1") })
		o.pass(time.Minute)
		for _, h := range holds {
			must(0, errors.Join(h.Err(), h.Unlock(soon(o))))(o.rig)
		}
	})
}
