package locks

// NewOwner makes a new owner, for a caller to use. It does no I/O.
func (c *Client) NewOwner() Owner { return c.actors.new() }

// Exclusive tells whether nobody but this client can hold as o.
func (c *Client) Exclusive(o Owner) bool { return c.actors.exclusive(o) }

// Owner is the owner that holds. From this call on it may act by As and UnlockAs.
func (h *Hold) Owner() Owner {
	defer h.lock.shard.enter(mustNotBlock).leave()
	o := h.state.Owner
	h.state.marked = true
	if st := h.lock.ownerState(o); st != nil {
		st.marked = true // the hold's own state may have been dropped
	}
	h.lock.Client.actors.handOut(o)
	return o
}

// OwnerText is the owner as Redis stores it, for texts that nobody uses to act as the owner. So
// it does not count as shared.
func (h *Hold) OwnerText() string { return h.state.Owner.String() }

// ensureMarked is ensureOwnerState for an owner that acts by As or UnlockAs.
func (n *nameState) ensureMarked(o Owner) *OwnerState {
	st := n.ensureOwnerState(o)
	st.marked = true
	return st
}

// MayAct returns an error if the owner may not act by As or UnlockAs on l. It must not be called
// in a section.
func (l *Lock) MayAct(o Owner) error {
	c := l.Client
	return c.actors.mayAct(o, func() bool { return l.knows(o) || c.knows(o) })
}

// knows tells whether the owner has a state on l's name. Nearly all such owners have it there.
func (l *Lock) knows(o Owner) bool {
	defer l.shard.enter(mustNotBlock).leave()
	return l.ownerState(o) != nil
}

// knows tells whether the owner has a state on any name.
func (c *Client) knows(o Owner) (known bool) {
	c.eachName(func(n *nameState) { known = known || n.findOwnerState(o) != nil })
	return known
}

// stray records that a lost unlock of o may still run, for lateFor from now on. It is called
// with a shard locked.
func (c *Client) stray(o Owner) {
	c.actors.strays.count(o, 1)
	c.timers.After(c.lateFor(), func() { c.actors.strays.count(o, -1) })
}
