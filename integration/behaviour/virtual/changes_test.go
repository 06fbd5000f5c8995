package virtual_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlocktest/simredis"
)

// receipts are the keys by which the server finds that a change has run.
func (r *rig) receipts() (names []string) {
	r.at(func() {
		for _, key := range r.server.Keys() {
			if strings.HasPrefix(key, "redisson_unlock_latch:") && !strings.HasSuffix(key, ":begun") {
				names = append(names, key)
			}
		}
	})
	return names
}

// restart ends the server's process and all connections, and starts it again with its data or empty. Nobody reaches it before
// first has run.
func (r *rig) restart(keep bool, first ...string) {
	r.at(func() {
		r.server.Kill(false)
		r.server.Start(keep)
		if len(first) > 0 {
			r.server.Session("10.9.0.1").Do(first...)
		}
	})
}

// changed gives back permits of three that by has taken, and counts a latch of three down.
func (r *rig) changed(c, by *rlock.Client) {
	ctx := context.Background()
	s, l := c.NewSemaphore("seats"), c.NewCountDownLatch("ready")
	must(s.TrySetPermits(ctx, 3))(r)
	must(l.TrySetCount(ctx, 3))(r)
	must(0, by.NewSemaphore("seats").Acquire(ctx, 2))(r)
	must(0, s.Release(ctx, 2))(r)
	must(0, l.CountDown(ctx))(r)
}

// A client repeats its changes after a failover. Where its server came back empty, there is no such object, or another one of the
// same name, and the repetition does nothing.
func TestRepeatedChangesMeetNoOtherObject(t *testing.T) {
	ctx := context.Background()
	for what, first := range map[string][]string{
		"nothing was set anew":   nil,
		"the permits by another": {"SET", "seats", "3"},
		"the count by another":   {"SET", "ready", "3"},
	} {
		t.Run(what, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				c := r.open(rlock.WithReplicaSync(true))
				r.changed(c, r.open())
				r.restart(false, first...)
				r.pass(3 * time.Second)
				set, counts := must(c.NewSemaphore("seats").TrySetPermits(ctx, 3))(r), must(c.NewCountDownLatch("ready").TrySetCount(ctx, 3))(r)
				if set == (first != nil && first[1] == "seats") || counts == (first != nil && first[1] == "ready") {
					t.Errorf("permits set %v, count set %v", set, counts)
				}
				if n := must(c.NewSemaphore("seats").Available(ctx))(r); n != 3 {
					t.Errorf("%d permits of 3", n)
				}
				if n := must(c.NewCountDownLatch("ready").Count(ctx))(r); n != 3 {
					t.Errorf("the count is %d, not 3", n)
				}
			})
		})
	}
}

// After each break, a client sends each change once more, and no more often.
func TestEachChangeIsRepeatedOnceABreak(t *testing.T) {
	ctx := context.Background()
	inBubble(t, func(r *rig) {
		c := r.open(rlock.WithReplicaSync(true))
		r.changed(c, c)
		p := c.NewPermitSemaphore("rooms")
		must(p.TrySetPermits(ctx, 1))(r)
		other := r.open()
		ids := must(other.NewPermitSemaphore("rooms").TryAcquire(ctx, 1, rlock.Lease(time.Hour)))(r).IDs()
		must(0, p.ReleaseIDs(ctx, ids...))(r)
		h := must(c.NewLock("orders").TryLock(ctx))(r)
		must(0, h.Unlock(ctx))(r)
		kinds := map[string]string{"{seats}:": "permits", "{ready}:": "a count-down", "{rooms}:": "permits by their ids"}
		ran := map[string]int{}
		r.at(func() {
			r.server.Ran = func(_ *simredis.Server, _ string, args []string, reply any) {
				if _, refused := reply.(simredis.Error); refused || args[0] != "EVALSHA" {
					return // it did not know the script
				}
				text := strings.Join(args, " ")
				for key, kind := range kinds {
					if strings.Contains(text, "redisson_unlock_latch:"+key) {
						ran[kind]++
					}
				}
				if strings.Contains(text, "redisson_lock__channel:{orders}") {
					ran["an unlock"]++
				}
			}
		})
		for breaks := 1; breaks <= 3; breaks++ {
			r.restart(true)
			r.pass(2 * time.Second)
			want := map[string]int{"permits": 2 * breaks, "a count-down": breaks, "permits by their ids": breaks, "an unlock": breaks} // permits were taken and given back
			r.at(func() {
				if fmt.Sprint(ran) != fmt.Sprint(want) {
					t.Errorf("after %d breaks %v were sent again, want %v", breaks, ran, want)
				}
			})
		}
	})
}

