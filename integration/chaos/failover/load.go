package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rlock-go/redisson/integration/chaos/internal/checker"
	"github.com/rlock-go/redisson/integration/kit/gate"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// stay is a time in which a hold reported that it was valid.
type stay struct {
	lock, owner string
	from, to    time.Time
}

type ledger struct {
	mu    sync.Mutex // guards stays
	stays []stay
}

func (l *ledger) add(s stay) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stays = append(l.stays, s)
}

// overlap is two owners inside one lock at once, as their holds reported.
type overlap struct {
	a, b   stay
	pa, pb gate.Proof
}

func (o overlap) String() string {
	end := o.a.to
	if o.b.to.Before(end) {
		end = o.b.to
	}
	return fmt.Sprintf("%s: %s (%v) and %s (%v) were both inside for %v, the first since %v before",
		o.a.lock, o.a.owner, o.pa, o.b.owner, o.pb, end.Sub(o.b.from), o.b.from.Sub(o.a.from))
}

func (o overlap) proven() bool { return o.pa == gate.Proven && o.pb == gate.Proven }

// overlaps returns the stays that overlap on a lock. A window's Lock is the index of its stay.
func (l *ledger) overlaps(w *gate.Witness) (found []overlap) {
	l.mu.Lock()
	defer l.mu.Unlock()
	windows := map[string][]checker.Window{}
	for i, s := range l.stays {
		windows[s.lock] = append(windows[s.lock], checker.Window{From: s.from.UnixNano(), To: s.to.UnixNano(), Lock: i, Owner: s.owner})
	}
	for _, all := range windows {
		for _, o := range (checker.Model{}).Overlaps(all) {
			a, b := l.stays[o.A.Lock], l.stays[o.B.Lock]
			found = append(found, overlap{a, b, w.Of(a.owner, a.from), w.Of(b.owner, b.from)})
		}
	}
	return found
}

// outage returns the longest time between from and to without an entry into any of the locks, or 0 if there was no entry.
func (l *ledger) outage(from, to time.Time, of func(lock string) bool) (longest time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	entries := []time.Time{from}
	for _, s := range l.stays {
		if s.from.After(from) && s.from.Before(to) && of(s.lock) {
			entries = append(entries, s.from)
		}
	}
	if len(entries) == 1 {
		return 0
	}
	entries = append(entries, to)
	slices.SortFunc(entries, time.Time.Compare)
	for i := 1; i < len(entries); i++ {
		longest = max(longest, entries[i].Sub(entries[i-1]))
	}
	return longest
}

func (l *ledger) entries(since time.Time, of func(lock string) bool) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.stays {
		if s.from.After(since) && of(s.lock) {
			n++
		}
	}
	return n
}

const (
	timeout  = time.Second // for a command
	callers  = 16          // that contend for locks
	patience = 30 * time.Second
)

type load struct {
	book      *ledger
	clients   [2]*rlock.Client
	contested []string
	kept      []*standing // held over the fault
	going     []*standing // released one after the other while it lasts

	stays  chan struct{} // closed when all servers know the master that stays
	ctx    context.Context
	stop   context.CancelFunc
	all    sync.WaitGroup // callers, watchers and waiters
	failed atomic.Int64   // calls that ended with an error that is neither "taken" nor a loss
}

// standing is a hold from before the fault, for whose lock the other client waits.
type standing struct {
	hold  *rlock.Hold
	owner string
	shown bool // others may act as the owner: its unlock has a latch
	from  time.Time
	last  time.Time // when it last reported that it was valid
	ended chan struct{}

	mu       sync.Mutex  // guards what follows
	released time.Time   // when Unlock was called
	lost     bool        // the hold was lost by then
	entered  []time.Time // when the waiter was inside
	done     bool        // the waiter has entered at the master that stays
}

// begin opens the clients. The first of them has the standing holds.
func begin(book *ledger, urls [2]string, lease time.Duration, sync bool) (*load, error) {
	l := &load{book: book, stays: make(chan struct{})}
	l.ctx, l.stop = context.WithCancel(context.Background())
	for i := range l.clients {
		var err error
		// Servers that have just started may be slow.
		if !testbed.Within(patience, func() bool {
			l.clients[i], err = rlock.Open(l.ctx, urls[i], rlock.WithReplicaSync(sync), rlock.WithWatchdogTimeout(lease), rlock.WithCommandTimeout(timeout))
			return err == nil
		}) {
			l.end()
			return nil, err
		}
	}
	return l, nil
}

// use acquires the standing holds, and starts callers that contend for the contested locks.
func (l *load) use(contested, kept, going []string) (err error) {
	if l.kept, err = l.stand(kept); err == nil {
		l.going, err = l.stand(going)
	}
	if err != nil {
		return err
	}
	l.all.Go(l.watch)
	if l.contested = contested; len(contested) > 0 {
		for i := range callers {
			l.all.Go(func() { l.contend(l.clients[i%2], rand.New(rand.NewPCG(uint64(i), 7))) })
		}
	}
	return nil
}

