package watchdog

import "time"

// slot says which of a lease's two positions a queue keeps.
type slot uint8

const (
	renewSlot slot = iota // the due queue or the retry queue, never both
	endSlot
	slots
)

// absent is the position of a lease that is in no queue of that slot.
const absent = -1

// queue orders leases by an instant. It is a heap of four children a node
// that writes each lease's position into the lease, so that any of them can
// be moved or taken out without a search. The instant lies beside the pointer
// because comparing through the pointer costs a cache miss each time.
// A lease that comes last, as new ones do, goes in and out in constant time.
type queue struct {
	slot  slot
	items []item
}

type item struct {
	at    time.Duration
	lease *Lease
}

const arity = 4

// first is the earliest instant, Never when the queue is empty.
func (q *queue) first() time.Duration {
	if len(q.items) == 0 {
		return Never
	}
	return q.items[0].at
}

// set puts l at an instant, whether it was in the queue or not.
func (q *queue) set(l *Lease, at time.Duration) {
	i := int(l.pos[q.slot])
	if i == absent {
		i = len(q.items)
		q.items = append(q.items, item{})
		q.up(i, item{at, l})
		return
	}
	if at == q.items[i].at {
		return
	}
	q.settle(i, item{at, l})
}

// remove takes l out, if it is in.
func (q *queue) remove(l *Lease) {
	i := int(l.pos[q.slot])
	if i == absent {
		return
	}
	l.pos[q.slot] = absent
	last := len(q.items) - 1
	moved := q.items[last]
	q.items[last] = item{}
	q.items = q.items[:last]
	if i != last {
		q.settle(i, moved)
	}
}

// settle puts it into the hole at i and moves it to where it belongs.
func (q *queue) settle(i int, it item) {
	if i > 0 && it.at < q.items[(i-1)/arity].at {
		q.up(i, it)
		return
	}
	q.down(i, it)
}

func (q *queue) up(i int, it item) {
	for i > 0 {
		parent := (i - 1) / arity
		if q.items[parent].at <= it.at {
			break
		}
		q.put(i, q.items[parent])
		i = parent
	}
	q.put(i, it)
}

func (q *queue) down(i int, it item) {
	for {
		child := i*arity + 1
		if child >= len(q.items) {
			break
		}
		least := child
		for c := child + 1; c < min(child+arity, len(q.items)); c++ {
			if q.items[c].at < q.items[least].at {
				least = c
			}
		}
		if it.at <= q.items[least].at {
			break
		}
		q.put(i, q.items[least])
		i = least
	}
	q.put(i, it)
}

func (q *queue) put(i int, it item) {
	q.items[i] = it
	it.lease.pos[q.slot] = int32(i)
}
