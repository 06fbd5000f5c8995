package locks

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// fairReplaced is a server that is set back, with a fair lock: its state is that one client holds, and that a waiter of
// another one has a place in the server's queue. By now that one has had the lock.
type fairReplaced struct {
	failedOver
	holder, c *Client
	l         Lock // of c
	as        Terms
	had       *Hold
	ended     chan outcome
}

func newFairReplaced(t *testing.T, as bool) *fairReplaced {
	t.Helper()
	t.Parallel()
	s := redistest.Start(t)
	r := &fairReplaced{failedOver: failedOver{t: t, conn: s.Dial(t)}, holder: openReplaced(t, s), c: openReplaced(t, s), ended: make(chan outcome, 1)}
	of := r.holder.NewLock(fairKind, "q", "q")
	r.l = r.c.NewLock(fairKind, "q", "q")
	if as {
		r.as = Terms{As: true, Owner: r.c.NewOwner()}
	}
	h := mustAcquire(t, &of)
	refused(t, wait(t.Context(), t, &r.l, 0, r.ended, r.as), 1)
	becomes(t, r.conn, 1, "LLEN", codec.FairQueue("q"))
	r.keep()
	mustUnlock(t, h)
	r.had = next(t, r.ended).hold
	return r
}

// nobody checks that the lock is free and that nobody has a place.
func (r *fairReplaced) nobody() {
	r.t.Helper()
	becomes(r.t, r.conn, 0, "EXISTS", "q", codec.FairQueue("q"), codec.FairTimes("q"))
}

// The next master has the place of an owner whose grant and unlock it lacks.
func TestRepeatedFairUnlockLeavesTheQueue(t *testing.T) {
	r := newFairReplaced(t, false)
	mustUnlock(t, r.had)
	r.setBack()
	repeated(t, r.holder, r.c)
	r.nobody()
}

func TestUnlockOfALostFairHoldLeavesTheQueue(t *testing.T) {
	r := newFairReplaced(t, false)
	r.setBack()
	repeated(t, r.holder, r.c)
	if err := Unlock(t.Context(), r.had); !errors.Is(err, ErrNotHeld) {
		t.Error(err)
	}
	r.nobody()
}

func TestRepeatedFairUnlockLeavesItsOwnersNextWaiterThePlace(t *testing.T) {
	r := newFairReplaced(t, true)
	mustUnlock(t, r.had)
	r.setBack()
	refused(t, wait(t.Context(), t, &r.l, 0, r.ended, r.as), 1)
	repeated(t, r.c)
	r.c.awaitLeavers(soon)
	if n := do(t, r.conn, "LLEN", codec.FairQueue("q")); n != int64(1) { // without its place it would take another one later
		t.Errorf("%v have a place", n)
	}
	repeated(t, r.holder)
	mustUnlock(t, next(t, r.ended).hold)
	r.nobody()
}

// The owner's last unlock is one of a plain lock, which has no queue to leave.
func TestRepeatedUnlockOfAnotherKindLeavesNoQueue(t *testing.T) {
	r := newFairReplaced(t, false)
	plain := r.c.NewLock(kind.Reentrant, "q", "q")
	inner := acquireAs(t, &plain, Terms{As: true, Owner: r.had.Owner()})
	r.keep()
	mustUnlock(t, r.had)
	mustUnlock(t, inner)
	r.setBack()
	repeated(t, r.c)
	r.c.Close()
	if errors := string(do(t, r.conn, "INFO", "errorstats").([]byte)); strings.Contains(errors, "errorstat_ERR:") {
		t.Errorf("a command that no server knows was sent: %s", errors)
	}
}

// The next master has the place of a waiter that gave up, which would keep everyone behind it out of the free lock.
func TestLeaveOfAFairLockIsRepeated(t *testing.T) {
	for name, as := range map[string]bool{"fresh owner": false, "as an owner": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, ended := redistest.Start(t), make(chan outcome, 2)
			r := &fairReplaced{failedOver: failedOver{t: t, conn: s.Dial(t)}, holder: openReplaced(t, s), c: openReplaced(t, s)}
			of := r.holder.NewLock(fairKind, "q", "q")
			r.l = r.c.NewLock(fairKind, "q", "q")
			if as {
				r.as = Terms{As: true, Owner: r.c.NewOwner()}
			}
			h := mustAcquire(t, &of)
			ctx, leave := context.WithCancel(t.Context())
			refused(t, wait(ctx, t, &r.l, 0, ended, r.as), 1)
			becomes(t, r.conn, 1, "LLEN", codec.FairQueue("q"))
			r.keep()
			leave()
			<-ended
			becomes(t, r.conn, 0, "LLEN", codec.FairQueue("q"))
			r.c.awaitLeavers(soon)
			r.setBack()
			if as { // another one waits as the owner by now, and keeps the place
				refused(t, wait(t.Context(), t, &r.l, 1, ended, r.as), 1)
				repeated(t, r.c)
				r.c.awaitLeavers(soon)
				if n := do(t, r.conn, "LLEN", codec.FairQueue("q")); n != int64(1) {
					t.Errorf("%v have a place", n)
				}
				mustUnlock(t, h)
				mustUnlock(t, next(t, ended).hold)
			} else {
				repeated(t, r.c)
				becomes(t, r.conn, 0, "LLEN", codec.FairQueue("q"))
				mustUnlock(t, h)
			}
			r.nobody()
		})
	}
}