// No semaphore has more receipts of a client than some hundreds. They go when they are too old to be of use, and with the client.
func TestReceiptsGoWhenNothingNeedsThem(t *testing.T) {
	const most = 350
	ctx := context.Background()
	pairs := func(r *rig, s *rlock.Semaphore, n int) {
		for range n {
			must(0, s.Acquire(ctx, 1))(r)
			must(0, s.Release(ctx, 1))(r)
		}
	}
	for what, test := range map[string]func(r *rig, c *rlock.Client, s *rlock.Semaphore){
		"a busy client": func(r *rig, _ *rlock.Client, s *rlock.Semaphore) {
			pairs(r, s, 2000)
			if n := len(r.receipts()); n > most {
				t.Errorf("%d receipts, at most %d", n, most)
			}
		},
		"a client that is idle": func(r *rig, _ *rlock.Client, s *rlock.Semaphore) {
			pairs(r, s, 200)
			r.pass(17 * time.Second)
			if left := r.receipts(); len(left) > 0 {
				t.Errorf("%d receipts", len(left))
			}
		},
		"a client that is closed": func(r *rig, c *rlock.Client, s *rlock.Semaphore) {
			pairs(r, s, 200)
			_ = c.Close()
			if left := r.receipts(); len(left) > 0 {
				t.Errorf("%d receipts", len(left))
			}
		},
		"breaks": func(r *rig, c *rlock.Client, s *rlock.Semaphore) {
			for range 60 {
				pairs(r, s, 100)
				r.restart(true)
				r.pass(time.Second)
			}
			if n := len(r.receipts()); n > most {
				t.Errorf("%d receipts, at most %d", n, most)
			}
			_ = c.Close()
			if left := r.receipts(); len(left) > 0 {
				t.Errorf("%d receipts are left", len(left))
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				c := r.open(rlock.WithReplicaSync(true))
				s := c.NewSemaphore("seats")
				must(s.TrySetPermits(ctx, 3))(r)
				test(r, c, s)
				if n := must(r.open().NewSemaphore("seats").Available(ctx))(r); n != 3 {
					t.Errorf("%d permits of 3", n)
				}
			})
		})
	}
}

// A semaphore that expires leaves nothing on the server, whether it was used or not.
func TestSemaphoreThatExpiresLeavesNothing(t *testing.T) {
	ctx := context.Background()
	inBubble(t, func(r *rig) {
		c := r.open(rlock.WithReplicaSync(true))
		for i := range 50 {
			s := c.NewSemaphore(fmt.Sprint("job-", i))
			must(s.TrySetPermits(ctx, 1, rlock.Expire(30*time.Second)))(r)
			if i%2 == 0 {
				must(0, s.Acquire(ctx, 1))(r)
				must(0, s.Release(ctx, 1))(r)
			}
		}
		r.pass(31 * time.Second)
		r.at(func() {
			if left := r.server.Keys(); len(left) > 0 {
				t.Errorf("%d keys are left, such as %s", len(left), left[0])
			}
		})
	})
}

// A change has no answer, and the server comes back empty before its connection could be killed. The change is sent again, and meets
// no object, or one that was made since. It makes none and changes none, and its caller learns that it is not known to count.
func TestChangesWithoutAnAnswerMeetNoOtherObject(t *testing.T) {
	ctx := context.Background()
	for what, row := range map[string]struct {
		call func(c *rlock.Client) error
		gone bool // there is none
	}{
		"release":       {func(c *rlock.Client) error { return c.NewSemaphore("seats").Release(ctx, 2) }, false},
		"release, gone": {func(c *rlock.Client) error { return c.NewSemaphore("seats").Release(ctx, 2) }, true},
		"add":           {func(c *rlock.Client) error { return c.NewSemaphore("seats").AddPermits(ctx, 2) }, false},
		"add, gone":     {func(c *rlock.Client) error { return c.NewSemaphore("seats").AddPermits(ctx, 2) }, true},
		"drain": {func(c *rlock.Client) error {
			_, err := c.NewSemaphore("seats").Drain(ctx)
			return err
		}, false},
		"count down": {func(c *rlock.Client) error { return c.NewCountDownLatch("ready").CountDown(ctx) }, false},
	} {
		for _, synced := range []bool{false, true} {
			if what == "count down" && !synced {
				continue // a latch is marked only where servers fail over
			}
			t.Run(fmt.Sprint(what, ", replicas awaited ", synced), func(t *testing.T) {
				inBubble(t, func(r *rig) {
					c, other := r.open(rlock.WithReplicaSync(synced)), r.open(rlock.WithReplicaSync(synced))
					set := func() {
						must(other.NewSemaphore("seats").TrySetPermits(ctx, 3))(r)
						must(other.NewCountDownLatch("ready").TrySetCount(ctx, 3))(r)
					}
					set()
					must(0, c.NewSemaphore("seats").Acquire(ctx, 2))(r)
					r.at(func() {
						r.server.Ran = func(s *simredis.Server, client string, args []string, _ any) {
							if args[0] == "EVALSHA" && client == host(1) {
								s.Ran = nil
								s.Kill(true)
							}
						}
					})
					ended := make(chan error, 1)
					go func() { ended <- row.call(c) }()
					r.pass(time.Second)
					r.at(func() { // the client does not reach it before the object was made anew
						r.world.Block(host(1), address, true)
						r.server.Start(false)
					})
					r.pass(time.Second)
					if !row.gone {
						set()
					}
					r.pass(time.Second)
					r.at(func() { r.world.Block(host(1), address, false) })
					if err := <-ended; !errors.Is(err, rlock.ErrUncertain) {
						t.Errorf("%v", err)
					}
					r.pass(20 * time.Second)
					r.at(func() {
						for _, key := range []string{"seats", "ready"} {
							if n, there := r.server.Value(key); there == row.gone || there && n != "3" {
								t.Errorf("%s: %q", key, n)
							}
						}
					})
				})
			})
		}
	}
}
