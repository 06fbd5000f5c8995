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

	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/rlock"
)

const (
	timeout  = time.Second // for a command
	callers  = 16          // who take locks from one another
	patience = 30 * time.Second
)

// load is two clients that use locks.
type load struct {
	book      *ledger
	clients   [2]*rlock.Client
	contested []string
	kept      []*standing // over the fault
	going     []*standing // released one after the other while it lasts

	stays  chan struct{} // closed when all servers know the master that stays
	ctx    context.Context
	stop   context.CancelFunc
	all    sync.WaitGroup // callers, watchers and waiters
	failed atomic.Int64   // calls that ended with an error that is neither "taken" nor a loss
}

// standing is a hold that is there before the fault, while the other client waits for its lock.
type standing struct {
	hold  *rlock.Hold
	owner string
	shown bool // others may act as the owner: its unlock has a latch
	from  time.Time
	last  time.Time // at which it said that it was one
	ended chan struct{}

	mu       sync.Mutex  // guards what follows
	released time.Time   // when Unlock was called
	lost     bool        // it was by then
	entered  []time.Time // when who waited was inside
	done     bool        // the last of them is there
}

// begin opens the clients, of which the first has the standing holds.
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

// use takes the locks that stand, and has callers take the contested ones from one another.
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

// stand takes locks, and has the other client wait for each.
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

// watch asks the standing holds whether they are still some.
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

// look notes the moment if the hold says that it is one. Only watch calls it.
func (s *standing) look() {
	now := time.Now()
	if s.hold.Err() != nil {
		close(s.ended)
		return
	}
	s.last = now
}

// again is the pause between two visits of whoever waits for a standing hold.
const again = 500 * time.Millisecond

// await enters a lock that another client holds, now and then until it is entered at the master that stays.
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

// release gives a standing hold back.
func (l *load) release(s *standing) error {
	s.mu.Lock()
	s.released, s.lost = time.Now(), s.hold.Err() != nil
	s.mu.Unlock()
	return s.hold.Unlock(l.ctx)
}

// releaseOver gives back what is going, one hold after the other, in so long. A caller waits for its own answer only.
func (l *load) releaseOver(d time.Duration) {
	var all sync.WaitGroup
	defer all.Wait()
	for _, s := range l.going {
		all.Go(func() { _ = l.release(s) }) // what counts is when the lock is entered
		time.Sleep(d / time.Duration(len(l.going)))
	}
}

// waited is the longest time without anybody inside a released lock, once there was a server for it, until it was
// entered at the one that stays; 0 is not yet.
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

// contend takes one lock after the other, and gives it back.
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

// visit stays inside for so long, or until the hold is lost, and releases it.
func (l *load) visit(h *rlock.Hold, d time.Duration) {
	s := stay{lock: h.Name(), owner: testbed.Holder(h), from: time.Now()}
	for end := s.from.Add(d); ; time.Sleep(min(time.Millisecond, d)) {
		now := time.Now()
		if h.Err() != nil {
			break
		}
		s.to = now
		if now.After(end) {
			break
		}
	}
	l.book.add(s)
	if err := h.Unlock(context.WithoutCancel(l.ctx)); err != nil && !errors.Is(err, rlock.ErrLeaseLost) && !errors.Is(err, rlock.ErrNotHeld) {
		l.failed.Add(1)
	}
}

// end closes the clients and writes down how long the standing holds were some.
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

// names are so many, of one form.
func names(form string, n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf(form, i))
	}
	return all
}
