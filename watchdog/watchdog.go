package watchdog

import (
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/loglimit"
)

// warnedAtOnce is how many losses are logged before any is held back.
const warnedAtOnce = 10

// awake is the wakeAt of a goroutine that has been started or woken and not
// looked at the queues yet: nothing is early enough to wake it once more.
const awake = time.Duration(math.MinInt64)

// Watchdog renews leases and tells their holders of their end. [New] makes
// one. All methods are safe for concurrent use.
type Watchdog struct {
	renewBatch RenewFunc
	clock      Clock
	log        *slog.Logger
	lost       *loglimit.Limit
	ttl        time.Duration
	third      time.Duration // of the TTL: from one renewal to the next
	lead       time.Duration // how much earlier than due a renewal may come
	retryEvery time.Duration
	maxSleep   time.Duration

	wakeup chan struct{} // of one: look at the queues again
	done   sync.WaitGroup

	// mu guards what follows and the fields of every Lease. It is held for
	// short computations only, never while renewBatch or a Holder runs.
	mu       sync.Mutex
	arrivals arrivals  // live leases that are in no queue yet
	due      *groups   // renewing leases by their next renewal
	retry    queue     // those whose last one failed, by their next try
	ends     queue     // all other live leases that were looked at, by alarm or expiry
	schedule *schedule // of the due ones
	live     int
	failing  int           // leases whose last renewal failed and that are renewed again
	resume   time.Duration // no due batch before this, unless it is late
	running  bool          // there is a goroutine
	wakeAt   time.Duration // until when it sleeps or slept, or awake; Never where there is none
	timer    *time.Timer   // which wakes it; nil before its first sleep
	closed   bool
}

// New makes a watchdog that renews by calling renew, which must not be nil.
// It starts no goroutine: there is one only from the first live lease until
// at most MaxSleep after the last.
func New(renew RenewFunc, o Options) *Watchdog {
	if renew == nil {
		panic("watchdog: New without a RenewFunc")
	}
	w := &Watchdog{
		renewBatch: renew,
		clock:      o.Clock,
		log:        o.Logger,
		ttl:        o.TTL,
		retryEvery: o.RetryEvery,
		maxSleep:   o.MaxSleep,
		wakeup:     make(chan struct{}, 1),
		arrivals:   make(arrivals, 0, maxArrivals),
		retry:      queue{name: inRetry},
		ends:       queue{name: inEnds},
		resume:     math.MinInt64,
		wakeAt:     Never,
	}
	if w.clock == nil {
		w.clock = clock.System()
	}
	if w.log == nil {
		w.log = slog.New(slog.DiscardHandler)
	}
	if w.ttl <= 0 {
		w.ttl = 30 * time.Second
	}
	w.lost = loglimit.Of(w.log, slog.LevelWarn, "lease lost", warnedAtOnce)
	w.ttl = max(w.ttl, time.Millisecond)
	w.third = w.ttl / 3
	w.lead = w.ttl / 6
	w.schedule = newSchedule(w.third)
	w.due = newGroups(o.Group, w.schedule)
	if w.retryEvery <= 0 {
		w.retryEvery = min(max(w.ttl/30, 10*time.Millisecond), time.Second)
	}
	if w.maxSleep <= 0 {
		w.maxSleep = time.Second
	}
	return w
}

// RenewNow renews every lease that is renewed at all as soon as the pace
// allows, in the order in which they were due. It is for when a connection
// broke or its server was replaced: the answers tell which leases are still
// there. It returns at once.
func (w *Watchdog) RenewNow() { w.RenewThose(func(Holder) bool { return true }) }

// RenewThose is RenewNow for the leases whose holder pick chooses. pick is called
// for every lease that is renewed at all, with the watchdog locked: it must not
// call it.
func (w *Watchdog) RenewThose(pick func(Holder) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	w.settle()
	now := w.clock.Now()
	w.due.advance(now, pick)
	w.retry.advance(now, pick)
	if w.running && w.next() < w.wakeAt {
		w.wake()
	}
}

// Failing counts the live leases whose last renewal failed and that are to be
// renewed again.
func (w *Watchdog) Failing() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failing
}

// Close forgets every lease without calling its holder, and returns when the
// goroutine is gone. So it waits for a call of RenewFunc or Holder that the
// goroutine is in, but for no answer. It is idempotent and must not be called
// from a Holder or a RenewFunc.
func (w *Watchdog) Close() {
	w.mu.Lock()
	w.closed = true
	w.settle()
	w.due.each(func(g *group) { g.close() })
	w.retry.close()
	w.ends.close()
	w.live, w.failing = 0, 0
	w.dropQueues()
	w.wake()
	w.mu.Unlock()
	w.done.Wait()
	w.lost.Close()
}

