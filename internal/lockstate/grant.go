package lockstate

import (
	"fmt"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/watchdog"
)

// granted makes a hold of a grant and gives it to the waiter. A grant that
// nobody wants any more, or that can't be trusted any more, is given back.
func (a *attempt) granted(r *command.Request) {
	st, w, n := a.st, a.w, a.st.n
	if w.l.traits.Width == 1 {
		n.supersede(st, r.Wire.Sent)
	}
	h, ok := st.grant(w, r.Wire.Sent, a.lease)
	switch {
	case !ok:
		st.drop(h)
		st.mayHaveSet(r.Wire.Sent, a.lease)
		st.updateLease()
		h.over(lostBy(watchdog.ErrExpired))
		h.giveBack()
		w.fail(fmt.Errorf("%w: its reply took longer than the lease of %v", ErrLeaseLost, st.least(r.Wire.Sent, a.lease)))
	case r.Unreplicated:
		n.s.c.log.unreplicated(st, r)
		a.giveBackFirst(h, func() { a.retryLater(ErrUnreplicated) })
		return
	case a.forces != n.forces:
		// A ForceUnlock was queued behind it: the grant is gone again.
		a.giveBackFirst(h, a.unsent)
		return
	case w.Settled:
		h.giveBack()
	default:
		w.hold = h
		if !n.grantAlone(w) {
			a.reportGrant()
			n.letThrough(st.owner)
		}
		a.end()
		if w.tries == 1 {
			w.done()
		}
		a.done()
		return
	}
	a.reportGrant()
	a.end()
}

// opened handles a grant that nobody holds.
func (a *attempt) opened() {
	a.reportGrant()
	a.end()
}

// reportGrant tells the queue that the lock is taken now.
func (a *attempt) reportGrant() {
	q, w := a.queue()
	q.Granted(q.now(), w, a.w.l.pause(0, kind.Grant{OK: true, TTL: a.lease}))
}

// supersede ends the holds of all owners but st, which the server has just
// named the holder. Replies come in order on one connection, so any other hold of
// this client was granted before, and the server has lost it since; where there
// are two, that is certain of those whose acquire was sent before.
func (n *name) supersede(st *OwnerState, sent time.Duration) {
	if n.states == st && st.next == nil {
		return // as nearly always
	}
	for _, other := range n.ownerStates() {
		if other == st || other.held == 0 || other.heldSince(sent) {
			continue
		}
		cause := errSuperseded
		if n.now() >= other.lease.Expiry() {
			cause = watchdog.ErrExpired // which nobody was told of yet
		}
		other.lose(cause)
	}
}

// heldSince tells whether any living hold's acquire was sent after sent.
func (st *OwnerState) heldSince(sent time.Duration) bool {
	for h := st.holds; h != nil; h = h.next {
		if h.since > sent {
			return true
		}
	}
	return false
}

// giveBackFirst gives a grant back and goes on for the waiter only after that,
// so that the waiter's next attempt is not refused by this grant.
func (a *attempt) giveBackFirst(h *Hold, then func()) {
	h.release(nil, func(err error) {
		a.st.n.s.c.log.givenBack(a.st, err)
		then()
	})
	a.leave()
}

// grant makes a living hold. It reports false if the hold can't be trusted any
// more (H3).
func (st *OwnerState) grant(w *Waiter, sent, lease time.Duration) (*Hold, bool) {
	c := st.n.s.c
	h := st.firstHold
	if h.st != nil {
		h = c.o.NewHold()
	}
	h.l, h.st, h.lease, h.end, h.until = w.l, st, st.lease, clock.Never, clock.Never
	h.since = sent
	if w.Terms.HasLease {
		h.fixed = true
		h.until = later(sent, w.Terms.Lease)
		h.end = watchdog.Trust(sent, w.Terms.Lease)
	} else if w.Terms.HasMax {
		h.until = later(st.n.now(), w.Terms.MaxHold)
		h.end = watchdog.Trust(h.until, c.o.Watchdog)
	}
	if st.lease != nil && st.n.now() >= st.lease.Expiry() {
		st.lose(watchdog.ErrExpired) // which nobody was told of yet
	}
	if st.lease == nil {
		// The holds it would have joined were lost in the meantime.
		st.register()
		h.lease = st.lease
	}
	if st.add(h); st.held == 1 {
		st.n.noteGrant(w.l)
	}
	c.liveHolds.add()
	now := st.n.now()
	if now >= min(h.end, st.trust(sent, lease)) || !st.leased(sent, lease) {
		return h, false
	}
	return h, true
}