// stand acquires locks with one client, and lets the other wait for each.
func (l *load) stand(names []string) ([]*standing, error) {
	ctx, cancel := context.WithTimeout(l.ctx, patience)
	defer cancel()
	held := make([]*standing, len(names))
	var mu sync.Mutex
	var first error
	var taking sync.WaitGroup
	for i, name := range names {
		taking.Go(func() {
			h, err := l.clients[0].NewLock(name).Lock(ctx)
			for err != nil && ctx.Err() == nil { // a server was slow
				h, err = l.clients[0].NewLock(name).Lock(ctx)
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				first = errors.Join(first, err)
				return
			}
			now := time.Now()
			held[i] = &standing{hold: h, owner: testbed.Holder(h), from: now, last: now, ended: make(chan struct{})}
			if held[i].shown = i%2 == 1; held[i].shown {
				h.Owner()
			}
		})
	}
	taking.Wait()
	if first != nil {
		return nil, first
	}
	for _, s := range held {
		l.all.Go(func() { l.await(s) })
	}
	return held, nil
}

// watch keeps checking whether the standing holds are valid.
func (l *load) watch() {
	for l.ctx.Err() == nil {
		for _, s := range l.standing() {
			select {
			case <-s.ended:
			default:
				s.look()
			}
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func (l *load) standing() []*standing { return slices.Concat(l.kept, l.going) }

// look records the time if the hold is valid. Only watch calls it.
func (s *standing) look() {
	now := time.Now()
	if s.hold.Err() != nil {
		close(s.ended)
		return
	}
	s.last = now
}

// again is the pause of a waiter between two entries into its lock.
const again = 500 * time.Millisecond

// await waits for a lock that another client holds, and enters it again and again until it enters at the master that stays.
func (l *load) await(s *standing) {
	for last := false; !last && l.ctx.Err() == nil; {
		select {
		case <-l.stays:
			last = true
		default:
		}
		h, err := l.clients[1].NewLock(s.hold.Name()).Lock(l.ctx)
		if err != nil { // unreachable, or uncertain
			l.failed.Add(1)
			last = false
			continue
		}
		s.mu.Lock()
		s.entered, s.done = append(s.entered, time.Now()), last
		s.mu.Unlock()
		l.visit(h, 2*time.Millisecond)
		select {
		case <-l.stays:
		case <-l.ctx.Done():
		case <-time.After(again):
		}
	}
}

func (l *load) release(s *standing) error {
	s.mu.Lock()
	s.released, s.lost = time.Now(), s.hold.Err() != nil
	s.mu.Unlock()
	return s.hold.Unlock(l.ctx)
}

// releaseOver releases the going holds one after the other within d. No release waits for the reply to another.
func (l *load) releaseOver(d time.Duration) {
	var all sync.WaitGroup
	defer all.Wait()
	for _, s := range l.going {
		all.Go(func() { _ = l.release(s) }) // what counts is when the lock is entered
		time.Sleep(d / time.Duration(len(l.going)))
	}
}

// waited returns the longest time after the release and after served without an entry into the lock, up to the entry at the
// master that stays, or 0 before that entry.
func (s *standing) waited(served time.Time) (longest time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.released
	if served.After(last) {
		last = served
	}
	if !s.done || s.released.IsZero() {
		return 0
	}
	for _, at := range s.entered {
		if at.After(last) {
			longest, last = max(longest, at.Sub(last)), at
		}
	}
	return max(longest, time.Nanosecond)
}

// contend acquires and releases one lock after the other.
func (l *load) contend(c *rlock.Client, rng *rand.Rand) {
	for l.ctx.Err() == nil {
		h, err := c.NewLock(l.contested[rng.IntN(len(l.contested))]).TryLockFor(l.ctx, time.Second)
		switch {
		case err == nil:
			l.visit(h, time.Duration(rng.IntN(8000))*time.Microsecond)
		case !errors.Is(err, rlock.ErrLocked) && l.ctx.Err() == nil:
			l.failed.Add(1)
		}
		time.Sleep(time.Duration(rng.IntN(8000)) * time.Microsecond)
	}
}

// visit stays inside for d, or until the hold is lost, and then releases it.
func (l *load) visit(h *rlock.Hold, d time.Duration) {
	s := stay{lock: h.Name(), owner: testbed.Holder(h), from: time.Now()}
	s.to = stayInside(h, s.from, d)
	l.book.add(s)
	if err := h.Unlock(context.WithoutCancel(l.ctx)); err != nil && !errors.Is(err, rlock.ErrLeaseLost) {
		l.failed.Add(1)
	}
}

// stayInside waits for d, or until the hold, if there is one, is lost. It returns the last time at which it was not lost.
func stayInside(h *rlock.Hold, from time.Time, d time.Duration) (to time.Time) {
	to = from
	for end := from.Add(d); ; time.Sleep(min(time.Millisecond, d)) {
		now := time.Now()
		if h != nil && h.Err() != nil {
			return to
		}
		if to = now; now.After(end) {
			return to
		}
	}
}

// end closes the clients and records how long the standing holds were valid.
func (l *load) end() {
	l.stop()
	l.all.Wait()
	for _, s := range l.standing() {
		l.book.add(stay{s.hold.Name(), s.owner, s.from, s.last})
	}
	for _, c := range l.clients {
		if c != nil {
			c.Close()
		}
	}
}

func names(form string, n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf(form, i))
	}
	return all
}
