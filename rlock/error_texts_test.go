package rlock

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// An error's text names the call and the lock, and says once what happened.
func TestErrorsSayOnceWhatHappened(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "leases end")
	s := redistest.Start(t)
	conn := s.Dial(t)
	broken := errors.New("broken")
	const (
		gone   = "the server no longer knows of it"
		forced = "released by ForceUnlock"
		ranOut = "its time ran out"
	)
	lost := []error{ErrLeaseLost, ErrNotHeld}
	for what, row := range map[string]struct {
		lease  bool
		happen func(*story)
		call   func(*story) error
		says   string
		is     []error
	}{
		"Unlock after a release": {false, released, unlocks, `rlock: release "orders": already released`, []error{ErrReleased}},
		"Extend after a release": {true, released, extends, `rlock: extend "orders": already released`, []error{ErrReleased}},
		"Err after a release":    {false, released, errs, `rlock: hold "orders": already released`, []error{ErrReleased}},

		"Unlock after a loss by time":                               {true, expired, unlocks, `rlock: release "orders": lease lost: ` + ranOut + `; nothing was left to release for owner CLIENT:THREAD`, lost},
		"Extend after a loss by time":                               {true, expired, extends, `rlock: extend "orders": lease lost: ` + ranOut, lost},
		"Extend of what was lost and unlocked":                      {true, expiredAndUnlocked, extends, `rlock: extend "orders": lease lost: ` + ranOut, lost},
		"Do that lost its lease":                                    {true, nil, does(expired, nil), `rlock: release "orders": lease lost: ` + ranOut + `; nothing was left to release for owner CLIENT:THREAD`, lost},
		"Do whose function failed as well":                          {true, nil, does(expired, func(*story) error { return broken }), "broken\n" + `rlock: release "orders": lease lost: ` + ranOut + `; nothing was left to release for owner CLIENT:THREAD`, append(lost, broken)},
		"Do whose function returns why":                             {true, nil, does(expired, causes), `rlock: release "orders": lease lost: ` + ranOut + `; nothing was left to release for owner CLIENT:THREAD`, lost},
		"Err after a loss by time":                                  {true, expired, errs, `rlock: hold "orders": lease lost: ` + ranOut, lost[:1]},
		"Unlock after a loss by time, of a key that is still there": {true, outlived, unlocks, `rlock: release "orders": lease lost: ` + ranOut + `; its key was still there and is released`, lost},
		"Unlock after a loss by time, whose owner has a newer hold": {true, reentered, unlocks, `rlock: release "orders": lease lost: ` + ranOut + `; nothing was sent, since its owner has newer holds`, lost},

		"Unlock after a loss by force": {false, taken, unlocks, `rlock: release "orders": lease lost: ` + forced + `; nothing was left to release for owner CLIENT:THREAD`, lost},
		"Extend after a loss by force": {true, taken, extends, `rlock: extend "orders": lease lost: ` + forced, lost},
		"Do after a loss by force":     {false, nil, does(taken, causes), `rlock: release "orders": lease lost: ` + forced + `; nothing was left to release for owner CLIENT:THREAD`, lost},

		"Unlock of a key that vanished":                 {false, deleted, unlocks, `rlock: release "orders": not held by owner CLIENT:THREAD: it expired, or was deleted, forced or taken before`, lost},
		"Extend of a key that vanished":                 {true, deleted, extends, `rlock: extend "orders": lease lost: ` + gone, lost},
		"Unlock of a key that a renewal found vanished": {false, vanished, unlocks, `rlock: release "orders": lease lost: ` + gone + `; nothing was left to release for owner CLIENT:THREAD`, lost},
		"Do of a key that vanished":                     {false, nil, does(deleted, nil), `rlock: release "orders": not held by owner CLIENT:THREAD: it expired, or was deleted, forced or taken before`, lost},
		"Do of a key that a renewal found vanished":     {false, nil, does(vanished, causes), `rlock: release "orders": lease lost: ` + gone + `; nothing was left to release for owner CLIENT:THREAD`, lost},
		"UnlockAs of an owner that holds nothing":       {false, deleted, func(s *story) error { return s.l.UnlockAs(context.Background(), s.other()) }, `rlock: release "orders": not held by owner CLIENT:THREAD: it expired, or was deleted, forced or taken before`, lost[1:]},

		"Unlock on a closed client":             {false, closed, unlocks, `rlock: release "orders": client closed`, []error{ErrClosed}},
		"Extend on a closed client":             {true, closed, extends, `rlock: extend "orders": client closed`, []error{ErrClosed}},
		"Do on a client that closes":            {false, nil, does(closed, nil), `rlock: release "orders": client closed`, []error{ErrClosed}},
		"Do on one, returning why":              {false, nil, does(closed, causes), `rlock: release "orders": client closed`, []error{ErrClosed}},
		"Do that lost its lease before a Close": {true, nil, does(expiredAndClosed, nil), `rlock: hold "orders": lease lost: ` + ranOut + "\n" + `rlock: release "orders": client closed`, []error{ErrClosed, ErrLeaseLost}},
		"Do on one, returning why it lost":      {true, nil, does(expiredAndClosed, causes), `rlock: hold "orders": lease lost: ` + ranOut + "\n" + `rlock: release "orders": client closed`, []error{ErrClosed, ErrLeaseLost}},
	} {
		t.Run(what, func(t *testing.T) {
			if _, err := conn.Do("FLUSHALL"); err != nil {
				t.Fatal(err)
			}
			c := open(t, s, WithWatchdogTimeout(soon))
			st := &story{t: t, c: c, conn: conn, l: c.NewLock("orders")}
			if row.lease {
				st.opts = []AcquireOption{Lease(soon / 10)}
			}
			if row.happen != nil {
				st.hold(lockOf(t, st.l, st.opts...))
				row.happen(st)
			}
			err := row.call(st)
			if err == nil {
				t.Fatal("no error")
			}
			_, thread, _ := strings.Cut(st.o.o.String(), ":")
			if want := strings.NewReplacer("CLIENT", c.ID().String(), "THREAD", thread).Replace(row.says); err.Error() != want {
				t.Errorf("\n%v, want\n%s", err, want)
			}
			for _, is := range []error{ErrLeaseLost, ErrNotHeld, ErrReleased, ErrClosed, ErrUncertain, ErrNotLocked, broken} {
				if got, want := errors.Is(err, is), errors.Is(errors.Join(row.is...), is); got != want {
					t.Errorf("%v: errors.Is %v: %v", err, is, got)
				}
			}
		})
	}
}

