package watchdog

import (
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
)

// Options are a Watchdog's settings; the zero value of each is its default,
// and so is a value below zero.
type Options struct {
	// TTL is what all renewing leases are leased for; they are renewed each
	// third of it. Default is 30 s, Redisson's lockWatchdogTimeout. Less than
	// a millisecond counts as one.
	TTL time.Duration

	// Clock is what every instant is a reading of. Default is the system's
	// clock that counts suspend.
	Clock Clock

	// RetryEvery is how long after a Failed or Busy answer a renewal is tried
	// again; up to a quarter is added by chance. Default is a thirtieth of
	// TTL, but at least 10 ms and at most 1 s.
	RetryEvery time.Duration

	// MaxSleep is how often the clock is looked at, at least, while any lease
	// lives. Go's timers do not count suspend, so after one they are late by
	// its length, but never by more than this. Default is 1 s.
	MaxSleep time.Duration

	// Logger gets failed renewals at debug level and losses at warning level.
	// Default is none.
	Logger *slog.Logger
}

// awake is the wakeAt of a goroutine that has been started or woken and not
// looked at the queues yet: nothing is early enough to wake it once more.
const awake = time.Duration(math.MinInt64)

// Watchdog renews leases and tells their holders of their end. [New] makes
// one. All methods are safe for concurrent use.
type Watchdog struct {
	renewBatch RenewFunc
	clock      Clock
	log        *slog.Logger
	ttl        time.Duration
	lead       time.Duration // how much earlier than due a renewal may come
	retryEvery time.Duration
	maxSleep   time.Duration

	poke chan struct{} // of one: look at the queues again
	done sync.WaitGroup

	// mu guards what follows and the fields of every Lease. It is held for
	// short computations only, never while renewBatch or a Holder runs.
	mu      sync.Mutex
	due     queue // renewing leases by their next renewal
	retry   queue // those whose last one failed, by their next try
	ends    queue // all live leases, by alarm or expiry
	pending int
	running bool          // there is a goroutine
	wakeAt  time.Duration // until when it sleeps or slept, or awake
	closed  bool
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
		poke:       make(chan struct{}, 1),
		due:        queue{slot: renewSlot},
		retry:      queue{slot: renewSlot},
		ends:       queue{slot: endSlot},
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
	w.ttl = max(w.ttl, time.Millisecond)
	w.lead = w.ttl / 6
	if w.retryEvery <= 0 {
		w.retryEvery = min(max(w.ttl/30, 10*time.Millisecond), time.Second)
	}
	if w.maxSleep <= 0 {
		w.maxSleep = time.Second
	}
	return w
}

// Register makes a pending lease for h: known and counted, but never renewed
// and never told of anything until [Lease.Live]. Each must be forgotten, lost
// or closed over in the end. On a closed watchdog the lease is forgotten from
// the start.
func (w *Watchdog) Register(h Holder) *Lease {
	l := &Lease{
		watchdog: w,
		holder:   h,
		alarm:    Never,
		renewAt:  Never,
		pos:      [slots]int32{absent, absent},
	}
	l.expiry.Store(int64(Never))
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		l.state = forgotten
		return l
	}
	w.pending++
	return l
}

// Len counts the leases that are pending and those that are live.
func (w *Watchdog) Len() (pending, live int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pending, len(w.ends.items)
}

// Close forgets every lease without a word to its holder and returns when the
// goroutine is gone, so it waits for a call of RenewFunc or Holder that the
// goroutine is in, but for no answer. It is idempotent and must not be called
// from a Holder or a RenewFunc.
func (w *Watchdog) Close() {
	w.mu.Lock()
	w.closed = true
	for _, it := range w.ends.items {
		it.lease.state = forgotten
		it.lease.pos = [slots]int32{absent, absent}
	}
	w.pending = 0
	w.dropQueues()
	w.wake()
	w.mu.Unlock()
	w.done.Wait()
}

// place puts a live lease where its instants belong and sees to it that the
// goroutine looks in time. It is called with mu held.
func (w *Watchdog) place(l *Lease) {
	at := min(l.Expiry(), l.alarm)
	w.ends.set(l, at)
	q := w.renewals(l)
	if l.inFlight || l.renewAt == Never || l.renewAt > l.renewUntil {
		q.remove(l)
	} else {
		q.set(l, l.renewAt)
		at = min(at, l.renewAt)
	}
	if !w.running {
		w.running = true
		w.wakeAt = awake
		w.done.Go(w.run)
	} else if at < w.wakeAt {
		w.wake()
	}
}

// forget is Forget with mu held.
func (w *Watchdog) forget(l *Lease) {
	switch {
	case w.closed:
	case l.state == pending:
		w.pending--
	case l.state == live:
		w.renewals(l).remove(l)
		w.ends.remove(l)
	}
	l.state = forgotten
}

// renewals is the queue in which l's next renewal is, if it is in one.
func (w *Watchdog) renewals(l *Lease) *queue {
	if l.retrying {
		return &w.retry
	}
	return &w.due
}

// wake ends the goroutine's sleep. It is called with mu held.
func (w *Watchdog) wake() {
	w.wakeAt = awake
	select {
	case w.poke <- struct{}{}:
	default:
	}
}

// dropQueues empties the queues and gives their memory back. It is called
// with mu held.
func (w *Watchdog) dropQueues() {
	w.due.items, w.retry.items, w.ends.items = nil, nil, nil
}
