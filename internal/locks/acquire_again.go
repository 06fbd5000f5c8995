package locks

import (
	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
)

// again sends a lost acquire again until it is answered. It says how many holds the owner has with
// this one, so it may run any number of times: what an earlier send got, the caller keeps, and a
// waiter in the server's queue has its place. It reports false if the acquire must be undone. It is
// called in the owner's command queue, behind the kill barrier.
func (a *attempt) again() (answered bool) {
	r, s := &a.req, a.st.name.lock.shard
	a.referenced = true
	for a.mayRepeat() {
		r.Until = clock.Never // its caller bounds it
		if a.send(); !a.queued {
			return false
		}
		s.await(r)
		switch {
		case r.Fate == command.Answered:
			a.answered(r)
			return true
		case r.Fate == command.Lost:
			a.wasLost()
		case r.Again > 0 && (r.Fate == command.NotSent || a.passing() && !r.Moving()):
			a.st.pause(r.Again)
		default:
			return false
		}
	}
	return false
}

// mayRepeat tells whether the acquire may be sent again: its caller waits, no earlier send can run
// any more, and only this client acts for the owner, so that nobody else changes its count.
func (a *attempt) mayRepeat() bool {
	w, c := a.w, a.w.l.Client
	return w.l.Traits.Repeats && !w.Settled && !a.req.MayArrive && c.actors.exclusive(a.st.Owner) && !c.Closed()
}

// gone ends an attempt that the server answered otherwise: the owner's other holds, on top of which
// it was to be, are gone. They end, and the wait goes on as a first acquire.
func (a *attempt) gone() {
	a.st.lose(a.w.l, errVanished)
	a.resumeAs()
}
