package virtual_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/rlock"
)

// lockWords are words of locks, which an error of a semaphore, of permits or of a latch must not have.
var lockWords = regexp.MustCompile(`(?i)\b(un)?locks?(ed)?\b|\bowners?\b|\bhold\b|codec:`)

// The errors of semaphores, permits and latches speak of those, not of locks and owners.
func TestErrorsOfObjectsWithoutAnOwnerNameNone(t *testing.T) {
	const id = "00112233445566778899aabbccddeeff"
	bg := context.Background()
	type objects struct {
		*rig
		c *rlock.Client
		s *rlock.Semaphore
		p *rlock.PermitSemaphore
		l *rlock.CountDownLatch
	}
	some := func(o *objects, opts ...rlock.PermitOption) *rlock.Permits {
		return must(o.p.TryAcquire(bg, 2, opts...))(o.rig)
	}
	gone := func(o *objects, key string) {
		o.at(func() { o.server.Session(host(9)).Do("DEL", key, codec.PermitTimes(key)) })
	}
	hash := func(o *objects) {
		o.at(func() {
			for _, key := range []string{"slots", "seats", "gate"} {
				o.server.Session(host(9)).Do("DEL", key)
				o.server.Session(host(9)).Do("HSET", key, "a", "b")
			}
		})
	}
	zero, cancel := context.WithCancel(bg)
	cancel()
	for what, row := range map[string]struct {
		call func(*objects) error
		says string
		is   error
	}{
		"two releases": {func(o *objects) error {
			p := some(o)
			return errors.Join(p.Release(bg), p.Release(bg))
		}, `rlock: release "seats": already released`, rlock.ErrReleased},
		"an Err after a release": {func(o *objects) error {
			p := some(o)
			_ = p.Release(bg)
			return p.Err()
		}, `rlock: permits of "seats": already released`, rlock.ErrReleased},
		"a release of lost permits": {func(o *objects) error {
			p := some(o, rlock.Lease(time.Second))
			o.pass(2 * time.Second)
			return p.Release(bg)
		}, `rlock: release "seats": lease lost: its time ran out; nothing was left to release for these permits`, rlock.ErrLeaseLost},
		"a release of permits that are free": {func(o *objects) error {
			p := some(o)
			gone(o, "seats")
			return p.Release(bg)
		}, `rlock: release "seats": some or all of its permits had been given up, or their time was over`, rlock.ErrNotHeld},
		"an extension of permits that are free": {func(o *objects) error {
			p := some(o, rlock.Lease(time.Minute))
			gone(o, "seats")
			return p.Extend(bg, time.Hour)
		}, `rlock: extend "seats": lease lost: the server no longer knows of it`, rlock.ErrLeaseLost},
		"an extension without Lease": {func(o *objects) error { return some(o).Extend(bg, time.Minute) },
			`rlock: extend "seats": invalid option: it was taken without Lease, so the watchdog extends it`, rlock.ErrInvalidOption},
		"permits of a deleted semaphore": {func(o *objects) error {
			p := some(o)
			must(o.p.Delete(bg))(o.rig)
			return p.Err()
		}, `rlock: permits of "seats": lease lost: its semaphore was deleted`, rlock.ErrLeaseLost},
		"an unknown id": {func(o *objects) error { return o.p.ReleaseIDs(bg, id) },
			`rlock: release permits of "seats": a permit with one of these ids is not taken`, rlock.ErrNotHeld},
		"a lease of an unknown id": {func(o *objects) error { _, err := o.p.LeaseOf(bg, id); return err },
			`rlock: ask about a permit of "seats": no permit with this id is taken`, rlock.ErrNotHeld},
		"a lease for an unknown id": {func(o *objects) error { return o.p.SetLease(bg, id, time.Hour) },
			`rlock: extend a permit of "seats": no permit with this id is taken`, rlock.ErrNotHeld},
		"a hash as a semaphore":        {func(o *objects) error { hash(o); return o.s.TryAcquire(bg, 1) }, `rlock: acquire "slots": the key holds a hash, which is no semaphore`, rlock.ErrRefused},
		"a hash as one of permits":     {func(o *objects) error { hash(o); _, err := o.p.TryAcquire(bg, 1); return err }, `rlock: acquire "seats": the key holds a hash, which is no semaphore`, rlock.ErrRefused},
		"a hash as a latch":            {func(o *objects) error { hash(o); return o.l.Await(bg) }, `rlock: await "gate": the key holds a hash, which is no latch`, rlock.ErrRefused},
		"a hash that is to be deleted": {func(o *objects) error { hash(o); _, err := o.p.Delete(bg); return err }, `rlock: delete "seats": the key holds a hash, which is no semaphore; it was left alone`, rlock.ErrRefused},
		"a name that is empty":         {func(o *objects) error { return o.c.NewSemaphore("").TryAcquire(bg, 1) }, `rlock: use "": invalid name: it is empty`, rlock.ErrInvalidName},
		"a client that is being shut down": {func(o *objects) error {
			some(o)
			ctx, cancel := context.WithCancel(bg)
			go func() { _ = o.c.Shutdown(ctx) }()
			o.pass(time.Millisecond)
			_, err := o.p.TryAcquire(bg, 1)
			cancel()
			return err
		}, `rlock: acquire "seats": client closed: it is being shut down`, rlock.ErrClosed},
		"a release that is not answered": {func(o *objects) error {
			p := some(o)
			o.at(func() { o.server.Paused = true })
			err := p.Release(zero)
			o.at(func() { o.server.Resume() })
			return err
		}, `rlock: release "seats": outcome uncertain: no answer within 3s after the context ended; it goes on in the background`, rlock.ErrUncertain},
		"a release behind an extension": {func(o *objects) error {
			p := some(o, rlock.Lease(time.Minute))
			o.at(func() { o.server.Paused = true })
			go func() { _ = p.Extend(bg, time.Hour) }()
			o.pass(time.Millisecond)
			err := p.Release(zero)
			o.at(func() { o.server.Resume() })
			return err
		}, `rlock: release "seats": not released so far, it goes on in the background while the lease lasts: not sent: it waited behind other commands for 3s`, rlock.ErrUnavailable},
	} {
		t.Run(what, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				c := r.open()
				o := &objects{r, c, c.NewSemaphore("slots"), c.NewPermitSemaphore("seats"), c.NewCountDownLatch("gate")}
				must(o.p.TrySetPermits(bg, 5))(r)
				err := row.call(o)
				if !errors.Is(err, row.is) || err.Error() != row.says || lockWords.MatchString(err.Error()) {
					t.Errorf("\n%v, want\n%s", err, row.says)
				}
				r.pass(10 * time.Second)
			})
		})
	}
}

