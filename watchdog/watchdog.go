package watchdog

import (
	"cmp"
	"container/heap"
	"math"
	"sync"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
)

// awake is the wakeAt of a goroutine that was started or woken and has not looked at the
// batches since. No instant is earlier, so nothing wakes it a second time.
const awake = time.Duration(math.MinInt64)

// Watchdog renews leases and calls their holders when they are lost. [New] makes one. All
// methods are safe for concurrent use.
type Watchdog struct {
	renewBatch  RenewFunc
	failing     func(*Lease, error) // nil: not called
	idle        func()              // nil: not called
	groupNumber func(Holder) int    // nil: all leases are of one group
	clock       Clock
	third       time.Duration // of the TTL: time between two renewals
	lead        time.Duration // how much earlier than due a renewal may come
	retryEvery  time.Duration // pause after a failed renewal; up to a quarter is added at random

	// maxSleep is the longest time between two looks at the clock. Go's timers do not
	// count suspend: after one they are late by its length, but by no more than maxSleep.
	maxSleep time.Duration

	wakeup chan struct{} // of capacity 1: look at the batches again
	done   sync.WaitGroup

	// mu guards the fields below and those of every Lease. It is held for
	// short computations only, never while renewBatch or a Holder runs.
	mu         sync.Mutex
	batches    batches        // of all live leases
	all        group          // renewed leases, if there is only one group
	groups     map[int]*group // renewed leases otherwise
	retrying   group          // leases whose last renewal failed
	resting    group          // leases that are not renewed
	spare      *batch         // for the next batch
	spareGroup *group         // for the next group
	schedule   *schedule      // of the batches that are to be renewed
	live       int
	resume     time.Duration // no late batch is renewed before this
	looked     time.Duration // when the goroutine last looked
	watching                 // state of the looks, see watch.go
	running    bool          // whether the goroutine exists
	wakeAt     time.Duration // until when it sleeps or slept; awake if it does not sleep, Never without a goroutine
	slept      bool          // whether it has slept, or is about to
	closed     bool
}

// New makes a watchdog that renews by calling renew, which must not be nil. It starts no
// goroutine: one runs only from the first live lease until at most a second after the
// last.
func New(renew RenewFunc, o Options) *Watchdog {
	if renew == nil {
		panic("watchdog: New without a RenewFunc")
	}
	ttl := o.TTL
	if ttl <= 0 {
		ttl = 30 * time.Second
	}
	ttl = max(ttl, time.Millisecond)
	w := &Watchdog{
		renewBatch:  renew,
		failing:     o.Failing,
		idle:        o.Idle,
		groupNumber: o.Group,
		clock:       cmp.Or(o.Clock, clock.System()),
		third:       ttl / 3,
		lead:        ttl / 6,
		retryEvery:  min(max(ttl/30, 10*time.Millisecond), time.Second),
		maxSleep:    time.Second,
		wakeup:      make(chan struct{}, 1),
		all:         group{paced: true},
		groups:      map[int]*group{},
		schedule:    newSchedule(ttl / 3),
		resume:      math.MinInt64,
		looked:      math.MinInt64,
		wakeAt:      Never,
	}
	if w.look = o.Look; w.look == nil {
		w.roundAt = Never
	}
	return w
}

// RenewNow renews every lease as soon as the pace allows, in the order in which they were due.
// Leases that are otherwise not renewed are renewed once. Call it when a connection broke or its
// server was replaced: the answers show which leases are still there, and a server that lacks
// the last command gives each the time that it is trusted for. It does not block.
func (w *Watchdog) RenewNow() { w.RenewThose(func(Holder) bool { return true }) }

// RenewThose is RenewNow for the leases whose holder pick chooses, and for those that are
// renewed together with them. pick is called with the watchdog locked: it must not call
// the watchdog.
func (w *Watchdog) RenewThose(pick func(Holder) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock.Now()
	var rest []*Lease
	for _, b := range w.batches {
		chosen := false
		for _, l := range b.leases {
			if pick(l.holder) {
				chosen = true
				switch w.wrote(l); {
				case b.group == &w.resting:
					rest = append(rest, l)
				case l.asserts > 0 && l.state == inFlight:
					l.asserts = 2
				}
			}
		}
		if chosen && !b.sent && now < b.renewAt && b.renewAt < Never {
			// Just after now, in the same order: a microsecond for each second.
			w.renewAt(b, now+(b.renewAt-now)/1_000_000)
			b.hurried = true
			b.at = min(b.at, b.renewAt)
		}
	}
	heap.Init(&w.batches)
	for _, l := range rest {
		l.asserts = 1
		w.leave(l)
		w.put(l, now, false)
	}
	if w.next() < w.wakeAt {
		w.wake()
	}
}

// Failing is the number of live leases whose newest renewal failed.
func (w *Watchdog) Failing() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for l := range w.leases {
		if l.failed {
			n++
		}
	}
	return n
}

// leases yields all live leases. It is called with mu held.
func (w *Watchdog) leases(yield func(*Lease) bool) {
	for _, b := range w.batches {
		for _, l := range b.leases {
			if !yield(l) {
				return
			}
		}
	}
}

// Close forgets every lease without calling its holder, and returns when the goroutine
// has ended. So it waits for a call of RenewFunc, Look, Idle or Holder that the goroutine
// is in, but not for answers. It is idempotent. It must not be called from any of these
// four.
func (w *Watchdog) Close() {
	w.mu.Lock()
	w.closed = true
	for l := range w.leases {
		l.state, l.batch = forgotten, nil
	}
	w.live = 0
	w.batches, w.toLook, w.rests = nil, nil, nil
	w.wake()
	w.mu.Unlock()
	w.done.Wait()
}
