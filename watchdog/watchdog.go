package watchdog

import (
	"cmp"
	"container/heap"
	"math"
	"sync"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
)

// awake is the wakeAt of a goroutine that has been started or woken and not
// looked at the batches yet: nothing is early enough to wake it once more.
const awake = time.Duration(math.MinInt64)

// Watchdog renews leases and tells their holders of their end. [New] makes
// one. All methods are safe for concurrent use.
type Watchdog struct {
	renewBatch  RenewFunc
	idle        func()           // nil: nobody wants to know
	groupNumber func(Holder) int // nil: all leases are of one group
	clock       Clock
	third       time.Duration // of the TTL: from one renewal to the next
	lead        time.Duration // how much earlier than due a renewal may come
	retryEvery  time.Duration // after a renewal that failed; up to a quarter is added by chance

	// maxSleep is how often the clock is looked at, at least. Go's timers do not
	// count suspend, so after one they are late by its length, but by no more than
	// this.
	maxSleep time.Duration

	wakeup chan struct{} // of one: look at the batches again
	done   sync.WaitGroup

	// mu guards what follows and the fields of every Lease. It is held for
	// short computations only, never while renewBatch or a Holder runs.
	mu         sync.Mutex
	batches    batches        // of all live leases
	all        group          // those that are renewed, where they are of one group
	groups     map[int]*group // else
	retrying   group          // those whose last renewal failed
	resting    group          // those that are not renewed
	spare      *batch         // for the next one
	spareGroup *group         // likewise
	schedule   *schedule      // of the batches that are to be renewed
	live       int
	resume     time.Duration // before this nothing is renewed that is late
	looked     time.Duration // when the goroutine last looked
	watching                 // of keys, see watch.go
	running    bool          // there is a goroutine
	wakeAt     time.Duration // until when it sleeps or slept, or awake; Never where there is none
	slept      bool          // it has, or is about to
	closed     bool
}

// New makes a watchdog that renews by calling renew, which must not be nil.
// It starts no goroutine: there is one only from the first live lease until
// at most a second after the last.
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

// RenewNow renews every lease that is renewed at all as soon as the pace
// allows, in the order in which they were due. It is for when a connection
// broke or its server was replaced: the answers tell which leases are still
// there. It returns at once.
func (w *Watchdog) RenewNow() { w.RenewThose(func(Holder) bool { return true }) }

// RenewThose is RenewNow for the leases whose holder pick chooses, and those that
// are renewed together with them. What is not renewed is looked at (Options.Look). pick
// is called with the watchdog locked: it must not call it.
func (w *Watchdog) RenewThose(pick func(Holder) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock.Now()
	for _, b := range w.batches {
		chosen := false
		for _, l := range b.leases {
			if pick(l.holder) {
				chosen = true
				if w.wrote(l); b.group == &w.resting {
					w.owe(l, 1) // the others a renewal reads
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
	if w.next() < w.wakeAt {
		w.wake()
	}
}

// Failing counts the live leases whose last renewal failed and that are to be
// renewed again.
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

// leases are all live ones. It is called with mu held.
func (w *Watchdog) leases(yield func(*Lease) bool) {
	for _, b := range w.batches {
		for _, l := range b.leases {
			if !yield(l) {
				return
			}
		}
	}
}

// Close forgets every lease without calling its holder, and returns when the
// goroutine is gone. So it waits for a call of RenewFunc or Holder that the
// goroutine is in, but for no answer. It is idempotent and must not be called
// from a Holder or a RenewFunc.
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
