package lockstate

import (
	"github.com/rlock-go/redisson/internal/owner"
	"github.com/rlock-go/redisson/internal/section"
)

// NewOwner makes a new owner, for a caller to use. It does no I/O.
func (c *client) NewOwner() owner.Owner { return c.Actors.New() }

// Exclusive tells whether nobody but this client can hold as o.
func (c *client) Exclusive(o owner.Owner) bool { return c.Actors.Exclusive(o) }

// Owner is the owner that holds. From this call on others may acquire as it.
func (h *Hold) Owner() owner.Owner {
	defer h.l.s.Enter(section.MustNotBlock).Leave()
	o := h.st.owner
	h.st.marked = true
	if st := h.l.ownerState(o); st != nil {
		st.marked = true // the hold's own state may have been dropped
	}
	h.l.c.Actors.HandOut(o)
	return o
}

// OwnerText is the owner as Redis stores it, for texts that nobody uses to act as the owner. So
// it does not count as shared.
func (h *Hold) OwnerText() string { return h.st.owner.String() }

// mayBeShared tells whether others may act as the owner, now or before its unlock: a client
// that has given away one owner's text may also give away the next one's.
func (st *OwnerState) mayBeShared() bool { return st.shown() || st.n.l.c.Actors.SharesAcquires() }

// shown tells whether others may act as the owner.
func (st *OwnerState) shown() bool { return st.marked || st.n.l.c.Actors.Parsed(st.owner) }

// ensureShown is ensureOwnerState for an owner that acts by As.
func (n *name) ensureShown(o owner.Owner) *OwnerState {
	st := n.ensureOwnerState(o)
	st.marked = true
	return st
}

// MayAct returns an error if the owner may not acquire l by As.
func (l *Lock) MayAct(o owner.Owner) error { return l.c.act(l, o) }

// act asks whether an owner may act by As or UnlockAs on l. It must not be called with a
// shard locked.
func (c *client) act(l *Lock, o owner.Owner) error {
	return c.Actors.MayAct(o, func() bool { return l.knows(o) || c.knows(o) })
}

// knows tells whether the owner has a state on l's name. Nearly all such owners have it there.
func (l *Lock) knows(o owner.Owner) bool {
	defer l.s.Enter(section.MustNotBlock).Leave()
	return l.ownerState(o) != nil
}

// knows tells whether the owner has a state on any name.
func (c *client) knows(o owner.Owner) (known bool) {
	c.eachName(func(n *name) { known = known || n.findOwnerState(o) != nil })
	return known
}

// stray records that a lost unlock of o may still run, for LateFor from now on. It is called
// with a shard locked.
func (c *client) stray(o owner.Owner) {
	c.Actors.Stray(o)
	c.Timers.After(c.LateFor(), func() { c.Actors.Arrived(o) })
}
