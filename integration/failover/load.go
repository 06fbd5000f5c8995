package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/rlock"
)

const (
	lease    = 9 * time.Second // of all that is renewed: what is left of it is more than a failover takes
	timeout  = time.Second     // for a command
	callers  = 16              // who take locks from one another
	patience = 30 * time.Second
)

// load is two clients that use locks.
type load struct {
	book      *ledger
	clients   [2]*rlock.Client
	contested []string
	standing  []*standing

	ctx    context.Context
	stop   context.CancelFunc
	all    sync.WaitGroup // callers and watchers
	failed atomic.Int64   // calls that ended with an error that is neither "taken" nor a loss

	waiting sync.WaitGroup
	entered atomic.Int64 // waiters of standing holds
}

// standing is a hold that is kept over the fault.
type standing struct {
	hold  *rlock.Hold
	owner string
	from  time.Time
	last  time.Time // at which it said that it was one
	ended chan struct{}
}

// begin opens the clients.
func begin(urls [2]string, contested, kept []string) (*load, error) {
	l := &load{book: &ledger{}, contested: contested}
	l.ctx, l.stop = context.WithCancel(context.Background())
	for i := range l.clients {
		c, err := rlock.Open(l.ctx, urls[i], rlock.WithWatchdogTimeout(lease), rlock.WithCommandTimeout(timeout))
		if err != nil {
			l.end()
			return nil, err
		}
		l.clients[i] = c
	}
	if err := l.stand(kept); err != nil {
		l.end()
		return nil, err
	}
	if len(contested) > 0 {
		for i := range callers {
			l.all.Go(func() { l.contend(l.clients[i%2], rand.New(rand.NewPCG(uint64(i), 7))) })
		}
	}
	return l, nil
}

// stand takes the locks that are kept, and has the other client wait for each.
func (l *load) stand(names []string) error {
	ctx, cancel := context.WithTimeout(l.ctx, patience)
	defer cancel()
	held := make([]*standing, len(names))
	var mu sync.Mutex
	var first error
	var taking sync.WaitGroup
	for i, name := range names {
		taking.Go(func() {
			h, err := l.clients[0].NewLock(name).Lock(ctx)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				first = errors.Join(first, err)
				return
			}
			now := time.Now()
			held[i] = &standing{hold: h, owner: testbed.Holder(h), from: now, last: now, ended: make(chan struct{})}
		})
	}
	taking.Wait()
	if first != nil {
		return first
	}
	l.standing = held
	l.all.Go(l.watch)
	for _, name := range names {
		l.waiting.Go(func() { l.await(name) })
	}
	return nil
}

// watch asks the standing holds whether they are still some.
func (l *load) watch() {
	for l.ctx.Err() == nil {
		for _, s := range l.standing {
			select {
			case <-s.ended:
			default:
				s.look()
			}
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// look notes the moment if the hold says that it is one. Only watch calls it.
func (s *standing) look() {
	now := time.Now()
	if s.hold.Err() != nil {
		close(s.ended)
		return
	}
	s.last = now
}

// await enters a lock that another client holds, once.
func (l *load) await(name string) {
	h, err := l.clients[1].NewLock(name).Lock(l.ctx)
	for err != nil && l.ctx.Err() == nil { // unreachable, or uncertain
		l.failed.Add(1)
		h, err = l.clients[1].NewLock(name).Lock(l.ctx)
	}
	if err == nil {
		l.entered.Add(1)
		l.visit(h, 2*time.Millisecond)
	}
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
	l.waiting.Wait()
	for _, s := range l.standing {
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
