package watchdog

import "time"

// queue orders leases by an instant. It is a heap of four children a node
// that writes each lease's position into the lease, so that any of them can
// be moved or taken out without a search. The instant lies beside the pointer
// because comparing through the pointer costs a cache miss each time.
// A lease that comes last, as new ones do, goes in and out in constant time.
type queue struct {
	name     queueName
	items    []item
	schedule *schedule // counts them by their instants; nil: nobody needs to know
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

// set puts l at an instant. It must be in this queue or in none.
func (q *queue) set(l *Lease, at time.Duration) {
	if l.in == inNone {
		l.in = q.name
		q.schedule.add(at)
		q.items = append(q.items, item{})
		q.up(len(q.items)-1, item{at, l})
		return
	}
	i := int(l.pos) - 1
	if at == q.items[i].at {
		return
	}
	q.schedule.remove(q.items[i].at)
	q.schedule.add(at)
	q.fix(i, item{at, l})
}

// remove takes l out of the queue.
func (q *queue) remove(l *Lease) {
	i := int(l.pos) - 1
	l.in, l.pos = inNone, 0
	q.schedule.remove(q.items[i].at)
	last := len(q.items) - 1
	moved := q.items[last]
	q.items[last] = item{}
	q.items = q.items[:last]
	if i != last {
		q.fix(i, moved)
	}
}

// advance moves later instants of the leases that pick chooses to just after now, in
// the same order: a microsecond for each second.
func (q *queue) advance(now time.Duration, pick func(Holder) bool) {
	for i := range q.items {
		it := &q.items[i]
		if it.at <= now || !pick(it.lease.holder) {
			continue
		}
		q.schedule.remove(it.at)
		it.at = now + (it.at-now)/1_000_000
		it.lease.renewAt = it.at
		q.schedule.add(it.at)
	}
	for i := min(len(q.items)/arity, len(q.items)-1); i >= 0; i-- {
		q.down(i, q.items[i])
	}
}

// drop empties the queue and frees its memory.
func (q *queue) drop() {
	for _, it := range q.items {
		q.schedule.remove(it.at)
	}
	q.items = nil
}

// close ends what is queued, for good.
func (q *queue) close() {
	for _, it := range q.items {
		it.lease.state, it.lease.in, it.lease.pos = forgotten, inNone, 0
	}
}

// fix puts it into the free place at i and moves it to where it belongs.
func (q *queue) fix(i int, it item) {
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
	it.lease.pos = int32(i) + 1
}
