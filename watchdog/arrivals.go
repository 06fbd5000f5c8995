package watchdog

import "time"

// arrivals are the youngest leases, in the order in which they became live. Most
// leases are forgotten long before anything of them is due: a lock is held for
// a moment. So a new one is not ordered among the others before the goroutine
// looks, and is taken out again without that. There are never more than
// MaxBatch of them, so that a crowd is spread as it comes.
type arrivals []*Lease // nil where one has left

// remove takes one out.
func (a *arrivals) remove(l *Lease) {
	(*a)[l.pos-1] = nil
	l.in, l.pos = inNone, 0
	n := len(*a)
	for n > 0 && (*a)[n-1] == nil {
		n--
	}
	*a = (*a)[:n]
}

// arrive puts a lease that has just become live, and of which nothing is due
// before at, among the arrivals, and sees to it that the goroutine looks in time.
// It is called with mu held.
func (w *Watchdog) arrive(l *Lease, at time.Duration) {
	if len(w.arrivals) == MaxBatch {
		w.settle()
		at = min(at, w.next()) // a crowd has places before it is due
	}
	w.arrivals = append(w.arrivals, l)
	l.in, l.pos = inArrivals, int32(len(w.arrivals))
	if at <= w.wakeAt { // seldom: the goroutine looks earlier than anything of a new lease is due
		w.lookBy(at)
	}
}

// settle gives the arrivals their places in the queues. It is called with mu
// held.
func (w *Watchdog) settle() {
	for _, l := range w.arrivals {
		if l != nil {
			w.settleOne(l)
		}
	}
	clear(w.arrivals)
	w.arrivals = w.arrivals[:0]
}

// settleOne gives one arrival its place, where it is due a little earlier than
// it was if too many others are due then. It is called with mu held.
func (w *Watchdog) settleOne(l *Lease) {
	l.in, l.pos = inNone, 0
	l.spread(l.renewAt - w.third)
	w.enqueue(l)
}
