package virtual_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlocktest/simnet"
	"github.com/rlock-go/redisson/rlocktest/simredis"
)

// Another owner gets in before the acquire is sent again, because it had not run, or because what it got was gone. The caller waits
// for it.
func TestLostAcquireFindsAnotherOwner(t *testing.T) {
	const other = "7d444840-9dc0-41d1-b245-5ffdce74fad2:1"
	for _, ran := range []bool{true, false} {
		t.Run(fmt.Sprint("ran ", ran), func(t *testing.T) {
			eachKind(t, func(r *rig, l *rlock.Lock, c *rlock.Client, field string) {
				enters := func(do func(args ...string)) {
					do("FLUSHALL")
					if _, of := kinds["write"]; of && (field != "" || strings.HasSuffix(r.Name(), "read")) {
						do("HSET", "orders", "mode", "write", other+":write", "1")
					} else {
						do("HSET", "orders", other, "1")
					}
					do("PEXPIRE", "orders", "5000")
				}
				seen := r.lose(c, loss{ran, enters})
				began := time.Now()
				h := must(l.Lock(context.Background()))(r)
				if took := since(began); took < 4900*time.Millisecond || took > 12*time.Second {
					r.Errorf("it took %v", took)
				}
				if seen.again != 1 || r.count(h.Owner().String(), field) != "1" {
					r.Errorf("%+v, and the owner holds %s", *seen, r.count(h.Owner().String(), field))
				}
				must(0, h.Unlock(context.Background()))(r)
				r.free()
			})
		})
	}
}

// Behind a failover the server lacks all that the owner had. Its other holds end, and the caller's is the only one.
func TestLostReentryEndsTheHoldsThatAreGone(t *testing.T) {
	ctx := context.Background()
	for _, ran := range []bool{true, false} {
		t.Run(fmt.Sprint("ran ", ran), func(t *testing.T) {
			eachKind(t, func(r *rig, l *rlock.Lock, c *rlock.Client, field string) {
				o := c.NewOwner()
				outer := must(l.TryLock(ctx, rlock.As(o)))(r)
				seen := r.lose(c, loss{ran, func(do func(args ...string)) { do("FLUSHALL") }})
				inner := must(l.Lock(ctx, rlock.As(o)))(r)
				if !errors.Is(outer.Err(), rlock.ErrLeaseLost) || inner.Err() != nil || seen.again != 1 {
					r.Errorf("the outer hold: %v; the inner one: %v; %+v", outer.Err(), inner.Err(), *seen)
				}
				if n := r.count(seen.owners[0], field); n != "1" {
					r.Errorf("the server counts %s", n)
				}
				if err := outer.Unlock(ctx); !errors.Is(err, rlock.ErrLeaseLost) {
					r.Error(err)
				}
				if inner.Err() != nil || r.count(seen.owners[0], field) != "1" {
					r.Errorf("behind the unlock of the outer hold: %v, and the server counts %s", inner.Err(), r.count(seen.owners[0], field))
				}
				must(0, inner.Unlock(ctx))(r)
				r.free()
			})
		})
	}
}

// The caller leaves while its acquire has no answer: before the client can send it again, or while the repetition is on its way.
// Nothing is left of it, and the error does not say that it was never sent.
func TestLostAcquireOfACallerThatLeftIsGivenBack(t *testing.T) {
	for _, ran := range []bool{true, false} {
		for _, after := range []time.Duration{0, 50 * time.Microsecond, 150 * time.Microsecond, 250 * time.Microsecond, 350 * time.Microsecond, 450 * time.Microsecond, time.Millisecond, time.Second} {
			t.Run(fmt.Sprintf("ran %v, left after %v", ran, after), func(t *testing.T) {
				eachKind(t, func(r *rig, l *rlock.Lock, c *rlock.Client, field string) {
					ctx, cancel := context.WithCancel(context.Background())
					left := make(chan struct{})
					seen := r.lose(c, loss{ran, func(func(args ...string)) {
						if after == time.Second { // and nobody can connect
							r.world.Block(host(1), address, true)
						}
						time.AfterFunc(after, func() { cancel(); close(left) })
					}})
					h, err := l.Lock(ctx)
					if h == nil && (!errors.Is(err, context.Canceled) || errors.Is(err, rlock.ErrUnavailable)) {
						r.Error(err)
					}
					<-left
					if h != nil {
						must(0, h.Unlock(context.Background()))(r)
					}
					r.pass(time.Second)
					r.at(func() { r.world.Block(host(1), address, false) })
					r.pass(10 * time.Second)
					if seen.lost != 1 {
						r.Errorf("%+v", *seen)
					}
					r.free()
				})
			})
		}
	}
}

