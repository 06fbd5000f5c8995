package lockstate

// The owners of a name are a list, since there is mostly one. A crowd that tries
// for one name is found by an index, so that what a call costs does not grow with
// the crowd.

// indexFrom is how many owners of a name are looked through before there is an
// index of them. The index goes when half as many are left.
const indexFrom = 32

// findOwnerState is the owner's state, or nil.
func (n *name) findOwnerState(o Owner) *OwnerState {
	if all := n.l.s.indexes[n]; all != nil {
		return all[o]
	}
	st := n.states
	for range indexFrom {
		if st == nil || st.owner == o {
			return st
		}
		st = st.next
	}
	return n.index()[o]
}

// index makes the index.
func (n *name) index() map[Owner]*OwnerState {
	all := map[Owner]*OwnerState{}
	for st := n.states; st != nil; st = st.next {
		all[st.owner] = st
	}
	if n.l.s.indexes == nil {
		n.l.s.indexes = map[*name]map[Owner]*OwnerState{}
	}
	n.l.s.indexes[n] = all
	return all
}

// holds tells whether the owner has a living hold.
func (n *name) holds(o Owner) bool {
	st := n.findOwnerState(o)
	return st != nil && st.held > 0
}

// ensureOwnerState finds or makes the owner's state.
func (n *name) ensureOwnerState(o Owner) *OwnerState {
	if st := n.findOwnerState(o); st != nil {
		return st
	}
	return n.newOwnerState(o)
}

// unindex follows a state that was taken off the list.
func (n *name) unindex(o Owner) {
	if all := n.l.s.indexes[n]; all != nil {
		if delete(all, o); len(all) < indexFrom/2 {
			delete(n.l.s.indexes, n)
		}
	}
}

// ownerStates are the states of all owners of the name.
func (n *name) ownerStates() []*OwnerState {
	var states []*OwnerState
	for st := n.states; st != nil; st = st.next {
		states = append(states, st)
	}
	return states
}