// story is a hold and what happens to it.
type story struct {
	t    *testing.T
	c    *Client
	conn redis.Conn
	l    *Lock
	opts []AcquireOption
	h    *Hold
	ctx  context.Context // the context of Do's function
	o    Owner
}

func (s *story) hold(h *Hold) { s.h, s.o = h, h.Owner() }

func (s *story) other() Owner {
	s.o = s.c.NewOwner()
	return s.o
}

func (s *story) do(command string, args ...any) any {
	s.t.Helper()
	reply, err := s.conn.Do(command, args...)
	if err != nil {
		s.t.Fatal(err)
	}
	return reply
}

// gone waits until the key has expired, a moment after the hold.
func (s *story) gone() {
	becomes(s.t, "the key is gone", func() bool { return s.do("EXISTS", "orders") == int64(0) })
}

func released(s *story) { mustUnlock(s.t, s.h) }

func expired(s *story) {
	<-s.h.Done()
	s.gone()
}

func expiredAndUnlocked(s *story) {
	expired(s)
	_ = s.h.Unlock(context.Background())
}

func expiredAndClosed(s *story) {
	expired(s)
	s.c.Close()
}

func outlived(s *story) {
	s.do("PERSIST", "orders")
	<-s.h.Done()
}

func reentered(s *story) {
	expired(s)
	lockOf(s.t, s.l, As(s.h.Owner()))
}

func taken(s *story) {
	if forced, err := s.l.ForceUnlock(context.Background()); !forced || err != nil {
		s.t.Fatal(forced, err)
	}
}

func deleted(s *story) { s.do("DEL", "orders") }

func vanished(s *story) {
	deleted(s)
	<-s.h.Done()
}

func closed(s *story) { s.c.Close() }

func unlocks(s *story) error { return s.h.Unlock(context.Background()) }

func extends(s *story) error { return s.h.Extend(context.Background(), time.Minute) }

func errs(s *story) error { return s.h.Err() }

func causes(s *story) error { return context.Cause(s.ctx) }

// does runs happen inside of Do, and then returns the result of returns from Do's function.
func does(happen func(*story), returns func(*story) error) func(*story) error {
	return func(s *story) error {
		return s.l.Do(context.Background(), func(ctx context.Context) error {
			s.ctx = ctx
			s.hold(s.l.l.Snapshot().Hold.Face.(*Hold))
			happen(s)
			if returns == nil {
				return nil
			}
			return returns(s)
		}, s.opts...)
	}
}
