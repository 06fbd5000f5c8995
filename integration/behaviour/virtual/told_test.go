package virtual_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/rlock"
)

// A hold of any age is told of its loss within two seconds, whatever the watchdog's timeout is.
func TestLossIsToldWithinTwoSecondsAtAnyWatchdogTimeout(t *testing.T) {
	for _, watchdog := range []time.Duration{3 * time.Second, 5 * time.Second, 6 * time.Second, 7 * time.Second, 7500 * time.Millisecond, 8 * time.Second, 10 * time.Second, 30 * time.Second} {
		t.Run(watchdog.String(), func(t *testing.T) {
			inBubble(t, func(r *rig) {
				c := r.open(rlock.WithWatchdogTimeout(watchdog))
				for age := time.Millisecond; age < 3*time.Second; age += 45 * time.Millisecond {
					r.pass(age % (700 * time.Millisecond)) // so that the client's rounds come at other ages
					h := must(c.NewLock("orders").TryLock(context.Background()))(r)
					r.pass(age)
					began := time.Now()
					r.at(r.server.FlushAll)
					<-h.Done()
					if took := since(began); took > 2*time.Second || !errors.Is(h.Err(), rlock.ErrLeaseLost) {
						t.Errorf("lost at %v, told after %v: %v", age, took, h.Err())
					}
				}
			})
		})
	}
}

// A value of another type over a lock's key is a loss like any other, which a renewal finds too. A value that a batch meets ends no
// other hold.
func TestKeyOfAnotherTypeIsALossAtOnce(t *testing.T) {
	ctx := context.Background()
	for _, told := range []bool{true, false} {
		t.Run(fmt.Sprint("tracking ", told), func(t *testing.T) {
			inBubble(t, func(r *rig) {
				r.at(func() {
					r.server.Refuse = func(args []string) string {
						if !told && args[0] == "CLIENT" && args[1] == "TRACKING" {
							return incidents["no permission"]
						}
						return ""
					}
				})
				c := r.open()
				of := map[string]*rlock.Lock{"plain": c.NewLock("plain"), "fair": c.NewFairLock("fair"), "fenced": c.NewFencedLock("fenced"),
					"reader": c.NewReadWriteLock("reader").ReadLock(), "writer": c.NewReadWriteLock("writer").WriteLock()}
				other := must(c.NewLock("other").TryLock(ctx))(r)
				conn := must(redis.DialContext(ctx, "tcp", address, redis.DialContextFunc(r.world.Dialer("10.1.0.99"))))(r)
				for name, l := range of {
					h := must(l.TryLock(ctx))(r)
					r.pass(3 * time.Second)
					must(conn.Do("SET", name, "x"))(r)
					began := time.Now()
					<-h.Done()
					within := 10 * time.Second // a third of the lease: the next renewal
					if told {
						within = time.Second
					}
					if took := since(began); took > within || !errors.Is(h.Err(), rlock.ErrLeaseLost) {
						t.Errorf("%s: told after %v: %v", name, took, h.Err())
					}
				}
				r.pass(time.Minute)
				if err := errors.Join(other.Err(), conn.Close()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A client's own commands that touch the set of taken permits leave its permits tracked: their loss is told within a second, not
// at the next renewal.
func TestOwnCommandsKeepPermitsTracked(t *testing.T) {
	ctx := context.Background()
	for what, call := range map[string]func(s *rlock.PermitSemaphore, id string) error{
		"SetLease":   func(s *rlock.PermitSemaphore, id string) error { return s.SetLease(ctx, id, time.Minute) },
		"ReleaseIDs": func(s *rlock.PermitSemaphore, id string) error { return s.ReleaseIDs(ctx, id) },
		"Available, when others' are over": func(s *rlock.PermitSemaphore, _ string) error {
			time.Sleep(2 * time.Second)
			_, err := s.Available(ctx)
			return err
		},
		"LeaseOf, when others' are over": func(s *rlock.PermitSemaphore, id string) error {
			time.Sleep(2 * time.Second)
			if _, err := s.LeaseOf(ctx, id); !errors.Is(err, rlock.ErrNotHeld) {
				return err
			}
			return nil
		},
	} {
		t.Run(what, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				c, other := r.open(), r.open()
				s := c.NewPermitSemaphore("seats")
				must(s.TrySetPermits(ctx, 10))(r)
				mine := must(s.TryAcquire(ctx, 1))(r)
				theirs := must(other.NewPermitSemaphore("seats").TryAcquire(ctx, 1, rlock.Lease(5*time.Second)))(r)
				r.pass(4 * time.Second)
				if err := call(s, theirs.IDs()[0]); err != nil {
					t.Fatal(err)
				}
				r.pass(1500 * time.Millisecond)
				began := time.Now()
				if err := other.NewPermitSemaphore("seats").ReleaseIDs(ctx, mine.IDs()[0]); err != nil {
					t.Fatal(err)
				}
				<-mine.Done()
				if took := since(began); took > time.Second {
					t.Errorf("told after %v", took)
				}
			})
		})
	}
}
