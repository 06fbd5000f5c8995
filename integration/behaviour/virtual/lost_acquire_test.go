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

// kinds are the locks whose acquires are sent again, with the field of an owner.
var kinds = map[string]struct {
	lock  func(c *rlock.Client) *rlock.Lock
	field string // behind the owner
}{
	"plain":         {func(c *rlock.Client) *rlock.Lock { return c.NewLock("orders") }, ""},
	"spin":          {func(c *rlock.Client) *rlock.Lock { return c.NewSpinLock("orders") }, ""},
	"fenced":        {func(c *rlock.Client) *rlock.Lock { return c.NewFencedLock("orders") }, ""},
	"non-reentrant": {func(c *rlock.Client) *rlock.Lock { return c.NewNonReentrantLock("orders") }, ""},
	"fair":          {func(c *rlock.Client) *rlock.Lock { return c.NewFairLock("orders") }, ""},
	"read":          {func(c *rlock.Client) *rlock.Lock { return c.NewReadWriteLock("orders").ReadLock() }, ""},
	"write":         {func(c *rlock.Client) *rlock.Lock { return c.NewReadWriteLock("orders").WriteLock() }, ":write"},
}

// eachKind runs a test for each kind of lock.
func eachKind(t *testing.T, test func(r *rig, l *rlock.Lock, c *rlock.Client, field string)) {
	for name, k := range kinds {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				c := r.open()
				test(r, k.lock(c), c, k.field)
			})
		})
	}
}

// loss loses a reply to an acquire of a client.
type loss struct {
	ran   bool                          // the acquire has run
	while func(do func(args ...string)) // what others do before the client sends anything again; nil: nothing
}

// acquires are the acquires of one client.
type acquires struct {
	owners []string // of each that reached the server
	again  int      // how many of them had been sent before
	undone int      // unlocks
	lost   int      // replies

	onAgain func() // called when one of these has run; nil: nobody is
}

// lose loses the replies to a client's next acquires.
func (r *rig) lose(c *rlock.Client, losses ...loss) *acquires {
	var seen acquires
	scripts := map[string]string{}
	for _, s := range luasrc.Scripts() {
		scripts[s.SHA1] = s.Name
	}
	acquire := func(args []string) bool {
		owner := slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, c.ID().String()+":") })
		name := args[min(1, len(args)-1)]
		return args[0] == "EVALSHA" && (owner && slices.Contains([]string{"lock", "lock_again"}, suffix(scripts[name])) || scripts[name] == "permit_acquire")
	}
	lose := func() {
		l := losses[0]
		losses = losses[1:]
		seen.lost++
		if l.while != nil {
			l.while(func(args ...string) { r.server.Session("10.9.0.1").Do(args...) })
		}
		for _, conn := range r.world.Conns(func(conn *simnet.Conn) bool { return conn.Host() == host(1) }) {
			conn.Reset()
		}
	}
	r.at(func() {
		r.server.Refuse = func(args []string) string {
			if acquire(args) && len(losses) > 0 && !losses[0].ran {
				lose()
				return "ERR it does not run"
			}
			return ""
		}
		r.server.Ran = func(_ *simredis.Server, client string, args []string, reply any) {
			failed, _ := reply.(simredis.Error)
			switch {
			case strings.HasPrefix(string(failed), "NOSCRIPT"):
			case acquire(args):
				if at := slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, c.ID().String()+":") }); at >= 0 {
					seen.owners = append(seen.owners, args[at])
				}
				if strings.HasSuffix(scripts[args[1]], "_again") {
					if seen.again++; seen.onAgain != nil {
						seen.onAgain()
					}
				}
				if failed == "" && len(losses) > 0 && losses[0].ran {
					lose()
				}
			case args[0] == "EVALSHA" && (strings.Contains(scripts[args[1]], "unlock") || scripts[args[1]] == "permit_release"):
				seen.undone++
			}
		}
	})
	return &seen
}

// suffix is the last word of a script's name, with "again" if it has that.
func suffix(name string) string {
	words := strings.Split(name, "_")
	if last := len(words) - 1; last > 0 && words[last] == "again" {
		return words[last-1] + "_again"
	}
	return words[len(words)-1]
}

// losses is how the replies to an acquire and to its repetition are lost.
var losses = map[string][]loss{
	"ran":                     {{ran: true}},
	"did not run":             {{}},
	"ran twice":               {{ran: true}, {ran: true}},
	"ran, the repetition not": {{ran: true}, {}},
	"did not run, but then":   {{}, {ran: true}},
	"did not run either time": {{}, {}},
	"four times":              {{ran: true}, {}, {}, {ran: true}},
}

// count is what the server counts of an owner; 0: nothing.
func (r *rig) count(owner, field string) (n string) {
	r.at(func() { n, _ = r.server.Field("orders", owner+field) })
	return n
}

// free checks that the server has nothing of the lock.
func (r *rig) free() {
	r.Helper()
	r.pass(time.Second)
	r.at(func() {
		for _, key := range r.server.Keys() {
			if !strings.HasPrefix(key, "redisson_lock_token:") {
				r.Errorf("it is left: %s", r.server.Dump(key))
			}
		}
	})
}

