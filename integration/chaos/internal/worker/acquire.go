package worker

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/rlock-go/redisson/integration/chaos/internal/history"
	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/kit/machineclock"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/testkit/stalls"
	"github.com/rlock-go/redisson/rlock"
)

type worker struct {
	*process
	number int
	rng    *rand.Rand
	// regular is an owner that comes back: what is left of its last acquire must not hit its next one.
	regular rlock.Owner
}

func (w *worker) chance(percent int) bool { return w.rng.IntN(100) < percent }

func (w *worker) between(least, most time.Duration) time.Duration {
	return least + time.Duration(w.rng.Int64N(int64(most-least)))
}

func (w *worker) run() {
	w.regular = w.client.NewOwner()
	for !w.stopped() {
		w.round(w.rng.IntN(len(w.Locks)))
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

// Long is the longest lease, in watchdog timeouts.
const Long = 4

// noOwner asks for a fresh owner.
var noOwner rlock.Owner

// commonOwner returns one of the two owners that all processes act as for some seconds.
func (w *worker) commonOwner() rlock.Owner {
	const each = 3 * time.Second
	slot := (machineclock.Now()-w.Began)/each.Nanoseconds()*2 + w.rng.Int64N(2)
	o, err := rlock.ParseOwner(fmt.Sprintf("%08x-0000-4000-8000-%012x:1", uint32(w.Began), slot))
	if err != nil {
		panic(err)
	}
	return o
}

// round is one outermost acquisition, from its call to its release.
func (w *worker) round(lock int) {
	if w.kind.Several {
		w.together(lock)
		return
	}
	owner := noOwner
	s := &stay{worker: w, lock: lock}
	switch {
	case w.kind.Common && w.chance(70):
		owner, s.common = w.commonOwner(), true
	case w.chance(12) && w.kind.Permits == 0:
		owner = w.regular
	}
	s.exact = owner == noOwner
	if s.acquire(owner) {
		s.spend()
	}
}

// stay is one owner inside one lock.
type stay struct {
	*worker
	lock  int
	holds []*held // outermost first
	// exact: the owner has what is in holds and nothing else, because every outcome is known.
	exact  bool
	common bool // other processes act as its owner: all leases are alike, and a lost hold is not unlocked
}

// held is one acquisition of a stay.
type held struct {
	op    int64
	hold  hold
	part  int // of the kind
	fixed bool
	until time.Time // as last reported
	lost  bool      // as reported
}

// hold is a rlock.Hold, or permits.
type hold interface {
	Unlock(ctx context.Context) error
	Extend(ctx context.Context, d time.Duration) error
	Err() error
	Done() <-chan struct{}
	ValidUntil() time.Time
}

// acquire acquires the lock by one of the methods, at random. A zero owner asks for a fresh one.
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
	if !s.common {
		opts = append(opts, s.leasing(&e)...)
	}
	var got granted
	var err error
	var c call
	l := s.taking(part, &e)
	began, most := time.Now(), 2*s.CommandTimeout // one to write the command, and one for the reply
	switch n := s.rng.IntN(10); {
	case n == 6:
		c = tryLockCall(ctx)
		e.Mode = c.name
		s.say(e)
		got, err = l.try(ctx, opts...)
	case n < 6:
		c, most = lockCall(ctx), time.Hour
		e.Mode = c.name
		s.say(e)
		got, err = l.wait(ctx, opts...)
	default:
		wait := cmp.Or(s.Place, s.between(time.Millisecond, time.Second))
		c, most = tryLockForCall(ctx), wait
		e.Mode = c.name
		s.say(e)
		got, err = l.tryFor(wait)(ctx, opts...)
	}
	var until time.Time
	if err == nil {
		until = got.hold.ValidUntil() // read before at, from which the checker relies on it: a renewal may come at any time
	}
	at := machineclock.Now()
	s.inTime(c, began, most)
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
		// What the call may have taken is released at an unknown time, as documented.
		s.exact = s.exact && (name == history.Locked || name == history.Reentered)
		return false
	}
	h := &held{op: e.Op, hold: got.hold, part: part, fixed: e.Lease > 0, until: until}
	e = history.Event{At: at, What: history.Held, Op: e.Op, Owner: got.owner, Until: s.clock.At(h.until)}
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

// leasing chooses the lease of an acquire.
func (w *worker) leasing(e *history.Event) []rlock.AcquireOption {
	switch {
	case w.chance(35):
		lease := w.between(80*time.Millisecond, w.Watchdog).Truncate(time.Millisecond)
		if w.chance(12) && !w.kind.Several {
			lease = Long * w.Watchdog
		}
		e.Lease = lease.Nanoseconds()
		return []rlock.AcquireOption{rlock.Lease(lease)}
	case w.chance(10) && w.kind.Permits == 0:
		return []rlock.AcquireOption{rlock.MaxHold(w.between(100*time.Millisecond, 2*w.Watchdog))}
	}
	return nil
}

// part chooses which lock of the kind is acquired next. A reader does not ask for the write lock: it would wait for itself.
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

// inTime checks that a call ended with its context or in its documented time, plus the time that the machine stood still.
func (s *stay) inTime(c call, began time.Time, most time.Duration) {
	if c.ctx != nil {
		if end, bound := c.ctx.Deadline(); bound {
			most = min(most, end.Sub(began))
		}
	}
	most = max(most, 0) + s.CommandTimeout/2
	if took := time.Since(began); s.Alone && took > most {
		if stood := stalls.Since(began); took > most+stood {
			s.odd(c.name, fmt.Sprintf("took %v, and at most %v is documented; the machine stood still for %v", took, most, stood))
		}
	}
}

func (s *stay) odd(mode, why string) {
	if why != "" {
		s.say(history.Event{What: history.Odd, Mode: mode, Text: why})
	}
}

// way is a method that acquires something.
type way[T any] = func(ctx context.Context, opts ...rlock.AcquireOption) (T, error)

// taking is the methods that acquire a lock or permits.
type taking struct {
	try, wait way[granted]
	tryFor    func(wait time.Duration) way[granted]
}

// granted is a hold and its owner.
type granted struct {
	hold  hold
	owner string
}

func takingBy[T any](got func(T) granted, try, wait way[T], tryFor func(context.Context, time.Duration, ...rlock.AcquireOption) (T, error)) taking {
	of := func(w way[T]) way[granted] {
		return func(ctx context.Context, opts ...rlock.AcquireOption) (g granted, err error) {
			x, err := w(ctx, opts...)
			if err == nil {
				g = got(x)
			}
			return g, err
		}
	}
	return taking{of(try), of(wait), func(d time.Duration) way[granted] {
		return of(func(ctx context.Context, opts ...rlock.AcquireOption) (T, error) { return tryFor(ctx, d, opts...) })
	}}
}

// taking returns the methods for a part of the kind, or for one or two permits, and writes their number to e.
func (s *stay) taking(part int, e *history.Event) taking {
	if s.kind.Permits == 0 {
		l := s.locks[s.lock][part]
		return takingBy(func(h *rlock.Hold) granted { return granted{h, testbed.Holder(h)} }, l.TryLock, l.Lock, l.TryLockFor)
	}
	n := 1
	if s.chance(25) {
		n = 2
	}
	e.Permits = n
	seats := s.seats[s.lock]
	of := func(f func(context.Context, int, ...rlock.PermitOption) (*rlock.Permits, error)) way[*rlock.Permits] {
		return func(ctx context.Context, opts ...rlock.AcquireOption) (*rlock.Permits, error) {
			return f(ctx, n, ofPermits(opts)...)
		}
	}
	return takingBy(func(p *rlock.Permits) granted { return granted{permits{p}, p.IDs()[0]} }, of(seats.TryAcquire), of(seats.Acquire),
		func(ctx context.Context, wait time.Duration, opts ...rlock.AcquireOption) (*rlock.Permits, error) {
			return seats.TryAcquireFor(ctx, n, wait, ofPermits(opts)...)
		})
}

// ofPermits returns options that [stay.leasing] chose for permits.
func ofPermits(opts []rlock.AcquireOption) (some []rlock.PermitOption) {
	for _, o := range opts {
		some = append(some, o.(rlock.PermitOption))
	}
	return some
}

// permits makes Unlock release the permits.
type permits struct{ *rlock.Permits }

func (p permits) Unlock(ctx context.Context) error { return p.Release(ctx) }
