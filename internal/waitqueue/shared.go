package waitqueue

// shared are the first of those in the queue for each shared owner. The others
// follow it, so that an owner's waiters are found however many wait.
type shared map[any]*Waiter

// add adds w, which has just come to the end of the queue.
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

// remove takes w out, which is there.
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
