package state

import (
	"github.com/rlock-go/redisson/internal/owner"
	"github.com/rlock-go/redisson/internal/section"
)

// NewOwner makes a new owner, for a caller to use. It does no I/O.
func (c *Client) NewOwner() owner.Owner { return c.Actors.New() }

// Exclusive tells whether nobody but this client can hold as o.
func (c *Client) Exclusive(o owner.Owner) bool { return c.Actors.Exclusive(o) }

// Owner is the owner that holds. From this call on it may act by As and UnlockAs.
func (h *Hold) Owner() owner.Owner {
	defer h.Lock.Shard.Enter(section.MustNotBlock).Leave()
	o := h.State.Owner
	h.State.Marked = true
	if st := h.Lock.OwnerState(o); st != nil {
		st.Marked = true // the hold's own state may have been dropped
	}
	h.Lock.Client.Actors.HandOut(o)
	return o
}

// OwnerText is the owner as Redis stores it, for texts that nobody uses to act as the owner. So
// it does not count as shared.
func (h *Hold) OwnerText() string { return h.State.Owner.String() }

// EnsureMarked is EnsureOwnerState for an owner that acts by As or UnlockAs.
func (n *Name) EnsureMarked(o owner.Owner) *OwnerState {
	st := n.EnsureOwnerState(o)
	st.Marked = true
	return st
}

// MayAct returns an error if the owner may not act by As or UnlockAs on l. It must not be called
// in a section.
func (l *Lock) MayAct(o owner.Owner) error {
	c := l.Client
	return c.Actors.MayAct(o, func() bool { return l.knows(o) || c.knows(o) })
}

// knows tells whether the owner has a state on l's name. Nearly all such owners have it there.
func (l *Lock) knows(o owner.Owner) bool {
	defer l.Shard.Enter(section.MustNotBlock).Leave()
	return l.OwnerState(o) != nil
}

// knows tells whether the owner has a state on any name.
func (c *Client) knows(o owner.Owner) (known bool) {
	c.EachName(func(n *Name) { known = known || n.FindOwnerState(o) != nil })
	return known
}

// Stray records that a lost unlock of o may still run, for LateFor from now on. It is called
// with a shard locked.
func (c *Client) Stray(o owner.Owner) {
	c.Actors.Stray(o)
	c.Timers.After(c.LateFor(), func() { c.Actors.Arrived(o) })
}
