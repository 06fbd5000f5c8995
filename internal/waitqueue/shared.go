package waitqueue

// shared has the first waiter in the queue of each shared owner. The others of that owner
// follow it, so that they are found quickly however many wait.
type shared map[any]*Waiter

// add adds w, which was just put at the end of the queue.
func (s *shared) add(w *Waiter) {
	first := (*s)[w.Shared]
	if first == nil {
		if *s == nil {
			*s = shared{}
		}
		(*s)[w.Shared], w.prevShared = w, w
		return
	}
	last := first.prevShared
	last.nextShared, w.prevShared, first.prevShared = w, last, w
}

// remove takes out w, which must be in it.
func (s *shared) remove(w *Waiter) {
	first, next := (*s)[w.Shared], w.nextShared
	switch {
	case w != first:
		w.prevShared.nextShared = next
		if next == nil {
			next = first
		}
		next.prevShared = w.prevShared
	case next != nil:
		(*s)[w.Shared], next.prevShared = next, w.prevShared
	default:
		if delete(*s, w.Shared); len(*s) == 0 {
			*s = nil // it may have been large
		}
	}
	w.prevShared, w.nextShared = nil, nil
}
