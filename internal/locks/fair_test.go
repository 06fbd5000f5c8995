package locks

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

var fairKind = kind.Fair(5 * time.Minute)

// fairLoss has a fair lock that one client holds, and another client whose connections can lose a reply.
type fairLoss struct {
	t       *testing.T
	conn    redis.Conn
	la, lb  Lock
	lossy   *Client
	d       *dropper
	held    *Hold
	waiters []*Waiter
	ended   chan outcome
}

func newFairLoss(t *testing.T) *fairLoss {
	t.Helper()
	t.Parallel()
	s := redistest.Start(t)
	f := &fairLoss{t: t, conn: s.Dial(t), ended: make(chan outcome, 3)}
	for _, script := range luasrc.Scripts() {
		do(t, f.conn, "SCRIPT", "LOAD", script.Source)
	}
	a := open(t, s)
	f.lossy, f.d = openDropping(t, s)
	f.la, f.lb = a.NewLock(fairKind, "q", "q"), f.lossy.NewLock(fairKind, "q", "q")
	f.held = mustAcquire(t, &f.la)
	return f
}

// waits starts a waiter that gets the n-th place in the queue.
func (f *fairLoss) waits(l *Lock, n int64) (leave func()) {
	f.t.Helper()
	ctx, cancel := context.WithCancel(f.t.Context())
	f.waiters = append(f.waiters, wait(ctx, f.t, l, int(n), f.ended, Terms{}))
	becomes(f.t, f.conn, n, "LLEN", codec.FairQueue("q"))
	return cancel
}

// refused waits until the i-th waiter was refused again, listening.
func (f *fairLoss) refused(i int) {
	f.t.Helper()
	redistest.Becomes(f.t, "its second try is refused", func() bool {
		s := f.waiters[i].snapshot()
		return s.listening && !s.attempt && s.tries > 1
	})
}

// exact lets all waiters enter in order, and checks that no key is left and how many replies were lost.
func (f *fairLoss) exact(lost int32, order ...int) {
	f.t.Helper()
	for _, who := range order {
		o := next(f.t, f.ended)
		if o.who != who {
			f.t.Errorf("%d entered in the place of %d", o.who, who)
		}
		mustUnlock(f.t, o.hold)
	}
	becomes(f.t, f.conn, 0, "EXISTS", "q", codec.FairQueue("q"), codec.FairTimes("q"))
	if n := f.d.lost.Load(); n != lost {
		f.t.Errorf("%d replies were lost, not %d", n, lost)
	}
}

func TestFairAcquireThatQueuedAndWasLostKeepsItsPlace(t *testing.T) {
	f := newFairLoss(t)
	f.d.drop(luasrc.FairLockScript.SHA1)
	f.waits(&f.lb, 1)
	redistest.Becomes(t, "something is lost", func() bool { return f.d.lost.Load() > 0 })
	f.waits(&f.la, 2)
	becomes(t, f.conn, 2, "LLEN", codec.FairQueue("q"))
	becomes(t, f.conn, 2, "ZCARD", codec.FairTimes("q"))
	mustUnlock(t, f.held)
	f.exact(1, 1, 2)
}

func TestFairGrantThatWasLostIsKept(t *testing.T) {
	f := newFairLoss(t)
	f.waits(&f.lb, 1)
	f.waits(&f.la, 2)
	f.refused(0)
	f.d.drop(luasrc.FairLockScript.SHA1)
	mustUnlock(t, f.held)
	f.exact(1, 1, 2)
}

func TestFairUnlockThatWasLostCountsOnce(t *testing.T) {
	f := newFairLoss(t)
	mustUnlock(t, f.held)
	h := mustAcquire(t, &f.lb)
	f.waits(&f.la, 1)
	f.d.drop(luasrc.FairUnlockScript.SHA1)
	mustUnlock(t, h)
	f.exact(1, 1)
}

func TestFairLeaveThatWasLostIsRepeated(t *testing.T) {
	f := newFairLoss(t)
	leave := f.waits(&f.lb, 1)
	f.waits(&f.la, 2)
	f.refused(0)
	f.d.drop(luasrc.FairLeaveScript.SHA1)
	leave()
	if o := <-f.ended; !errors.Is(o.err, context.Canceled) {
		t.Fatalf("%d: %v", o.who, o.err)
	}
	becomes(t, f.conn, 1, "LLEN", codec.FairQueue("q"))
	mustUnlock(t, f.held)
	f.exact(1, 2)
}

func TestFairForceThatWasLostIsUncertain(t *testing.T) {
	f := newFairLoss(t)
	f.waits(&f.la, 1)
	f.d.drop(luasrc.FairForceScript.SHA1)
	if _, err := ForceUnlock(t.Context(), &f.lb); !errors.Is(err, ErrUncertain) {
		t.Errorf("%v", err)
	}
	f.exact(1, 1)
	if err := Unlock(t.Context(), f.held); !errors.Is(err, ErrNotHeld) {
		t.Errorf("forced, and unlocked with %v", err)
	}
}

// A re-entry whose reply was lost is found by the count of the owner's holds.
func TestFairReentryThatWasLostIsFoundOut(t *testing.T) {
	f := newFairLoss(t)
	mustUnlock(t, f.held)
	o := f.lossy.NewOwner()
	as := Terms{As: true, Owner: o}
	outer := acquireAs(t, &f.lb, as)
	f.waits(&f.la, 1)
	f.d.drop(luasrc.FairLockScript.SHA1)
	inner := acquireAs(t, &f.lb, as)
	mustUnlock(t, inner)
	if n := do(t, f.conn, "HGET", "q", o.String()); string(n.([]byte)) != "1" {
		t.Errorf("it holds %s", n)
	}
	mustUnlock(t, outer)
	f.exact(1, 1)
}

// An attempt that is not sent leaves its owner's place in the queue as it is.
func TestFairWaiterKeepsItsPlaceThroughAnOutage(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	var down atomic.Bool
	o := config()
	o.Timeout = timeout
	o.Topology = dials(func(ctx context.Context) (redis.Conn, error) {
		if down.Load() {
			return nil, errors.New("down")
		}
		return redis.DialURLContext(ctx, s.URL())
	}).topology
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	l := c.NewLock(fairKind, "q", "q")
	do(t, conn, "HSET", "q", "somebody", 1)
	do(t, conn, "PEXPIRE", "q", 4000) // so that a busy machine refuses the waiter before its end
	ended := make(chan outcome, 1)
	w := wait(t.Context(), t, &l, 1, ended, Terms{})
	refused(t, w, 1)
	down.Store(true)
	do(t, conn, "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
	do(t, conn, "CLIENT", "KILL", "TYPE", "pubsub")
	if _, err := l.Ask(t.Context(), kind.Locked, Owner{}); err == nil { // from here on no connection can be made
		t.Error("it was answered")
	}
	redistest.Becomes(t, "it tries again", func() bool {
		return w.snapshot().tries > 3 // the third attempt was not sent
	})
	becomes(t, conn, 0, "EXISTS", "q")
	down.Store(false)
	h := next(t, ended).hold
	becomes(t, conn, 0, "EXISTS", codec.FairQueue("q"), codec.FairTimes("q"))
	mustUnlock(t, h)
}
