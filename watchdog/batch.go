package watchdog

import (
	"container/heap"
	"slices"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
)

// MaxBatch is the largest number of leases that one call of a [RenewFunc] gets. A server
// that renews them does nothing else meanwhile.
const MaxBatch = 25

// batch is up to MaxBatch live leases with one place in the heap: leases to be renewed at
// the same time, leases that wait for the answer to that, or leases that are not renewed.
type batch struct {
	group   *group
	leases  []*Lease
	due     time.Duration // of its first lease
	renewAt time.Duration // when all are renewed, earlier than due where many others are due then; Never: none is renewed
	goes    time.Duration // when it is sent, which may be later; 0: not planned yet
	hurried bool          // RenewThose has moved renewAt
	unread  bool          // some leases may be young or aged, see watch.go
	sent    bool          // its renewal is in flight, and no lease joins it
	at      time.Duration // when the goroutine looks at it: nothing in it is due before
	pos     int           // in the watchdog's heap
}

// group is the leases that may be in one batch.
type group struct {
	number int
	paced  bool   // late batches are sent at a limited pace
	n      int    // number of leases
	open   *batch // batch that others join; nil: none
}

// groupNumbered finds or makes a group.
func (w *Watchdog) groupNumbered(number int) *group {
	g := w.groups[number]
	if g == nil {
		if g = w.spareGroup; g == nil {
			g = new(group)
		}
		w.spareGroup = nil
		*g = group{number: number, paced: true}
		w.groups[number] = g
	}
	return g
}

// put adds a live lease to a batch; it must be in none. A renewing lease is renewed
// together with others at due. It is renewed earlier if trust ends too soon for retries,
// or if many others are due then. onTime says that due is a third after a renewal that
// was in its place, so that the lease keeps that place.
func (w *Watchdog) put(l *Lease, due time.Duration, onTime bool) {
	if !l.renewing || due > l.renewUntil || due == Never {
		if l.asserts == 0 {
			w.join(&w.resting, l, Never, 0, true)
			return
		}
		due = w.clock.Now()
	}
	g, near := &w.all, w.lead
	if w.groupNumber != nil {
		if g = w.groupNumbered(w.groupNumber(l.holder)); g.n < MaxBatch {
			near = Never // one command renews the whole group
		}
	}
	w.join(g, l, w.soonest(l, due), near, onTime)
}

// soonest moves a renewal to an earlier instant if trust was cut short. Every renewing
// lease gets at least one attempt. But a quarter of the remaining time passes first, so
// that a trust that is always short does not cause renewals without pause.
func (w *Watchdog) soonest(l *Lease, due time.Duration) time.Duration {
	if at := l.Expiry() - w.lead; at < due {
		now := w.clock.Now()
		due = min(due, max(at, now+(l.Expiry()-now)/4))
	}
	return due
}

// join adds l to the open batch of g if the two are due near each other, or else opens
// another batch.
func (w *Watchdog) join(g *group, l *Lease, due, near time.Duration, onTime bool) {
	b := g.open
	switch {
	case b != nil && len(b.leases) == 0:
		b.due, b.goes, b.hurried = due, 0, false
		w.renewAt(b, due)
	case b == nil || len(b.leases) == MaxBatch || (due-b.due).Abs() > near || near != Never && b.renewAt < w.earliest(due):
		b = w.open(g, due, onTime)
	case due < b.renewAt:
		w.renewAt(b, due)
	}
	w.add(b, l)
	w.lookAt(b, min(b.renewAt, l.end()))
}

func (w *Watchdog) add(b *batch, l *Lease) {
	b.group.n++
	b.leases = append(b.leases, l)
	b.unread = b.unread || l.watch < looking
	l.batch = b
}

// earliest is the first instant to which a renewal that is due may be moved, to make room
// for others.
func (w *Watchdog) earliest(due time.Duration) time.Duration { return due - w.third + w.third/16 }

