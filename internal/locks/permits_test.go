package locks

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// permitRig is a semaphore whose replies can be lost.
type permitRig struct {
	*testing.T
	server *redistest.Server
	conn   redis.Conn
	c      *Client
	d      *dropper
	l      Lock // of one permit
}

func newPermitRig(t *testing.T) *permitRig {
	s := redistest.Start(t)
	r := &permitRig{T: t, server: s, conn: s.Dial(t)}
	r.c, r.d = openDropping(t, s)
	r.l = r.c.NewLock(kind.Permits(1), "seats", "seats")
	for _, script := range luasrc.Scripts() {
		do(t, r.conn, "SCRIPT", "LOAD", script.Source)
	}
	return r
}

// loses runs fn, during which one reply of the script must be lost.
func (r *permitRig) loses(s *luasrc.Script, fn func()) {
	r.Helper()
	before := r.d.lost.Load()
	r.d.drop(s.SHA1)
	fn()
	if r.d.lost.Load() != before+1 {
		r.Fatal("nothing was lost")
	}
}

func (r *permitRig) are(free string, taken int64) {
	r.Helper()
	got, err := redis.String(do(r.T, r.conn, "GET", "seats"), nil)
	if n := do(r.T, r.conn, "ZCARD", codec.PermitTimes("seats")); got != free || n != taken || err != nil {
		r.Errorf("%q free, %v; %v taken; want %s and %d", got, err, n, free, taken)
	}
}

// changes sends a change and checks whether the server made it.
func (r *permitRig) changes(want bool, call func(*kind.Want) kind.Call) {
	r.Helper()
	reply, err := Change(r.Context(), &r.l, false, call)
	if err != nil {
		r.Fatal(err)
	}
	if did, err := luasrc.DecodeExists(reply); did != want || err != nil {
		r.Errorf("done: %v, %v; want %v", did, err, want)
	}
}

func setting(how string, n int) func(*kind.Want) kind.Call {
	return func(w *kind.Want) kind.Call { return kind.SetPermits(w, how, n, 0) }
}

func TestPermitsAreExactThoughRepliesAreLost(t *testing.T) {
	t.Parallel()
	r := newPermitRig(t)
	r.loses(luasrc.PermitSetScript, func() { r.changes(true, setting(luasrc.FirstPermits, 4)) })
	r.are("4", 0)
	r.loses(luasrc.PermitSetScript, func() { r.changes(true, setting(luasrc.MorePermits, 2)) })
	r.are("6", 0)
	two := r.l.Of(kind.Permits(2))
	var h *Hold
	r.loses(luasrc.PermitAcquireScript, func() { h = mustAcquire(t, &two) })
	r.are("4", 2)
	r.loses(luasrc.PermitReleaseScript, func() { mustUnlock(t, h) })
	r.are("6", 0)
	h = mustAcquire(t, &r.l)
	id := kind.PermitIDs(h.OwnerText(), 1)
	r.loses(luasrc.PermitReleaseIDsScript, func() {
		r.changes(true, func(w *kind.Want) kind.Call { return kind.ReleasePermits(w, id) })
	})
	r.are("6", 0)
	r.changes(false, func(w *kind.Want) kind.Call { return kind.ReleasePermits(w, id) })
	r.loses(luasrc.PermitSetScript, func() { r.changes(true, setting(luasrc.TotalPermits, 3)) })
	r.are("3", 0)
	if err := Unlock(t.Context(), h); !errors.Is(err, ErrNotHeld) {
		t.Errorf("what was given up by its id: %v", err)
	}
	becomes(t, r.conn, 1, "DBSIZE") // no receipt is left
	// An owner of permits can't act by As, even after its text was parsed.
	h = mustAcquire(t, &r.l)
	if _, err := ParseOwner(codec.Owner(r.c.ID, 1<<40+1)); err != nil {
		t.Fatal(err)
	}
	r.loses(luasrc.PermitReleaseScript, func() { mustUnlock(t, h) })
	r.are("3", 0)
}

// The permits of one acquire are one hold: they are renewed and lost together.
func TestPermitsOfOneAcquireAreLostTogether(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "waits for renewals")
	s := redistest.Start(t)
	conn := s.Dial(t)
	o := config()
	o.Watchdog = 3 * time.Second
	c := openWith(t, s, o)
	three := c.NewLock(kind.Permits(3), "seats", "seats")
	do(t, conn, "SET", "seats", 5)
	one := three.Of(kind.Permits(1))
	kept, lost := mustAcquire(t, &one), mustAcquire(t, &three)
	// One script renews both.
	for _, h := range []*Hold{kept, lost} {
		till := func() int64 {
			score, err := redis.Int64(do(t, conn, "ZSCORE", codec.PermitTimes("seats"), kind.PermitIDs(h.OwnerText(), 1)[0]), nil)
			if err != nil {
				t.Fatal(err)
			}
			return score
		}
		for first, end := till(), time.Now().Add(o.Watchdog); till() == first; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("not renewed")
			}
		}
	}
	if err := errors.Join(kept.Err(), lost.Err()); err != nil {
		t.Fatal(err)
	}
	do(t, conn, "ZREM", codec.PermitTimes("seats"), kind.PermitIDs(lost.OwnerText(), 3)[2])
	<-lost.Done()
	if err := lost.Err(); !errors.Is(err, ErrLeaseLost) || kept.Err() != nil {
		t.Errorf("one that lost a permit: %v; another: %v", err, kept.Err())
	}
	mustUnlock(t, kept)
}

func TestPermitsAreGivenBackThatNobodyWants(t *testing.T) {
	t.Parallel()
	r := newPermitRig(t)
	r.changes(true, setting(luasrc.FirstPermits, 2))
	two := r.l.Of(kind.Permits(2))
	mustUnlock(t, mustAcquire(t, &two)) // now there is a connection
	leaves := func(before func()) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		w := NewWaiter(&two)
		if err := w.Start(); err != nil {
			t.Fatal(err)
		}
		before()
		cancel()
		if h, err := w.Result(ctx, w.Await(ctx)); h != nil || !errors.Is(err, context.Canceled) {
			t.Fatalf("%v, %v", h, err)
		}
	}
	given := func(when string) {
		t.Helper()
		becomes(t, r.conn, 0, "ZCARD", codec.PermitTimes("seats"))
		if r.are("2", 0); t.Failed() {
			t.Fatal(when)
		}
	}
	leaves(func() {
		redistest.Becomes(t, "a grant comes", func() bool { return two.Snapshot().Hold != nil })
	})
	given("the grant is there")
	r.server.Pause()
	leaves(func() {})
	r.server.Resume()
	// The acquire below is answered after the cancelled one.
	becomes(t, r.conn, 0, "ZCARD", codec.PermitTimes("seats"))
	mustUnlock(t, mustAcquire(t, &two))
	given("the grant is under way")
}