// The reply to an acquire is lost, and perhaps that to its repetition. The caller keeps what it got: its owner holds once, and
// nothing was undone. A re-entry counts one more, however often it is sent.
func TestLostAcquireIsSentAgain(t *testing.T) {
	ctx := context.Background()
	for how, lost := range losses {
		t.Run(how, func(t *testing.T) {
			eachKind(t, func(r *rig, l *rlock.Lock, c *rlock.Client, field string) {
				o := c.NewOwner()
				for held := range 3 {
					seen := r.lose(c, lost...)
					began := time.Now()
					h, err := l.TryLock(ctx, rlock.As(o))
					if held > 0 && errors.Is(err, rlock.ErrReentered) {
						break
					}
					must(0, err)(r)
					if took := since(began); took > 100*time.Millisecond {
						t.Errorf("it took %v", took)
					}
					if seen.lost != len(lost) || seen.again == 0 || seen.undone > 0 {
						t.Errorf("hold %d: %+v", held+1, *seen)
					}
					if h.Err() != nil {
						t.Errorf("hold %d: %v", held+1, h.Err())
					}
					if n := r.count(seen.owners[0], field); n != fmt.Sprint(held+1) {
						t.Errorf("the server counts %s, want %d", n, held+1)
					}
					defer func() { // the outer ones last
						must(0, h.Unlock(ctx))(r)
						if held == 0 {
							r.free()
						}
					}()
				}
			})
		})
	}
}

// Without As an acquire keeps its owner, too.
func TestLostAcquireKeepsItsOwner(t *testing.T) {
	eachKind(t, func(r *rig, l *rlock.Lock, c *rlock.Client, field string) {
		seen := r.lose(c, loss{ran: true}, loss{})
		h := must(l.Lock(context.Background()))(r)
		if seen.undone > 0 || len(slices.Compact(seen.owners)) != 1 || seen.owners[0] != h.Owner().String() {
			r.Errorf("%+v, for a hold of %v", *seen, h.Owner())
		}
		must(0, h.Unlock(context.Background()))(r)
		r.free()
	})
}

// Permits count once, however often their acquire is sent, and none is given back.
func TestLostAcquireOfPermitsIsSentAgain(t *testing.T) {
	ctx := context.Background()
	for how, lost := range losses {
		t.Run(how, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				c := r.open()
				s := c.NewPermitSemaphore("seats")
				must(s.TrySetPermits(ctx, 5))(r)
				seen := r.lose(c, lost...)
				p := must(s.TryAcquire(ctx, 2))(r)
				if free := must(s.Available(ctx))(r); free != 3 || seen.lost != len(lost) || seen.undone > 0 || p.Err() != nil {
					t.Errorf("%d are free of 5, 2 of them taken: %v; %+v", free, p.Err(), *seen)
				}
				must(0, p.Release(ctx))(r)
				if free := must(s.Available(ctx))(r); free != 5 {
					t.Errorf("%d are free of 5", free)
				}
			})
		})
	}
}

// Many callers lose their replies at once. Each keeps what it got, and none is undone.
func TestLostRepliesCostNobodyItsLock(t *testing.T) {
	inBubble(t, func(r *rig) {
		c := r.open()
		seen := r.lose(c, loss{ran: true}, loss{}, loss{ran: true}, loss{}) // each with all that is on its way
		got := make(chan error, 100)
		for i := range 100 {
			go func() {
				h, err := c.NewLock(fmt.Sprint("order ", i)).Lock(context.Background())
				if err == nil {
					if seen := h.Owner().String(); !strings.HasPrefix(seen, c.ID().String()) {
						err = errors.New(seen)
					}
				}
				got <- err
			}()
		}
		for range 100 {
			must(0, <-got)(r)
		}
		owners := slices.Sorted(slices.Values(seen.owners))
		if n := len(slices.Compact(owners)); n != 100 || seen.undone > 0 || seen.again < 90 {
			r.Errorf("%d owners, %d undone, %d acquires sent again", n, seen.undone, seen.again)
		}
	})
}

// A grant that comes when its lease is over is given back. The outer hold stays.
func TestA5GrantThatComesAfterItsLeaseIsGivenBack(t *testing.T) {
	ctx := context.Background()
	inBubble(t, func(r *rig) {
		l := r.open().NewLock("orders")
		outer := must(l.Lock(ctx))(r)
		r.at(func() { r.server.Paused = true })
		late := make(chan error, 1)
		go func() {
			_, err := l.Lock(ctx, rlock.As(outer.Owner()), rlock.Lease(20*time.Millisecond))
			late <- err
		}()
		r.pass(50 * time.Millisecond)
		r.at(func() { r.server.Resume() })
		if err := <-late; !errors.Is(err, rlock.ErrLeaseLost) {
			t.Error(err)
		}
		r.pass(time.Second)
		if n := must(l.HoldCount(ctx, outer.Owner()))(r); n != 1 {
			t.Errorf("the server counts %d holds", n)
		}
		r.goesOn(outer)
	})
}
