package lockstate

import (
	"context"
	"fmt"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/kind"
)

// ForceUnlock deletes the lock whoever holds it, as the public method says.
func (l *Lock) ForceUnlock(ctx context.Context) (bool, error) {
	// Redisson's script deletes whatever has the name; a key that is no lock
	// stays untouched here (I2).
	found, err := redis.String(l.c.query(ctx, l.slot, kind.Read("TYPE", l.Key())))
	if err != nil {
		return false, err
	}
	if found != l.traits.KeyType && found != "none" {
		return false, ofKind{fmt.Errorf("the key holds a %.80s, which is no lock; it was left alone", found), ErrRefused}
	}
	// Of a kind that has only a part of its key, this client's holds of the other kinds
	// would end for nothing.
	if ask := l.kind.Ask(kind.Forcible, &kind.Want{Names: &l.names}); !ask.Empty() {
		if a, err := l.Ask(ctx, kind.Forcible, Owner{}); !a.Yes || err != nil {
			return false, err
		}
	}
	f, ended, err := l.startForce()
	if err != nil {
		return false, err
	}
	// The holds have ended, and ctx may have ended with one of them: the command
	// must be sent. The pipeline bounds the wait.
	<-f.done
	if f.err != nil {
		return false, f.err
	}
	l.c.log.Forced(ctx, eventlog.Lock{Name: l.name}, f.there)
	return ended || f.there, nil
}

// startForce ends the name's holds and queues the command. It reports whether
// there were any.
func (l *Lock) startForce() (f *forcing, ended bool, err error) {
	s := l.s
	defer s.enter(mayBlock).leave()
	if l.c.Closed() {
		return nil, false, ErrClosed
	}
	n := s.pin(l)
	// Its own Unlock may delete the key before the command does.
	for _, st := range n.ownerStates() {
		ended = ended || st.held > 0
		st.lose(nil, errForced)
	}
	n.forces++
	f = &forcing{n: n, l: l, done: make(chan struct{})}
	f.req.Handler = f
	f.want = kind.Want{Names: &l.names, Publish: l.publish()}
	l.c.fill(&f.req, l.slot, l.kind.Force(&f.want))
	f.req.Whole = true
	l.c.work.Add()
	if s.sec.enqueue(&f.req) {
		s.forcing++
	} else {
		f.end(&f.req, command.Closed)
	}
	return f, ended, nil
}

// forcing is one ForceUnlock on its way. Once it may have run it is not sent
// again: it could hit the next holder. It does not go aside, and while it may still
// run no acquire does: what is granted behind it must be sent behind it.
type forcing struct {
	req  command.Request
	want kind.Want
	n    *name
	l    *Lock
	done chan struct{} // closed when the rest is known

	ended bool
	there bool // there was something to delete
	err   error
}

// Unanswered ends it: whether it ran is not known.
func (f *forcing) Unanswered(r *command.Request) {
	defer f.l.s.enter(mustNotBlock).leave()
	f.end(r, command.Lost)
}

// Paused never comes.
func (f *forcing) Paused(*command.Request, time.Duration) {}

// Done ends it, unless its connection was lost before. It runs no more.
func (f *forcing) Done(r *command.Request) {
	s := f.l.s
	defer s.enter(mustNotBlock).leave()
	if r.Split() && !f.want.KeyAlone {
		// Its keys are in two places, as those of an unlock may be (package release).
		// It is sent again, with the lock as its only key.
		f.want.KeyAlone, f.req.Whole, f.req.Until = true, false, clock.Never
		f.l.c.fill(&f.req, f.l.slot, f.l.kind.Force(&f.want))
		f.n.forces++ // for those who were queued since
		if s.sec.enqueue(&f.req) {
			return
		}
	}
	s.forcing--
	f.end(r, r.Fate)
}

// end is called with the shard locked.
func (f *forcing) end(r *command.Request, fate command.Fate) {
	if f.ended {
		return
	}
	n := f.n
	f.ended = true
	switch {
	case fate == command.Closed:
		f.err = ErrClosed
	case fate == command.Lost:
		f.err = fmt.Errorf("%w: %w", ErrUncertain, r.Wire.Err)
	case r.Wire.Err != nil:
		f.err = r.Wire.Err
	default:
		f.there, f.err = codec.DecodeForce(r.Wire.Reply)
	}
	if r.MayHaveRun() {
		// Where its script had to be loaded first, it ran behind acquires that
		// were queued after it. Replies come in order, so whatever is held now
		// was granted before it ran.
		for _, st := range n.ownerStates() {
			st.lose(nil, errForced)
		}
	}
	if !f.there {
		n.wakeHead() // no message will tell
	}
	n.unpin()
	n.l.c.work.Done()
	close(f.done)
}
