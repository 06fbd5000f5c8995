package virtual_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlocktest/simredis"
)

// splits are which of a read-write lock's keys have moved: the lock, and the keys of the holds to read.
var splits = map[string]func(key string) bool{
	"nothing has moved":     func(string) bool { return false },
	"all has moved":         func(string) bool { return true },
	"the lock has moved":    func(key string) bool { return !strings.Contains(key, "rwlock_timeout") },
	"the holds have moved":  func(key string) bool { return strings.Contains(key, "rwlock_timeout") },
	"the first hold moved":  func(key string) bool { return strings.HasSuffix(key, ":1") },
	"the second hold moved": func(key string) bool { return strings.HasSuffix(key, ":2") },
}

// soon is a context in which a call must end, though the slot never settles.
func soon(o *openSlot) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	o.Cleanup(cancel)
	return ctx
}

// triedAgain counts the commands that are answered TRYAGAIN from now on.
func (o *openSlot) triedAgain() *int {
	n := 0
	o.at(func() {
		for _, s := range []*simredis.Server{o.from, o.to} {
			s.Ran = func(_ *simredis.Server, _ string, _ []string, reply any) {
				if err, failed := reply.(simredis.Error); failed && strings.HasPrefix(string(err), "TRYAGAIN") {
					n++
				}
			}
		}
	})
	return &n
}

// Readers and writers leave while their slot is half moved, wherever the lock and the keys of its holds are. Who reads stays inside,
// and a writer enters behind the last of them.
func TestReadersAndWritersLeaveAnOpenSlot(t *testing.T) {
	for split, moved := range splits {
		for _, writes := range []bool{false, true} {
			t.Run(fmt.Sprint(split, ", written ", writes), func(t *testing.T) {
				var outer, inner, other *rlock.Hold
				set := func(c *rlock.Client) {
					rw, ctx := c.NewReadWriteLock("orders"), context.Background()
					if writes {
						outer = must(rw.WriteLock().TryLock(ctx))(&rig{T: t})
						other = must(rw.ReadLock().TryLock(ctx, rlock.As(outer.Owner())))(&rig{T: t})
					} else {
						outer = must(rw.ReadLock().TryLock(ctx))(&rig{T: t})
						other = must(rw.ReadLock().TryLock(ctx))(&rig{T: t})
					}
					inner = must(rw.ReadLock().TryLock(ctx, rlock.As(outer.Owner())))(&rig{T: t})
				}
				inSplitSlot(t, "orders", moved, set, func(o *openSlot) {
					write := o.client.NewReadWriteLock("orders").WriteLock()
					for _, h := range []*rlock.Hold{outer, inner} {
						must(0, h.Unlock(soon(o)))(o.rig)
						if other.Err() != nil {
							t.Fatal(other.Err())
						}
						if _, err := write.TryLock(soon(o)); err == nil {
							t.Fatal("a writer has entered beside a reader")
						}
					}
					var fields []string
					o.at(func() {
						for _, s := range []*simredis.Server{o.from, o.to} {
							fields = append(fields, s.Fields("orders")...)
						}
					})
					if len(fields) != 2 {
						t.Errorf("the lock has the fields %q, not the mode and a reader", fields)
					}
					must(0, other.Unlock(soon(o)))(o.rig)
					h := must(write.TryLock(soon(o)))(o.rig)
					must(0, h.Unlock(soon(o)))(o.rig)
					o.settle()
					o.pass(time.Minute) // by then what stayed behind on the other server is over
					o.at(func() {
						if left := append(o.keys(o.from), o.keys(o.to)...); len(left) > 0 {
							t.Errorf("%q are left", left)
						}
					})
				})
			})
		}
	}
}

// Readers enter while their slot is half moved, wherever the lock and the keys of its holds are, and their holds are renewed for as
// long as that lasts. Their keys are there when the slot has settled, so that others see them.
func TestReadersEnterAnOpenSlotAndStay(t *testing.T) {
	for split, moved := range splits {
		for _, writes := range []bool{false, true} {
			t.Run(fmt.Sprint(split, ", written ", writes), func(t *testing.T) {
				var first, second *rlock.Hold
				set := func(c *rlock.Client) {
					rw, ctx := c.NewReadWriteLock("orders"), context.Background()
					if writes {
						first = must(rw.WriteLock().TryLock(ctx))(&rig{T: t})
					} else {
						first = must(rw.ReadLock().TryLock(ctx))(&rig{T: t})
					}
					second = must(rw.ReadLock().TryLock(ctx, rlock.As(first.Owner())))(&rig{T: t})
				}
				inSplitSlot(t, "orders", moved, set, func(o *openSlot) {
					rw := o.client.NewReadWriteLock("orders")
					third := must(rw.ReadLock().TryLock(soon(o), rlock.As(first.Owner())))(o.rig)
					holds := []*rlock.Hold{first, second, third}
					want := 2
					if !writes {
						holds = append(holds, must(rw.ReadLock().TryLock(soon(o)))(o.rig), must(rw.ReadLock().TryLock(soon(o), rlock.Lease(5*time.Minute)))(o.rig))
						want = 5
					}
					again := o.triedAgain()
					o.pass(45 * time.Second) // longer than a lease
					if split == "all has moved" && *again > 0 {
						t.Errorf("%d renewals named a key that is not there", *again)
					}
					o.settle()
					for _, h := range holds {
						if h.Err() != nil {
							t.Error(h.Err())
						}
					}
					var keys []string
					o.at(func() { keys = o.keys(o.to) })
					if n := len(keys) - 1; n != want {
						t.Errorf("%d keys of holds of %d: %q", n, want, keys)
					}
					for _, h := range holds {
						must(0, h.Unlock(soon(o)))(o.rig)
					}
					o.at(func() {
						if left := append(o.keys(o.from), o.keys(o.to)...); len(left) > 0 {
							t.Errorf("%q are left", left)
						}
					})
				})
			})
		}
	}
}
