package simulation

import (
	"slices"
	"time"
)

// comesAgain reports whether several calls wait as an owner: one may leave, and another come.
func (o *object) comesAgain(owner string) bool {
	for _, s := range o.own {
		if owner == s.owner.LogValue().String() {
			return true
		}
	}
	return owner == o.shared
}

// shortPlace reports whether an owner's place lasts less than the others'. It expires so long after the one before it, and every
// place comes forward by the acquirer's wait, however long that one really waited: so a short place may expire behind a long one.
func (o *object) shortPlace(owner string) bool {
	a := o.acting[owner]
	return a != nil && a.places > 0 && a.places < javaFairWait*time.Millisecond
}

// queue follows the waiters of a fair lock. The scripts let the first one enter, so order is
// lost only if a place is: if an owner leaves the queue without entering, and comes again.
func (p *play) queue(o *object, m server) {
	now := m.List(queueOf(o.Name))
	if slices.Equal(now, o.enqueued) {
		return
	}
	for _, owner := range o.enqueued {
		if _, entered := m.Field(o.Name, owner); !entered && !slices.Contains(now, owner) {
			o.left[owner] = true
		}
	}
	for _, owner := range now {
		switch {
		case !o.left[owner] || o.comesAgain(owner) || !p.calm() || o.multi || o.sleeps():
		case o.shortPlace(owner):
			p.allow(expiredPlace)
		default:
			p.violate("order: %s lost its place in the queue of %s, and is at the end now", owner, o.Name)
		}
		delete(o.left, owner)
	}
	if len(now) == 0 {
		o.emptied = time.Now()
	}
	if len(now) > 0 && len(o.enqueued) > 0 && now[0] != o.enqueued[0] {
		o.headAt = time.Now()
		if !o.here && p.ranJava {
			o.untold = time.Now() // Redisson's waiter that gives up, or removes a place, tells nobody
		}
	}
	o.enqueued = now
}
