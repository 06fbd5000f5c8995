package worker

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"time"

	"github.com/rlock-go/redisson/integration/internal/machineclock"
	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/integration/torture/internal/history"
	"github.com/rlock-go/redisson/rlock"
)

// worker is one goroutine that takes locks.
type worker struct {
	*process
	number int
	rng    *rand.Rand
	// regular is an owner that comes back: its next acquire must not meet what is left of its last.
	regular rlock.Owner
}

func (w *worker) chance(percent int) bool { return w.rng.IntN(100) < percent }

func (w *worker) between(least, most time.Duration) time.Duration {
	return least + time.Duration(w.rng.Int64N(int64(most-least)))
}

func (w *worker) run() {
	w.regular = w.client.NewOwner()
	for !w.stopped() {
		w.round(w.pick())
		w.rest(w.between(0, 10*time.Millisecond))
	}
}

func (w *worker) stopped() bool {
	select {
	case <-w.stopping:
		return true
	default:
		return false
	}
}

func (w *worker) rest(d time.Duration) {
	select {
	case <-w.stopping:
	case <-time.After(d):
	}
}

// Long is how many times the watchdog's timeout the longest leases are.
const Long = 4

// noOwner asks for a fresh one.
var noOwner rlock.Owner

// round is one outermost acquisition, from its call to its release, or a crowd's.
func (w *worker) round(lock int) {
	if w.kind.Count > 0 {
		w.gate(lock)
		return
	}
	if w.kind.Several {
		w.together(lock)
		return
	}
	if w.rng.IntN(400) == 0 {
		w.gather(lock)
		return
	}
	owner := noOwner
	if w.chance(12) && w.kind.Permits == 0 {
		owner = w.regular
	}
	s := &stay{worker: w, lock: lock, exact: owner == noOwner}
	if s.acquire(owner) {
		s.spend()
	}
}

// stay is one owner inside one lock.
type stay struct {
	*worker
	lock  int
	holds []*held // outermost first
	tries bool    // it tries once, and does not wait
	// exact tells that the hold count is what is in holds: no outcome is open.
	exact bool
}

// held is one acquisition of a stay.
type held struct {
	op    int64
	hold  hold
	part  int // of the kind
	fixed bool
	until time.Time // as last said
	lost  bool      // as said
}

// hold is what a stay has: a rlock.Hold, or permits.
type hold interface {
	Unlock(ctx context.Context) error
	Extend(ctx context.Context, d time.Duration) error
	Err() error
	Done() <-chan struct{}
	ValidUntil() time.Time
}

// acquire takes the lock in one of the ways there are. A zero owner asks for a fresh one.
func (s *stay) acquire(owner rlock.Owner) bool {
	ctx, cancel := context.WithTimeout(s.storm.Load().ctx, s.patience())
	defer cancel()
	part := s.part()
	e := history.Event{What: history.Called, Op: s.ops.Add(1), Worker: s.number, Lock: s.lock, Read: s.kind.Parts[part] == javapeer.Read}
	var opts []rlock.AcquireOption
	if owner != noOwner {
		e.Owner = owner.String()
		opts = append(opts, rlock.As(owner))
	}
	if n := len(s.holds); n > 0 {
		e.Outer = s.holds[n-1].op
	}
	switch {
	case s.chance(35) && !s.kind.Lasting:
		lease := s.between(80*time.Millisecond, s.Watchdog).Truncate(time.Millisecond)
		if s.chance(12) {
			lease = Long * s.Watchdog
		}
		e.Lease = lease.Nanoseconds()
		opts = append(opts, rlock.Lease(lease))
	case s.chance(10) && s.kind.Permits == 0:
		opts = append(opts, rlock.MaxHold(s.between(100*time.Millisecond, 2*s.Watchdog)))
	}
	var got granted
	var err error
	var c call
	l := s.taking(part, &e)
	switch n := s.rng.IntN(10); {
	case s.tries || n == 6:
		c = tryLockCall(ctx)
		e.Mode = c.name
		s.say(e)
		got, err = l.try(ctx, opts...)
	case n < 6:
		c = lockCall(ctx)
		e.Mode = c.name
		s.say(e)
		got, err = l.wait(ctx, opts...)
	default:
		wait := cmp.Or(s.Place, s.between(time.Millisecond, time.Second))
		c = tryLockForCall(ctx)
		e.Mode = c.name
		s.say(e)
		got, err = l.tryFor(ctx, wait, opts...)
	}
	at := machineclock.Now()
	if err != nil {
		if s.kind.Once {
			c.errs = append(c.errs, reentered)
		}
		if s.kind.Permits > 0 && e.Mode != "Lock" {
			c.errs = append(c.errs, noPermits)
		}
		name, why := c.judge(err)
		s.say(history.Event{At: at, What: history.Refused, Op: e.Op, Kind: name})
		s.odd(c.name, why)
		// What it may have taken is given back some time: documented, and never exact.
		s.exact = s.exact && (name == history.Locked || name == history.Reentered)
		return false
	}
	h := &held{op: e.Op, hold: got.hold, part: part, fixed: e.Lease > 0, until: got.hold.ValidUntil()}
	e = history.Event{At: at, What: history.Held, Op: e.Op, Owner: got.owner, Until: s.clock.At(h.until)}
	if s.kind.Lasting {
		e.Until = math.MaxInt64
	}
	if s.kind.Tokens {
		e.Token = new(h.hold.(*rlock.Hold).Token())
	}
	s.say(e)
	if n := len(s.holds); n > 0 {
		s.say(history.Event{What: history.Trust, Op: s.holds[0].op, Until: s.clock.At(s.holds[0].until), Mode: history.Moved})
	}
	s.holds = append(s.holds, h)
	return true
}

// part is the lock of the kind that is taken next. Who is inside to read does not ask to write: it would wait for itself.
func (s *stay) part() int {
	switch {
	case len(s.kind.Parts) == 1:
		return 0
	case len(s.holds) > 0 && s.holds[0].part == 0 || s.chance(60):
		return 0
	}
	return 1
}

// patience is how long an acquire may take: mostly long enough to see the wake-up, sometimes hardly any time.
func (s *stay) patience() time.Duration {
	switch n := s.rng.IntN(20); {
	case n == 0:
		return s.between(0, 2*time.Millisecond) + time.Microsecond
	case n < 5:
		return s.between(5*time.Millisecond, 500*time.Millisecond)
	}
	return s.between(3*time.Second, 8*time.Second)
}

func (s *stay) odd(mode, why string) {
	if why != "" {
		s.say(history.Event{What: history.Odd, Mode: mode, Text: why})
	}
}