// place puts a live lease where its next instant belongs and sees to it that
// the goroutine looks in time. It is called with mu held.
func (w *Watchdog) place(l *Lease) {
	if l.in == inArrivals {
		w.arrivals.remove(l)
		w.settleOne(l)
	} else {
		w.enqueue(l)
	}
	w.lookBy(w.next())
}

// enqueue puts a live lease into the queue where its next instant belongs. One
// queue is enough for each lease, as what comes after its renewal is asked
// again then. It is called with mu held.
func (w *Watchdog) enqueue(l *Lease) {
	in, at := inEnds, l.end()
	if l.state == live && l.renewAt != Never && l.renewAt <= min(l.renewUntil, at) {
		if in, at = inDue, l.renewAt; l.retry != noRetry {
			in = inRetry
		}
	}
	if l.in != in {
		w.unplace(l)
	}
	switch in {
	case inDue:
		w.due.set(l, at)
	case inRetry:
		w.retry.set(l, at)
	default:
		w.ends.set(l, at)
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

// schedule sets the renewal that is due a third of the TTL after from, a little
// earlier if too many others are due then. l must be in no queue.
func (l *Lease) schedule(from time.Duration) {
	l.renewAt = clock.Later(from, l.watchdog.third)
	l.spread(from)
}

// spread moves the renewal to that of its group, or a little earlier if too many
// others are due then. What it follows was sent at from. l must be in no queue.
func (l *Lease) spread(from time.Duration) {
	w := l.watchdog
	if l.renewAt == Never || w.due.of != nil && w.due.join(l, w.clock, w.third/16) {
		return
	}
	if w.schedule.hasBatch(l.renewAt) {
		l.renewAt = w.schedule.fit(l.renewAt, max(w.clock.Now(), clock.Later(from, w.third/16)), 1)
	}
}

// advanceRenewal moves the next renewal to an earlier instant, if trust was cut
// short, so that there is time for retries. Every renewing lease gets at least
// one attempt. A quarter of the remaining time passes all the same, so that a
// trust that is short each time does not cause renewals without pause.
func (l *Lease) advanceRenewal() {
	if l.renewAt == Never || l.retry != noRetry {
		return
	}
	if at := l.Expiry() - l.watchdog.lead; at < l.renewAt {
		now := l.watchdog.clock.Now()
		l.renewAt = min(l.renewAt, max(at, now+(l.Expiry()-now)/4))
	}
}

// lookBy starts the goroutine if there is none, and wakes it if it sleeps beyond
// an instant. It is called with mu held.
func (w *Watchdog) lookBy(at time.Duration) {
	if !w.running {
		w.running = true
		w.wakeAt = awake
		w.done.Go(w.run)
	} else if at < w.wakeAt {
		w.wake()
	}
}

// unplace takes l out of where it is. It is called with mu held.
func (w *Watchdog) unplace(l *Lease) {
	switch l.in {
	case inArrivals:
		w.arrivals.remove(l)
	case inDue:
		w.due.remove(l)
	case inRetry:
		w.retry.remove(l)
	case inEnds:
		w.ends.remove(l)
	}
}

// next is when there is something to do for those in the queues. It is called with mu held.
func (w *Watchdog) next() time.Duration {
	return min(w.ends.first(), w.retry.first(), w.nextDue())
}

// nextDue is when the next batch of due leases may go. After the process or the
// clock stood still, late leases are renewed at some pace too, but not so
// slowly that a lease could end.
func (w *Watchdog) nextDue() time.Duration {
	first := w.due.first()
	if first == Never {
		return Never
	}
	return max(first, min(w.resume, clock.Later(first, w.third/4)))
}

// forget is Forget with mu held.
func (w *Watchdog) forget(l *Lease) {
	switch {
	case w.closed:
	case l.alive():
		w.live--
		w.unplace(l)
		if l.retry != noRetry {
			l.setRetry(noRetry)
		}
	}
	l.state = forgotten
}

// wake ends the goroutine's sleep. It is called with mu held.
func (w *Watchdog) wake() {
	w.wakeAt = awake
	select {
	case w.wakeup <- struct{}{}:
	default:
	}
}

// dropQueues empties the queues and gives their memory back. It is called
// with mu held.
func (w *Watchdog) dropQueues() {
	w.due.drop()
	w.retry.drop()
	w.ends.drop()
}
