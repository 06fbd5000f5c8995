package lockstate

import (
	"fmt"
	"time"

	"github.com/rlock-go/redisson/watchdog"
)

// timeIsUp ends the hold, unless it is an extension's time that is up and that was
// not written yet.
func (h *Hold) timeIsUp(now time.Duration) {
	if e := h.extends; e != nil && now >= e.trustEnds() {
		e.restartTrust(now)
	}
	switch {
	case now >= h.lease.Expiry():
		h.st.lose(watchdog.ErrExpired)
	case now >= h.own():
		h.st.drop(h)
		h.st.ensureExtras().stillCounted++
		h.stillCounted = true
		h.over(lostBy(watchdog.ErrExpired))
		h.st.logLost([]*Hold{h}, watchdog.ErrExpired)
		h.st.updateLease()
		if h.st.held == 0 {
			h.st.n.wakeHead() // nobody will unlock
			h.st.dropIfIdle()
		}
	}
}

// LeaseLost is called by the watchdog when trust has ended or when the server
// does not name this owner any more.
func (st *OwnerState) LeaseLost(l *watchdog.Lease, cause error) {
	s := st.n.l.s
	defer s.enter(mustNotBlock).leave()
	if st.lease == l {
		st.lose(cause)
	}
}

// LeaseAlarm is called by the watchdog when a hold's own lease has ended,
// or it is old enough to be logged.
func (st *OwnerState) LeaseAlarm(l *watchdog.Lease) {
	s := st.n.l.s
	defer s.enter(mustNotBlock).leave()
	if st.lease != l {
		return
	}
	for h := st.holds; h != nil; {
		next := h.next
		if h.check() == nil { // else it ended, or all did
			h.tellAge()
		}
		h = next
	}
	if st.lease == l {
		// The next alarm; or this one came a moment early.
		st.updateLease()
	}
}

// tally is how many living holds the server counts together with those of l's
// kind.
func (st *OwnerState) tally(l *Lock) (n int32) {
	for h := st.holds; h != nil; h = h.next {
		if h.l.traits.Tally == l.traits.Tally {
			n++
		}
	}
	return n
}

// loseTally ends the living holds that the server counts together with those of
// l's kind, because the owner has none of them any more. Nearly always that is
// all.
func (st *OwnerState) loseTally(l *Lock, cause error) {
	if st.tally(l) == st.held {
		st.lose(cause)
		return
	}
	var lost []*Hold
	for h := st.holds; h != nil; {
		next := h.next
		if h.l.traits.Tally == l.traits.Tally {
			st.drop(h)
			h.over(lostBy(cause))
			lost = append(lost, h)
		}
		h = next
	}
	if len(lost) > 0 {
		st.logLost(lost, cause)
		st.updateLease()
		st.n.wakeHead()
	}
}

// dropAll removes all living holds and returns them.
func (st *OwnerState) dropAll() []*Hold {
	var holds []*Hold
	for h := st.holds; h != nil; h = st.holds {
		holds = append(holds, h)
		st.drop(h)
	}
	return holds
}

// lose ends every living hold, because the owner does not have the key any
// more.
func (st *OwnerState) lose(cause error) {
	st.forget()
	holds := st.dropAll()
	if share := st.n.fairShare; share != nil && len(holds) > 0 {
		share.Released(st.n.now(), false)
	}
	for _, h := range holds {
		h.over(lostBy(cause))
	}
	if len(holds) > 0 {
		st.logLost(holds, cause)
		// The message of a forced unlock is still to come.
		if cause != errForced {
			st.n.wakeHead()
		}
	}
	st.dropIfIdle()
}

// logLost logs holds that ended before they were released.
func (st *OwnerState) logLost(holds []*Hold, cause error) {
	c, slot := st.n.l.c, st.n.l.slot
	if !c.log.Warns() {
		return
	}
	now, since, renewed := st.n.now(), holds[0].since, false
	for _, h := range holds {
		since = min(since, h.since)
		renewed = renewed || !h.promise.Fixed && now < h.promise.Until
	}
	// What is renewed was there a lease ago.
	there := since
	if renewed {
		there = max(since, now-c.o.Watchdog)
	}
	held := now - since
	if cause = reason(cause); cause != errForced && c.newMaster(slot, there) {
		cause = fmt.Errorf("%w, after the master changed", cause)
	}
	server := c.top.String()
	if node, err := c.top.Node(slot); err == nil {
		server = node.Server()
	}
	c.log.Lost(&st.n.l.s.sec, st.told(), server, len(holds), held, renewed, cause)
}
