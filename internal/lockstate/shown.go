package lockstate

import "fmt"

// An owner is shown when it leaves this client as a value (NewOwner,
// Hold.Owner), or acts here by As or UnlockAs. Others may acquire as it from
// then on. Its text in a log or in Redis is no such value, until somebody reads
// it and acts by it.
//
// NewOwner's owners are shown wherever they have a state. Their numbers are even,
// so only odd ones need to be looked for.

// Owner is who holds. From then on others may acquire as it.
func (h *Hold) Owner() Owner {
	s := h.l.s
	defer s.enter(mustNotBlock).leave()
	o := h.st.owner
	h.st.shown = true
	if n := s.find(h.l); n != nil {
		n.show(o)
	}
	if o.client == h.l.c.id {
		h.l.c.shown.add(o.thread)
	}
	return o
}

// OwnerText is the owner as Redis holds it, for a text that nobody acts by.
func (h *Hold) OwnerText() string {
	o := h.st.owner
	o.share()
	return o.Text()
}

// show marks the owner's state, if it has one here. It is called with the shard
// locked.
func (n *name) show(o Owner) bool {
	st := n.findOwnerState(o)
	if st == nil {
		return false
	}
	st.shown = true
	return true
}

// ensureShown is ensureOwnerState for an owner that acts by As.
func (n *name) ensureShown(o Owner) *OwnerState {
	st := n.ensureOwnerState(o)
	st.shown = true
	return st
}

// act marks an owner that acts by As or UnlockAs on l, wherever it has a state.
// It refuses a number of this client's that nobody can have. It must not be
// called with a shard locked.
func (c *State) act(l *Lock, o Owner) error {
	switch {
	case c.strays.has(o):
		return strayed(o)
	case o.client != c.id:
		return nil
	case o.thread < 1 || o.thread > 2*c.made.of(o).Load():
		return neverHandedOut(o)
	case o.thread&1 == even || c.shown.has(o.thread):
		return nil
	}
	living := c.showOn(l, o)
	if !living {
		c.eachName(func(n *name) { living = n.show(o) || living })
	}
	if !living && o.thread > c.shown.newest.Load() {
		return neverHandedOut(o)
	}
	c.shown.add(o.thread)
	return nil
}

// showOn is show on l's name, where nearly all of these owners are.
func (c *State) showOn(l *Lock, o Owner) bool {
	s := l.s
	defer s.enter(mustNotBlock).leave()
	n := s.find(l)
	return n != nil && n.show(o)
}

func neverHandedOut(o Owner) error {
	return fmt.Errorf("%w: owner %s is of this client, which never handed it out", ErrInvalidOption, o.Text())
}

// strayed is why nothing is sent for such an owner.
func strayed(o Owner) error {
	return fmt.Errorf("%w: an unlock of owner %s was lost on a connection that could not be killed, and may still run; nothing was sent", ErrUncertain, o.Text())
}
