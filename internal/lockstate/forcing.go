package lockstate

import (
	"context"
	"fmt"
	"sync"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/lockerr"
	"github.com/rlock-go/redisson/internal/owner"
)

// ForceUnlock deletes the lock whoever holds it, as the public method says.
func (l *Lock) ForceUnlock(ctx context.Context) (bool, error) {
	// Redisson's script deletes whatever has the name; a key that is no lock
	// stays untouched here (I2).
	found, err := redis.String(l.c.Query(ctx, l.Slot, kind.Read("TYPE", l.Key())))
	if err != nil {
		return false, err
	}
	if found != l.Traits.KeyType && found != "none" {
		return false, lockerr.OfKind(fmt.Errorf("the key holds a %.80s, which is no lock; it was left alone", found), lockerr.ErrRefused)
	}
	// Of a kind that has only a part of its key, this client's holds of the other kinds
	// would end for nothing.
	if ask := l.Kind.Ask(kind.Forcible, &kind.Want{Names: &l.Names}); !ask.Empty() {
		if a, err := l.Ask(ctx, kind.Forcible, owner.Owner{}); !a.Yes || err != nil {
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
		return f.there, f.err
	}
	l.c.Log.Forced(ctx, eventlog.Lock{Name: l.Name()}, f.there)
	return ended || f.there, nil
}

// startForce ends the name's holds and queues the command. It reports whether
// there were any.
func (l *Lock) startForce() (f *forcing, ended bool, err error) {
	s := l.s
	defer s.enter(mayBlock).leave()
	if l.c.Closed() {
		return nil, false, lockerr.ErrClosed
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
	f.want = kind.Want{Names: &l.Names, Publish: l.Publish()}
	l.c.Fill(&f.req, l.Slot, l.Kind.Force(&f.want))
	f.req.Whole = true
	l.c.Work.Add()
	if s.sec.enqueue(&f.req) {
		s.forcing++
	} else {
		f.end()
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

	there bool // there was something to delete
	err   error
}

// Answered ends it.
func (f *forcing) Answered(*command.Request) {
	defer f.l.s.enter(mustNotBlock).leave()
	f.l.s.forcing--
	f.end()
}

// Rest ends one that was not answered.
func (f *forcing) Rest(r *command.Request) { f.rest(func() { f.l.c.Exec.Barrier(r) }) }

// rest is Rest with what waits until nothing of r can run any more. Where its keys are in two places, as those of an
// unlock may be (package release), it is sent again with the lock as its only key.
func (f *forcing) rest(barrier func()) {
	r, s := &f.req, f.l.s
	defer s.enter(mayBlock).leave()
	if r.Split() {
		f.want.KeyAlone, r.Whole, r.Until = true, false, clock.Never
		f.l.c.Fill(r, f.l.Slot, f.l.Kind.Force(&f.want))
		f.n.forces++ // for those who were queued since
		if s.sec.enqueue(r) {
			s.await(r)
		}
	}
	if f.end(); r.Fate == command.Lost { // its caller is told, and bytes of it may still run
		s.blocks(barrier)
	}
	s.forcing--
}

// end tells its caller. It is called with the shard locked.
func (f *forcing) end() {
	n, r := f.n, &f.req
	if f.err = lockerr.Unanswered(r); r.Fate == command.Answered {
		if f.there, f.err = codec.DecodeForce(r.Wire.Reply); r.Untold != nil {
			f.err = fmt.Errorf("forced, but nobody could be told: %w", r.Untold)
		}
	}
	if r.MayHaveRun() {
		// Where its script had to be loaded first, it ran behind acquires that
		// were queued after it. What was sent before it ran before it.
		for _, st := range n.ownerStates() {
			if st.find(func(h *Hold) bool { return h.since > r.Wire.Sent }) == nil {
				st.lose(nil, errForced)
			}
		}
	}
	if !f.there || r.Untold != nil {
		n.wakeHead() // no message will tell
	}
	n.unpin()
	n.l.c.Work.Done()
	close(f.done)
}

// clients are the states of this process that are not closed, by their ids.
var clients sync.Map

// TakenAway ends what the clients of this process hold by a name on one server, which is
// not held any more. It is for tests with a server that tells nobody of that.
func TakenAway(server, from string) {
	clients.Range(func(_, client any) bool {
		if c := client.(*State); c.Top.String() == server {
			c.eachName(func(n *name) {
				for _, st := range n.ownerStates() {
					if n.l.Name() == from {
						st.lose(nil, errForced)
					}
				}
			})
		}
		return true
	})
}
