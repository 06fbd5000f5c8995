package unlock

import (
	"context"
	"fmt"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/lockerr"
	"github.com/rlock-go/redisson/internal/owner"
	"github.com/rlock-go/redisson/internal/section"
	"github.com/rlock-go/redisson/internal/state"
)

// Force deletes the lock whoever holds it, as the public method says.
func Force(ctx context.Context, l *state.Lock) (bool, error) {
	// Redisson's script deletes whatever has the name; a key that is no lock
	// stays untouched here (I2).
	found, err := redis.String(l.Client.Query(ctx, l.Slot, kind.Read("TYPE", l.Key())))
	if err != nil {
		return false, err
	}
	if found != l.Traits.KeyType && found != "none" {
		return false, lockerr.OfKind(fmt.Errorf("the key holds a %.80s, which is no lock; it was left alone", found), lockerr.ErrRefused)
	}
	// If other kinds share the key, there may be nothing to force. Then this client's holds of the other
	// kinds must not end.
	if ask := l.Kind.Ask(kind.Forcible, &kind.Want{Names: &l.Names}); !ask.Empty() {
		if a, err := l.Ask(ctx, kind.Forcible, owner.Owner{}); !a.Yes || err != nil {
			return false, err
		}
	}
	there, ended, err := force(l)
	if err != nil {
		return there, err
	}
	l.Client.Log.Forced(ctx, eventlog.Lock{Name: l.Name()}, there)
	return ended || there, nil
}

// force ends this client's holds of the name, and deletes the key. It takes no context: the caller's may be
// derived from one of the holds, and end with it. The pipeline bounds the wait. Once the command may have run
// it is not sent again: it could hit the next holder. It does not go aside, and while it may still run no
// acquire does: an acquire that is granted after it must be sent after it.
func force(l *state.Lock) (there, ended bool, err error) {
	c, s := l.Client, l.Shard
	defer s.Enter(section.MayBlock).Leave()
	if c.Closed() {
		return false, false, lockerr.ErrClosed
	}
	names := s.PinKey(l) // a plain lock's command deletes a read-write lock's key as well
	n := names[0]
	states := func(yield func(*state.OwnerState) bool) {
		for _, n := range names {
			for _, st := range n.OwnerStates() {
				if !yield(st) {
					return
				}
			}
		}
	}
	defer func() {
		for _, n := range names {
			n.Unpin()
		}
	}()
	c.Work.Add()
	defer c.Work.Done()
	// These count as ended: a holder's own Unlock may delete the key before the command does.
	for st := range states {
		ended = ended || st.Held > 0
		st.Lose(nil, state.ErrForced)
	}
	want, r := kind.Want{Names: &l.Names, Publish: l.Publish()}, new(command.Request)
	send := func() {
		for _, n := range names {
			n.Forces++ // attempts that were queued before notice it
		}
		c.Fill(r, l.Slot, l.Kind.Force(&want))
		if s.Enqueue(r) {
			s.Await(r)
		}
	}
	s.Forcing++
	r.Whole = true
	if send(); r.Split() {
		// Its keys are in two places, as may be those of an unlock (package release). It is sent again with
		// the lock as its only key.
		want.KeyAlone, r.Whole, r.Until = true, false, clock.Never
		send()
	}
	if err = lockerr.Unanswered(r); r.Fate == command.Answered {
		if there, err = codec.DecodeForce(r.Wire.Reply); r.Untold != nil {
			err = lockerr.Unannounced("forced", r.Untold)
		}
	}
	if r.MayHaveRun() {
		// If its script had to be loaded first, it ran after acquires that were queued later. Whatever was
		// sent before it ran before it.
		for st := range states {
			if st.Find(func(h *state.Hold) bool { return h.Since > r.Wire.Sent }) == nil {
				st.Lose(nil, state.ErrForced)
			}
		}
	}
	if !there || r.Untold != nil {
		n.WakeHead() // no message will come
	}
	if r.Fate == command.Lost { // bytes of it may still run
		c.Go(func() {
			c.Exec.Barrier(r)
			defer s.Enter(section.MustNotBlock).Leave()
			s.Forcing--
		})
	} else {
		s.Forcing--
	}
	return there, ended, err
}
