package locks

import (
	"context"
	"fmt"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/luasrc"
)

// ForceUnlock deletes the lock whoever holds it, as the public method says.
func ForceUnlock(ctx context.Context, l *Lock) (bool, error) {
	// Redisson's script deletes whatever has the name; a key that is no lock
	// stays untouched here (I2).
	found, err := redis.String(l.Client.Query(ctx, l.slot, kind.Read("TYPE", l.key)))
	if err != nil {
		return false, err
	}
	if found != l.Traits.KeyType && found != "none" {
		return false, ofKind(fmt.Errorf("the key holds a %.80s, which is no %s; it was left alone", found, l.Traits.Object()), ErrRefused)
	}
	// If other kinds share the key, there may be nothing to force. Then this client's holds of the other
	// kinds must not end.
	if ask := l.kind.Ask(kind.Forcible, &kind.Want{Names: &l.names}); !ask.Empty() {
		if a, err := l.Ask(ctx, kind.Forcible, Owner{}); !a.Yes || err != nil {
			return false, err
		}
	}
	there, ended, err := force(l)
	if err != nil {
		return there, err
	}
	l.Client.Log.Forced(ctx, eventlog.Lock{Name: l.name}, there)
	return ended || there, nil
}

// forcedBy is why holds of l that are forced end.
func (l *Lock) forcedBy() error {
	if l.Traits.Permits {
		return errDeleted
	}
	return errForced
}

// forced tells whether this client forced the holds that ended because of cause.
func forced(cause error) bool { return cause == errForced || cause == errDeleted }

// force ends this client's holds of the name, and deletes the key. It takes no context: the caller's may be
// derived from one of the holds, and end with it. The pipeline bounds the wait. Once the command may have run
// it is not sent again: it could hit the next holder. It does not go aside, and while it may still run no
// acquire does: an acquire that is granted after it must be sent after it.
func force(l *Lock) (there, ended bool, err error) {
	c, s := l.Client, l.shard
	defer s.enter(mayBlock).leave()
	if c.Closed() {
		return false, false, ErrClosed
	}
	names := s.pinKey(l) // a plain lock's command deletes a read-write lock's key as well
	n := names[0]
	states := func(yield func(*OwnerState) bool) {
		for _, n := range names {
			for _, st := range n.ownerStates() {
				if !yield(st) {
					return
				}
			}
		}
	}
	defer func() {
		for _, n := range names {
			n.unpin()
		}
	}()
	c.work.Add()
	defer c.work.Done()
	// These count as ended: a holder's own Unlock may delete the key before the command does.
	for st := range states {
		ended = ended || st.held > 0
		st.lose(nil, l.forcedBy())
	}
	want, r := kind.Want{Names: &l.names, Publish: l.Client.top.Publish(l.slot)}, new(command.Request)
	send := func() {
		for _, n := range names {
			n.forces++ // attempts that were queued before notice it
		}
		r.Fill(l.slot, l.kind.Force(&want), c.Replicas)
		if s.enqueue(r) {
			s.await(r)
		}
	}
	s.forcing++
	r.Whole = true
	if send(); r.Refusal().Split() {
		// Its keys are in two places, as may be those of an unlock (package release). It is sent again with
		// the lock as its only key.
		want.KeyAlone, r.Whole, r.Until = true, false, clock.Never
		send()
	}
	if err = unanswered(r); r.Fate == command.Answered {
		var blind error
		if there, blind, err = luasrc.DecodeForce(r.Wire.Reply); r.Unannounced != nil {
			err = unannounced("forced", r.Unannounced)
		}
		if blind != nil {
			c.Log.CommandRefused(s, l.server(), "HRANDFIELD", blind)
		}
	}
	if r.MayHaveRun() {
		// If its script had to be loaded first, it ran after acquires that were queued later. Whatever was
		// sent before it ran before it.
		for st := range states {
			if st.find(func(h *Hold) bool { return h.since > r.Wire.Sent }) == nil {
				st.lose(nil, l.forcedBy())
			}
		}
	}
	if !there || r.Unannounced != nil {
		n.wakeHead() // no message will come
	}
	if r.Fate == command.Lost { // bytes of it may still run
		c.Go(func() {
			c.exec.Barrier(r)
			defer s.enter(mustNotBlock).leave()
			s.forcing--
		})
	} else {
		s.forcing--
	}
	return there, ended, err
}