// A waiter of a fair lock keeps its place, whether the lost acquire queued it or got the lock.
func TestFairWaiterKeepsItsPlaceThoughRepliesAreLost(t *testing.T) {
	ctx := context.Background()
	for how, lost := range losses {
		for _, granted := range []bool{false, true} {
			t.Run(fmt.Sprint(how, ", granted ", granted), func(t *testing.T) {
				inBubble(t, func(r *rig) {
					c, other := r.open(), r.open()
					held := must(other.NewFairLock("orders").TryLock(ctx))(r)
					order := make(chan string, 2)
					enter := func(who string, c *rlock.Client) {
						h, err := c.NewFairLock("orders").Lock(ctx)
						order <- who
						if err == nil {
							err = h.Unlock(ctx)
						}
						if err != nil {
							t.Error(err)
						}
					}
					var seen *acquires
					if !granted {
						seen = r.lose(c, lost...)
					}
					go enter("first", c)
					r.pass(time.Second)
					go enter("second", other)
					r.pass(time.Second)
					if granted {
						seen = r.lose(c, lost...)
					}
					must(0, held.Unlock(ctx))(r)
					if first := <-order; first != "first" {
						t.Errorf("the %s entered first", first)
					}
					<-order
					if seen.lost != len(lost) || seen.again == 0 {
						t.Errorf("%+v", *seen)
					}
					r.free()
				})
			})
		}
	}
}

// An unlock waits behind a re-entry whose reply was lost. The server still counts its hold, and so does the repetition. The owner's
// text leaves then, so that the unlock takes one from the count: the re-entry's hold stays.
func TestLostReentryCountsUnlocksThatWait(t *testing.T) {
	ctx := context.Background()
	eachKind(t, func(r *rig, l *rlock.Lock, c *rlock.Client, field string) {
		o := c.NewOwner()
		outer := must(l.TryLock(ctx, rlock.As(o)))(r)
		unlocked := make(chan error, 1)
		seen := r.lose(c, loss{false, func(func(args ...string)) {
			time.AfterFunc(0, func() { unlocked <- outer.Unlock(ctx) })
		}})
		seen.onAgain = func() { _ = o.String() }
		inner, err := l.TryLock(ctx, rlock.As(o))
		must(0, <-unlocked)(r)
		if errors.Is(err, rlock.ErrReentered) {
			return
		}
		must(0, err)(r)
		if n := r.count(o.String(), field); n != "1" || inner.Err() != nil || seen.again != 1 {
			r.Errorf("the server counts %q of 1; %v; %+v", n, inner.Err(), *seen)
		}
		must(0, inner.Unlock(ctx))(r)
	})
}

// Many acquires and the WAIT behind them are lost. The repetition of one is followed by another WAIT, and the others have to wait for
// it. Callers that leave meanwhile are not told that nothing was sent, and leave nothing behind.
func TestRepetitionThatIsTakenBackIsUndone(t *testing.T) {
	for left := 100 * time.Millisecond; left < time.Second; left += 200 * time.Millisecond {
		inBubble(t, func(r *rig) {
			var replica *simredis.Server
			r.at(func() {
				replica = simredis.New(r.world, "10.0.0.2:6379")
				replica.SlaveOf(r.server)
			})
			r.pass(2 * time.Second)
			c := r.open(rlock.WithReplicaSync(true))
			must(0, must(c.NewLock("orders").TryLock(context.Background()))(r).Unlock(context.Background()))(r)
			const callers = 5
			ran := 0
			r.at(func() {
				r.server.Ran = func(_ *simredis.Server, _ string, args []string, reply any) {
					if args[0] != "EVALSHA" || args[1] != luasrc.LockScript.SHA1 {
						return
					}
					if ran++; ran == callers {
						replica.Stall(true)
						for _, conn := range r.world.Conns(func(conn *simnet.Conn) bool { return conn.Server() == address && conn.Host() == host(1) }) {
							conn.Reset()
						}
					}
				}
			})
			type result struct {
				hold *rlock.Hold
				err  error
			}
			ended := make(chan result, callers)
			for i := range callers {
				go func() {
					h, err := c.NewLock(fmt.Sprint("order ", i)).TryLockFor(context.Background(), left)
					ended <- result{h, err}
				}()
			}
			var early []*rlock.Hold // of the acquires that were answered before the others were sent
			for range callers {
				switch got := <-ended; {
				case got.err == nil:
					early = append(early, got.hold)
				case !errors.Is(got.err, rlock.ErrUncertain):
					t.Errorf("left after %v: %v", left, got.err)
				}
			}
			r.at(func() { replica.Stall(false) })
			r.pass(5 * time.Second)
			for _, h := range early {
				must(0, h.Unlock(context.Background()))(r)
			}
			if ran < callers || len(early) == callers {
				t.Errorf("%d acquires have run, and %d were answered", ran, len(early))
			}
			r.free()
		})
	}
}

