package virtual_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlocktest/simnet"
	"github.com/rlock-go/redisson/rlocktest/simredis"
)

// openSlot is a cluster of two masters. The slot of the name leaves one of them, and never arrives.
type openSlot struct {
	*rig
	from, to *simredis.Server
	client   *rlock.Client
	slot     uint16
	lost     int // replies
}

// inOpenSlot plays a test with the object of a name, which is set before its slot is opened, and has moved or not.
func inOpenSlot(t *testing.T, name string, moved bool, set func(c *rlock.Client), test func(o *openSlot)) {
	t.Helper()
	inSplitSlot(t, name, func(string) bool { return moved }, set, test)
}

// inSplitSlot is inOpenSlot where some keys have moved.
func inSplitSlot(t *testing.T, name string, moved func(key string) bool, set func(c *rlock.Client), test func(o *openSlot)) {
	t.Helper()
	inCluster(t, name, func(o *openSlot) {
		set(o.client)
		o.opens(moved)
		test(o)
	})
}

// inCluster plays a test with a slot that is not opened yet.
func inCluster(t *testing.T, name string, test func(o *openSlot)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o := &openSlot{rig: &rig{T: t, world: simnet.New(1)}, slot: codec.Slot(name)}
		var c *simredis.Cluster
		o.at(func() { c = simredis.NewCluster(o.world, 2, 0) })
		time.Sleep(10 * time.Second)
		o.at(func() {
			o.from = c.Master(name)
			for _, s := range c.Masters() {
				if s != o.from {
					o.to = s
				}
			}
		})
		o.client = o.opened(c.URL(), 1)
		test(o)
	})
}

// opened opens a client on a host.
func (o *openSlot) opened(url string, on int) *rlock.Client {
	o.Helper()
	c := must(rlock.Open(context.Background(), url, rlock.WithDialer(o.world.Dialer(host(on)))))(o.rig)
	o.Cleanup(func() { _ = c.Close() })
	return c
}

// opens begins to move the slot, and moves some of its keys.
func (o *openSlot) opens(moved func(key string) bool) {
	o.Helper()
	o.at(func() {
		slot := fmt.Sprint(o.slot)
		id := func(s *simredis.Server) string { return fmt.Sprint(s.Command("MYID")) }
		for _, reply := range []any{o.to.Command("SETSLOT", slot, "IMPORTING", id(o.from)), o.from.Command("SETSLOT", slot, "MIGRATING", id(o.to))} {
			if reply != simredis.Status("OK") {
				o.Fatal(reply)
			}
		}
		for _, key := range o.keys(o.from) {
			if moved(key) {
				o.move(key)
			}
		}
	})
}

// keys are those of the slot that a server has.
func (o *openSlot) keys(s *simredis.Server) []string {
	return slices.DeleteFunc(s.Keys(), func(key string) bool { return codec.Slot(key) != o.slot })
}

// move moves a key.
func (o *openSlot) move(key string) {
	o.Helper()
	h, p, _ := strings.Cut(o.to.Addr, ":")
	if got := string(o.from.Session("10.9.0.1").Do("MIGRATE", h, p, key, "0", "5000")); !strings.HasPrefix(got, "+OK") {
		o.Fatal(got)
	}
}

// settle ends the move of the slot.
func (o *openSlot) settle() {
	o.Helper()
	o.at(func() {
		for _, key := range o.keys(o.from) {
			o.move(key)
		}
		to := fmt.Sprint(o.to.Command("MYID"))
		for _, s := range []*simredis.Server{o.to, o.from} {
			if reply := s.Command("SETSLOT", fmt.Sprint(o.slot), "NODE", to); reply != simredis.Status("OK") {
				o.Fatal(reply)
			}
		}
	})
	o.pass(5 * time.Second)
}

// loses makes the next run of a script with one key end its connection before the reply.
func (o *openSlot) loses() {
	o.at(func() {
		armed := true
		for _, s := range []*simredis.Server{o.from, o.to} {
			s.Ran = func(s *simredis.Server, client string, args []string, reply any) {
				if _, failed := reply.(simredis.Error); failed || !armed || args[0] != "EVALSHA" || args[2] != "1" {
					return
				}
				armed = false
				o.lost++
				for _, c := range o.world.Conns(func(c *simnet.Conn) bool { return c.Server() == s.Addr }) {
					c.Reset()
				}
			}
		}
	})
}