// open makes a batch of g for the leases that come next.
func (w *Watchdog) open(g *group, due time.Duration, onTime bool) *batch {
	b := w.spare
	if w.spare = nil; b == nil {
		b = &batch{leases: make([]*Lease, 0, min(g.n+1, MaxBatch))}
	}
	*b = batch{group: g, leases: b.leases, due: due, renewAt: Never, at: Never}
	if g.paced && !onTime && w.schedule.isTaken(due) {
		due = w.schedule.fit(due, max(w.clock.Now(), w.earliest(due)))
	}
	w.renewAt(b, due)
	heap.Push(&w.batches, b)
	g.open = b
	return b
}

// renewAt sets when b is renewed.
func (w *Watchdog) renewAt(b *batch, at time.Duration) {
	if b.group.paced && b.renewAt != Never {
		w.schedule.remove(b.renewAt)
	}
	if b.group.paced && at != Never {
		w.schedule.add(at)
	}
	b.renewAt = at
}

// leave takes l out of its batch. If the batch is empty then, it is dropped, unless it is
// open and there are no groups: most leases are forgotten long before anything in their
// batch is due, and the next lease joins it.
func (w *Watchdog) leave(l *Lease) {
	b := l.batch
	l.batch = nil
	i := slices.Index(b.leases, l)
	b.leases = slices.Delete(b.leases, i, i+1)
	b.group.n--
	if len(b.leases) == 0 && (b != b.group.open || w.groupNumber != nil) {
		w.end(b)
	}
}

// end drops a batch without leases, and its group if that has none.
func (w *Watchdog) end(b *batch) {
	g := b.group
	heap.Remove(&w.batches, b.pos)
	if g.open == b {
		g.open = nil
	}
	if !b.sent {
		w.renewAt(b, Never)
	}
	w.spare = b
	if g.n == 0 && w.groupNumber != nil && g.paced {
		delete(w.groups, g.number)
		w.spareGroup = g
	}
}

// lookAt makes the goroutine look at b at the given instant at the latest.
func (w *Watchdog) lookAt(b *batch, at time.Duration) {
	if at < b.at {
		b.at = at
		heap.Fix(&w.batches, b.pos)
	}
	w.lookBy(b.at)
}

// lookAgain computes when the goroutine looks at b next.
func (w *Watchdog) lookAgain(b *batch) {
	b.at = Never
	if !b.sent {
		b.at = max(b.renewAt, b.goes)
	}
	for _, l := range b.leases {
		b.at = min(b.at, l.end())
	}
	heap.Fix(&w.batches, b.pos)
}

// mayGo reports whether b, which is due, is to be renewed now. After the process or the
// clock stood still, late batches are sent at a limited pace, but not so slowly that a
// lease could end. The pace holds for what RenewThose moved, too. With groups it holds
// for every batch, because batches may be due at one instant.
func (w *Watchdog) mayGo(b *batch, now time.Duration) bool {
	if !b.group.paced || w.groupNumber == nil && b.goes == 0 && !b.hurried && now <= b.renewAt+w.schedule.width {
		return true
	}
	if b.goes == 0 {
		b.goes = min(max(b.renewAt, w.resume), clock.Later(b.renewAt, w.third/4))
		w.resume = max(w.resume, b.goes+w.gap()*time.Duration(len(b.leases))/MaxBatch)
	}
	return b.goes <= now
}

// gap is the least time between two calls where there is a pace: half of what it
// would be if all were full and evenly spread.
func (w *Watchdog) gap() time.Duration {
	return w.third / time.Duration(2*max(slotsPerThird, w.live/MaxBatch))
}

// batches is a heap by when they are looked at.
type batches []*batch

func (h batches) Len() int           { return len(h) }
func (h batches) Less(i, j int) bool { return h[i].at < h[j].at }

func (h batches) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].pos, h[j].pos = i, j
}

func (h *batches) Push(b any) {
	b.(*batch).pos = len(*h)
	*h = append(*h, b.(*batch))
}

func (h *batches) Pop() any {
	last := len(*h) - 1
	b := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return b
}
