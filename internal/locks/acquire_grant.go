package locks

import (
	"fmt"

	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
)

// granted turns a grant into a hold and gives it to the waiter. A grant that nobody wants any
// more, or that can no longer be trusted, is given back.
func (a *attempt) granted(r *command.Request, token int64) {
	st, w, n := a.st, a.w, a.st.name
	if w.l.Traits.Width == 1 && n.holders > min(st.held, 1) || w.l.Traits.Width != 1 && n.exclusive > 0 {
		n.supersede(st, w.l.Traits.Width, r.Wire.Sent)
	}
	h, ok := st.grant(w.l, &w.Terms, r.Wire.Sent, a.lease)
	if (w.refused || a.lost) && w.l.Traits.ByOwner && n.lock.Client.failsOver { // also for a grant that is given back
		st.ensureExtras().place = &placeTaken{wait: w.place}
	}
	if !ok || w.Settled || a.forces != n.forces || r.Unreplicated {
		a.grantedInVain(r, h, ok)
		return
	}
	w.hold = h
	if token > 0 {
		st.ensureExtras().token = token
	}
	if n.lone == w {
		n.lone, w.Settled = nil, true
		w.ready <- struct{}{}
	} else {
		a.reportGrant()
		n.letThrough(st.Owner)
	}
	a.end()
	if w.tries == 1 {
		w.done()
	}
	a.done()
}

// reportGrant tells the queue that the lock is taken now.
func (a *attempt) reportGrant() {
	q := a.queue()
	q.Granted(a.st.name.Now(), &a.w.Waiter, q.unheard(a.w.l.pause(0, kind.Grant{OK: true, TTL: a.lease})))
}

// grantedInVain ends an attempt whose grant the waiter can't have. ok tells whether the hold
// can be trusted.
func (a *attempt) grantedInVain(r *command.Request, h *Hold, ok bool) {
	st, w, n := a.st, a.w, a.st.name
	switch {
	case !ok:
		st.drop(h)
		st.mayHaveSet(r.Wire.Sent, a.lease)
		st.updateLease()
		why := lostBy(errExpired)
		if w.Settled { // nobody has lost what no caller had
			why = ErrReleased
		}
		h.over(why)
		giveBack(h)
		w.fail(fmt.Errorf("%w: its reply took longer than the lease of %v", ErrLeaseLost, st.least(r.Wire.Sent, a.lease)))
	case r.Unreplicated:
		err := unreplicated(r)
		w.vain = err
		n.lock.Client.Log.Unreplicated(n.lock.shard, st.told(), r.Wire.Replicas, err)
		if st.held == 1 { // the owner held nothing before
			a.leaveRoom(n.Now() - r.Wire.Sent)
		}
		a.giveBackFirst(h, func() { a.retryLater(err) })
		return
	case a.forces != n.forces:
		// A ForceUnlock was queued after it and has deleted what was granted.
		a.giveBackFirst(h, a.unsent)
		return
	default: // its caller has left
		giveBack(h)
	}
	a.reportGrant()
	a.end()
}
