package waitqueue

import (
	"container/heap"
	"time"
)

// dues is a heap of the unqueued waiters for which something is due at an instant. It
// finds the first quickly however many there are.
type dues []*Waiter

// first is the earliest of these instants, never if there is none.
func (d dues) first() time.Duration {
	if len(d) == 0 {
		return never
	}
	return d[0].dueAt
}

// set makes something due for w at an instant, or nothing if that is 0.
func (d *dues) set(w *Waiter, at time.Duration) {
	was := w.dueAt
	w.dueAt = at
	switch {
	case at == was:
	case at == 0:
		heap.Remove(d, int(w.place))
	case was == 0:
		heap.Push(d, w)
	default:
		heap.Fix(d, int(w.place))
	}
}

// dueBy is the instant at which something is due for w, whose next attempt is made at
// attempt: that, or the earlier instant at which w gives up on a server that never
// answered.
func (q *Queue) dueBy(w *Waiter, attempt time.Duration) time.Duration {
	if w.Refused || w.trouble.err == nil || w.trouble.heard {
		return attempt
	}
	return min(attempt, w.trouble.since+q.timeout)
}

// Len and the methods below implement heap.Interface.
func (d dues) Len() int { return len(d) }

func (d dues) Less(i, j int) bool { return d[i].dueAt < d[j].dueAt }

func (d dues) Swap(i, j int) {
	d[i], d[j] = d[j], d[i]
	d[i].place, d[j].place = int32(i), int32(j)
}

// Push appends w.
func (d *dues) Push(w any) {
	w.(*Waiter).place = int32(len(*d))
	*d = append(*d, w.(*Waiter))
}

// Pop removes and returns the last.
func (d *dues) Pop() any {
	last := len(*d) - 1
	w := (*d)[last]
	(*d)[last] = nil
	*d = (*d)[:last]
	return w
}