// What goes on in the background although the server refuses it for now is not ErrRefused, which says that nothing is changed: who
// repeats such a call would do it twice.
func TestWhatGoesOnInTheBackgroundIsNotRefused(t *testing.T) {
	bg := context.Background()
	over, cancel := context.WithCancel(bg)
	cancel()
	for what, prepare := range map[string]func(r *rig, c *rlock.Client) (call func() error){
		"permits of a semaphore": func(r *rig, c *rlock.Client) func() error {
			s := c.NewSemaphore("slots")
			must(s.TrySetPermits(bg, 2))(r)
			return func() error { return s.Release(over, 1) }
		},
		"permits": func(r *rig, c *rlock.Client) func() error {
			p := c.NewPermitSemaphore("seats")
			must(p.TrySetPermits(bg, 2))(r)
			some := must(p.TryAcquire(bg, 1))(r)
			return func() error { return some.Release(over) }
		},
		"permits by their ids": func(r *rig, c *rlock.Client) func() error {
			p := c.NewPermitSemaphore("seats")
			must(p.TrySetPermits(bg, 2))(r)
			ids := must(r.open().NewPermitSemaphore("seats").TryAcquire(bg, 1, rlock.Lease(time.Hour)))(r).IDs()
			return func() error { return p.ReleaseIDs(over, ids...) }
		},
		"a count-down": func(r *rig, c *rlock.Client) func() error {
			l := c.NewCountDownLatch("gate")
			must(l.TrySetCount(bg, 2))(r)
			return func() error { return l.CountDown(over) }
		},
		"an unlock": func(r *rig, c *rlock.Client) func() error {
			h := must(c.NewLock("orders").TryLock(bg))(r)
			return func() error { return h.Unlock(over) }
		},
		"an unlock of a fair lock": func(r *rig, c *rlock.Client) func() error {
			h := must(c.NewFairLock("orders").TryLock(bg))(r)
			return func() error { return h.Unlock(over) }
		},
	} {
		t.Run(what, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				call := prepare(r, r.open())
				r.at(func() {
					r.server.Refuse = func(args []string) string {
						if args[0] != "EVALSHA" {
							return ""
						}
						return "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. script: 9a6f, on @user_script:1."
					}
				})
				err := call()
				r.at(func() { r.server.Refuse = nil })
				if err == nil || !strings.Contains(err.Error(), "goes on in the background") || errors.Is(err, rlock.ErrRefused) || !errors.Is(err, rlock.ErrUnavailable) {
					t.Errorf("%v: refused %v, unavailable %v", err, errors.Is(err, rlock.ErrRefused), errors.Is(err, rlock.ErrUnavailable))
				}
				r.pass(10 * time.Second)
			})
		})
	}
}