// Where the server refuses to kill the connection, the acquire may still arrive. It is undone, and not sent again.
func TestAcquireWithoutAKillBarrierIsNotSentAgain(t *testing.T) {
	eachKind(t, func(r *rig, l *rlock.Lock, c *rlock.Client, field string) {
		r.at(func() { r.server.Deny("client|kill", true) })
		seen := r.lose(c, loss{ran: true})
		h := must(l.Lock(context.Background()))(r)
		if seen.again > 0 || seen.undone == 0 || seen.owners[0] == h.Owner().String() {
			r.Errorf("%+v, for a hold of %v", *seen, h.Owner())
		}
		o := c.NewOwner()
		must(0, h.Unlock(context.Background()))(r)
		seen = r.lose(c, loss{ran: true})
		if _, err := l.Lock(context.Background(), rlock.As(o)); !errors.Is(err, rlock.ErrUncertain) || seen.again > 0 {
			r.Errorf("%v; %+v", err, *seen)
		}
	})
}

// An owner whose text has left may be another process's, so its acquire is not sent again.
func TestAcquireOfAForeignOwnerIsNotSentAgain(t *testing.T) {
	eachKind(t, func(r *rig, l *rlock.Lock, c *rlock.Client, field string) {
		o := c.NewOwner()
		_ = o.String()
		seen := r.lose(c, loss{ran: true})
		if _, err := l.Lock(context.Background(), rlock.As(o)); !errors.Is(err, rlock.ErrUncertain) || seen.again > 0 {
			r.Errorf("%v; %+v", err, *seen)
		}
	})
}

// The reply is lost while the slot is half moved: the owner holds once, whichever server has the lock. The other kinds have several
// keys, and wait until these are in one place.
func TestLostAcquireInAnOpenSlotCountsOnce(t *testing.T) {
	ctx := context.Background()
	for _, held := range []bool{false, true} {
		for name, k := range kinds {
			if slices.Contains([]string{"fair", "fenced"}, name) {
				continue
			}
			for _, moved := range []bool{false, true} {
				t.Run(fmt.Sprint(name, ", held ", held, ", moved ", moved), func(t *testing.T) {
					var outer *rlock.Hold
					set := func(c *rlock.Client) {
						if held && name != "non-reentrant" {
							outer = must(k.lock(c).TryLock(ctx))(&rig{T: t})
						}
					}
					inOpenSlot(t, "orders", moved, set, func(o *openSlot) {
						o.loses()
						var opts []rlock.AcquireOption
						want := "1"
						if outer != nil {
							opts, want = append(opts, rlock.As(outer.Owner())), "2"
						}
						bounded, cancel := context.WithTimeout(ctx, time.Minute)
						defer cancel()
						h := must(k.lock(o.client).Lock(bounded, opts...))(o.rig)
						counts := []string{}
						owner := h.Owner().String()
						o.at(func() {
							for _, s := range []*simredis.Server{o.from, o.to} {
								if n, there := s.Field("orders", owner+k.field); there {
									counts = append(counts, n)
								}
							}
						})
						if !slices.Equal(counts, []string{want}) || o.lost != 1 || h.Err() != nil {
							t.Errorf("the servers count %q, want %s; %d replies were lost; %v", counts, want, o.lost, h.Err())
						}
					})
				})
			}
		}
	}
}
