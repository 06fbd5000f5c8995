package acquire

import (
	"fmt"

	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/lockerr"
	"github.com/rlock-go/redisson/internal/state"
	"github.com/rlock-go/redisson/internal/unlock"
)

// granted turns a grant into a hold and gives it to the waiter. A grant that nobody wants any
// more, or that can no longer be trusted, is given back.
func (a *attempt) granted(r *command.Request, token int64) {
	st, w, n := a.st, a.w, a.st.Name
	if w.l.Traits.Width == 1 && n.Holders > min(st.Held, 1) || w.l.Traits.Width != 1 && n.Exclusive > 0 {
		n.Supersede(st, w.l.Traits.Width, r.Wire.Sent)
	}
	h, ok := st.Grant(w.l, &w.Terms, r.Wire.Sent, a.lease)
	if (w.refused || a.lost) && w.l.Traits.ByOwner && n.Lock.Client.FailsOver { // also for a grant that is given back
		st.EnsureExtras().Place = &state.PlaceTaken{Wait: w.place}
	}
	if !ok || w.Settled || a.forces != n.Forces || r.Unreplicated {
		a.grantedInVain(r, h, ok)
		return
	}
	w.hold = h
	if token > 0 {
		st.EnsureExtras().Token = token
	}
	if n.EndAlone(&w.Turn) {
		w.Settled = true
		w.ready <- struct{}{}
	} else {
		a.reportGrant()
		n.LetThrough(st.Owner)
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
	q.Granted(a.st.Name.Now(), &a.w.Waiter, q.Unheard(a.w.l.Pause(0, kind.Grant{OK: true, TTL: a.lease})))
}

// grantedInVain ends an attempt whose grant the waiter can't have. ok tells whether the hold
// can be trusted.
func (a *attempt) grantedInVain(r *command.Request, h *state.Hold, ok bool) {
	st, w, n := a.st, a.w, a.st.Name
	switch {
	case !ok:
		st.Drop(h)
		st.MayHaveSet(r.Wire.Sent, a.lease)
		st.UpdateLease()
		why := state.LostBy(state.ErrExpired)
		if w.Settled { // nobody has lost what no caller had
			why = lockerr.ErrReleased
		}
		h.Over(why)
		unlock.GiveBack(h)
		w.fail(fmt.Errorf("%w: its reply took longer than the lease of %v", lockerr.ErrLeaseLost, st.Least(r.Wire.Sent, a.lease)))
	case r.Unreplicated:
		err := lockerr.Unreplicated(r)
		w.vain = err
		n.Lock.Client.Log.Unreplicated(n.Lock.Shard, st.Told(), r.Wire.Replicas, err)
		if st.Held == 1 { // the owner held nothing before
			a.leaveRoom(n.Now() - r.Wire.Sent)
		}
		a.giveBackFirst(h, func() { a.retryLater(err) })
		return
	case a.forces != n.Forces:
		// A ForceUnlock was queued after it and has deleted what was granted.
		a.giveBackFirst(h, a.unsent)
		return
	default: // its caller has left
		unlock.GiveBack(h)
	}
	a.reportGrant()
	a.end()
}