// Replies are lost while a slot is half moved. Each call counts once all the same, and leaves no receipt.
func TestChangesInAnOpenSlotCountOnceThoughRepliesAreLost(t *testing.T) {
	ctx := context.Background()
	for _, moved := range []bool{false, true} {
		for what, row := range map[string]struct {
			call func(o *openSlot) error
			want int64
		}{
			"release":    {func(o *openSlot) error { return o.client.NewSemaphore("seats").Release(ctx, 2) }, 5},
			"acquire":    {func(o *openSlot) error { return o.client.NewSemaphore("seats").Acquire(ctx, 2) }, 1},
			"add":        {func(o *openSlot) error { return o.client.NewSemaphore("seats").AddPermits(ctx, -1) }, 2},
			"count down": {func(o *openSlot) error { return o.client.NewCountDownLatch("seats").CountDown(ctx) }, 2},
		} {
			t.Run(fmt.Sprint(what, ", moved ", moved), func(t *testing.T) {
				set := func(c *rlock.Client) {
					if what == "count down" {
						must(c.NewCountDownLatch("seats").TrySetCount(ctx, 3))(&rig{T: t})
					} else {
						must(c.NewSemaphore("seats").TrySetPermits(ctx, 3))(&rig{T: t})
					}
				}
				inOpenSlot(t, "seats", moved, set, func(o *openSlot) {
					o.loses()
					began := time.Now()
					if err := row.call(o); err != nil {
						t.Error(err)
					}
					if took := time.Since(began); took > 5*time.Second || o.lost != 1 {
						t.Errorf("it took %v, and %d replies were lost", took, o.lost)
					}
					time.Sleep(5 * time.Second)
					o.at(func() {
						at := o.from
						if moved {
							at = o.to
						}
						if n, _ := at.Value("seats"); n != fmt.Sprint(row.want) {
							t.Errorf("the number is %s, not %d", n, row.want)
						}
						for _, s := range []*simredis.Server{o.from, o.to} {
							for _, key := range s.Keys() {
								if strings.Contains(key, "#") {
									t.Errorf("%s is left", key)
								}
							}
						}
					})
				})
			})
		}
	}
}

// A caller leaves while its acquire is on its way to a slot that is half moved. The permits come back.
func TestPermitsOfAnOpenSlotThatNobodyWantsComeBack(t *testing.T) {
	inOpenSlot(t, "seats", false, func(c *rlock.Client) {
		must(c.NewSemaphore("seats").TrySetPermits(context.Background(), 3))(&rig{T: t})
	}, func(o *openSlot) {
		granted := 0
		for i := range 200 {
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i)*20*time.Microsecond)
			if o.client.NewSemaphore("seats").Acquire(ctx, 1) == nil {
				granted++
				must(0, o.client.NewSemaphore("seats").Release(context.Background(), 1))(o.rig)
			}
			cancel()
		}
		time.Sleep(5 * time.Second)
		o.at(func() {
			if n, _ := o.from.Value("seats"); n != "3" || granted == 0 || granted == 200 {
				t.Errorf("%s permits of 3, %d grants", n, granted)
			}
		})
	})
}

// An owner of another client is released while its slot is half moved, wherever its lock is. That waits for the end of the move, for
// four command timeouts and a second at most, counts once, and changes nothing before.
func TestForeignOwnerInAnOpenSlotIsReleasedWhenTheSlotHasMoved(t *testing.T) {
	ctx := context.Background()
	for _, moved := range []bool{false, true} {
		for _, inTime := range []bool{true, false} {
			t.Run(fmt.Sprint("moved ", moved, ", in time ", inTime), func(t *testing.T) {
				var owner rlock.Owner
				set := func(c *rlock.Client) {
					owner = must(c.NewLock("orders").TryLock(ctx))(&rig{T: t}).Owner()
					must(c.NewLock("orders").TryLock(ctx, rlock.As(owner)))(&rig{T: t})
				}
				inOpenSlot(t, "orders", moved, set, func(o *openSlot) {
					other := must(rlock.Open(ctx, "redis+cluster://"+o.from.Addr, rlock.WithDialer(o.world.Dialer(host(2)))))(o.rig)
					defer other.Close()
					l := other.NewLock("orders")
					released := make(chan error, 1)
					began := time.Now()
					go func() { released <- l.UnlockAs(ctx, owner) }()
					time.Sleep(time.Second)
					if n := must(l.HoldCount(ctx, owner))(o.rig); n != 2 || len(released) > 0 {
						t.Errorf("%d holds during the move, %d answers", n, len(released))
					}
					if inTime {
						o.settle()
					}
					err := <-released
					switch took := time.Since(began); {
					case inTime && err != nil:
						t.Error(err)
					case !inTime && (!errors.Is(err, rlock.ErrUnavailable) || took > 13*time.Second):
						t.Errorf("after %v: %v", took, err)
					}
					if !inTime {
						o.settle()
						must(0, l.UnlockAs(ctx, owner))(o.rig)
					}
					if n := must(l.HoldCount(ctx, owner))(o.rig); n != 1 {
						t.Errorf("%d holds", n)
					}
				})
			})
		}
	}
}
