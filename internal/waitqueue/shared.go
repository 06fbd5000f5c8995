package waitqueue

import "slices"

// shared are those in the queue who have a shared owner, by owner and in order, so that
// an owner's waiters are found however many wait. Few share one.
type shared map[any][]*Waiter

// add adds w, which has just come to the end of the queue.
func (s *shared) add(w *Waiter) {
	if *s == nil {
		*s = shared{}
	}
	(*s)[w.Shared] = append((*s)[w.Shared], w)
}

// remove takes w out, which is there.
func (s *shared) remove(w *Waiter) {
	rest := slices.DeleteFunc((*s)[w.Shared], func(other *Waiter) bool { return other == w })
	if len(rest) > 0 {
		(*s)[w.Shared] = rest
		return
	}
	if delete(*s, w.Shared); len(*s) == 0 {
		*s = nil // it may have been large
	}
}
