package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

const (
	namesOfAKind = 2
	keptOfAKind  = 4
	seats        = 6 // permits of each semaphore; one client keeps keptOfAKind of the first
	countFrom    = 1_000_000
)

// use is one name in use. enter gets in and returns a function that leaves.
type use struct {
	name   string
	lock   string // the lock of the name; readers and writers have the same
	shared bool   // may be inside together with others that are shared
	enter  entering
}

type entering func(ctx context.Context, c *rlock.Client) (leave func(context.Context) error, hold *rlock.Hold, err error)

// entry is one stay inside.
type entry struct {
	*use
	asked, from, to time.Time
	token           int64
}

// crew is two clients that use all kinds of locks, and what they saw.
type crew struct {
	clients [2]*rlock.Client
	uses    []*use
	tag     string
	kept    []func() error // the standing holds' Err
	unkeep  []func(context.Context) error

	ctx  context.Context
	stop context.CancelFunc
	all  sync.WaitGroup

	mu        sync.Mutex // guards entries
	entries   []entry
	failed    atomic.Int64
	counted   atomic.Int64 // count-downs of the latch without an error
	uncertain atomic.Int64 // count-downs of the latch with an error
}

// locks lists the kinds that have a rlock.Hold.
var locks = append([]testbed.Kind{testbed.Plain}, testbed.Kinds...)

// named returns a name of a kind in the slot of the tag. A latch and its channel share a slot only without braces.
func (w *crew) named(kind string, i int) string {
	if kind == "latch" {
		return w.tag
	}
	return fmt.Sprintf("{%s}:%s:%d", w.tag, kind, i)
}

// man opens the clients, acquires the standing holds, and sets the counts.
func man(url, tag string) (w *crew, err error) {
	w = &crew{tag: tag}
	w.ctx, w.stop = context.WithCancel(context.Background())
	for i := range w.clients {
		if !testbed.Within(patience, func() bool {
			w.clients[i], err = rlock.Open(w.ctx, url, rlock.WithWatchdogTimeout(usual))
			return err == nil
		}) {
			return w, err
		}
	}
	add := func(name, lock string, shared bool, enter entering) {
		w.uses = append(w.uses, &use{name, lock, shared, enter})
	}
	for i := range namesOfAKind {
		for _, k := range locks {
			lock := w.named(k.Name, i)
			if k.Mode != "" {
				lock = w.named("both", i)
			}
			add(w.named(k.Name, i), lock, k.Mode == "read", func(ctx context.Context, c *rlock.Client) (func(context.Context) error, *rlock.Hold, error) {
				h, err := k.New(c, lock).TryLockFor(ctx, 5*time.Second)
				return h.Unlock, h, err
			})
		}
		permits, semaphore := w.named("permits", i), w.named("semaphore", i)
		add(permits, permits, true, func(ctx context.Context, c *rlock.Client) (func(context.Context) error, *rlock.Hold, error) {
			p, err := c.NewPermitSemaphore(permits).TryAcquireFor(ctx, 1, 5*time.Second)
			return p.Release, nil, err
		})
		add(semaphore, semaphore, true, func(ctx context.Context, c *rlock.Client) (func(context.Context) error, *rlock.Hold, error) {
			s := c.NewSemaphore(semaphore)
			return func(ctx context.Context) error { return s.Release(ctx, 1) }, nil, s.TryAcquireFor(ctx, 1, 5*time.Second)
		})
	}
	latch := w.named("latch", 0)
	add(latch, latch, true, func(ctx context.Context, c *rlock.Client) (func(context.Context) error, *rlock.Hold, error) {
		if err := c.NewCountDownLatch(latch).CountDown(ctx); err != nil {
			// Even after an error the count-down may go on in the background.
			w.uncertain.Add(1)
			return nil, nil, err
		}
		w.counted.Add(1)
		return func(context.Context) error { return nil }, nil, nil
	})
	return w, w.stand()
}

// stand acquires the standing holds and sets the counts. It retries for 2*patience.
func (w *crew) stand() error {
	ctx, cancel := context.WithTimeout(w.ctx, 2*patience)
	defer cancel()
	c := w.clients[0]
	again := func(do func() error) error {
		err := do()
		for err != nil && ctx.Err() == nil {
			time.Sleep(10 * time.Millisecond)
			err = do()
		}
		return err
	}
	for _, k := range locks {
		for i := range keptOfAKind {
			var h *rlock.Hold
			if err := again(func() (err error) { h, err = k.New(c, w.named("kept-"+k.Name, i)).Lock(ctx); return err }); err != nil {
				return err
			}
			if i%2 == 1 {
				h.Owner() // others may act as it
			}
			w.kept, w.unkeep = append(w.kept, h.Err), append(w.unkeep, h.Unlock)
		}
	}
	for i := range namesOfAKind {
		s := c.NewSemaphore(w.named("semaphore", i))
		if err := again(func() error { _, err := s.TrySetPermits(ctx, seats); return err }); err != nil {
			return err
		}
		p := c.NewPermitSemaphore(w.named("permits", i))
		if err := again(func() error { _, err := p.TrySetPermits(ctx, seats); return err }); err != nil {
			return err
		}
	}
	s := c.NewSemaphore(w.named("semaphore", 0))
	if err := again(func() error { return s.Acquire(ctx, keptOfAKind) }); err != nil {
		return err
	}
	w.unkeep = append(w.unkeep, func(ctx context.Context) error { return s.Release(ctx, keptOfAKind) })
	for range keptOfAKind {
		var p *rlock.Permits
		if err := again(func() (err error) { p, err = c.NewPermitSemaphore(w.named("permits", 0)).Acquire(ctx, 1); return err }); err != nil {
			return err
		}
		w.kept, w.unkeep = append(w.kept, p.Err), append(w.unkeep, p.Release)
	}
	return again(func() error {
		_, err := c.NewCountDownLatch(w.named("latch", 0)).TrySetCount(ctx, countFrom)
		return err
	})
}

// work starts a caller of each client for each name. end stops them and waits for them.
func (w *crew) work() (end func()) {
	ctx, stop := context.WithCancel(w.ctx)
	for i, u := range w.uses {
		for j, c := range w.clients {
			rng := rand.New(rand.NewPCG(uint64(i), uint64(j)))
			w.all.Go(func() {
				for ctx.Err() == nil {
					w.once(u, c, time.Duration(rng.IntN(8000))*time.Microsecond)
					time.Sleep(time.Duration(20+rng.IntN(60)) * time.Millisecond)
				}
			})
		}
	}
	return func() { stop(); w.all.Wait() }
}

func (w *crew) once(u *use, c *rlock.Client, d time.Duration) {
	e := entry{use: u, asked: time.Now()}
	leave, h, err := u.enter(w.ctx, c)
	if err != nil {
		if !errors.Is(err, rlock.ErrLocked) && !errors.Is(err, rlock.ErrNoPermits) && w.ctx.Err() == nil {
			w.failed.Add(1)
		}
		return
	}
	e.from = time.Now()
	if h != nil {
		e.token = h.Token()
	}
	e.to = stayInside(h, e.from, d)
	w.mu.Lock()
	w.entries = append(w.entries, e)
	w.mu.Unlock()
	if err := leave(w.ctx); err != nil && !errors.Is(err, rlock.ErrLeaseLost) {
		w.failed.Add(1)
	}
}

func (w *crew) enteredSince(at time.Time, name string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.entries {
		if e.name == name && e.from.After(at) {
			n++
		}
	}
	return n
}

// again returns the longest time between from and to without an entry into one name, and which name since when.
func (w *crew) again(from, to time.Time) (longest time.Duration, where string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, u := range w.uses {
		entered := []time.Time{from, to}
		for _, e := range w.entries {
			if e.use == u && e.from.After(from) && e.from.Before(to) {
				entered = append(entered, e.from)
			}
		}
		slices.SortFunc(entered, time.Time.Compare)
		for i := 1; i < len(entered); i++ {
			if d := entered[i].Sub(entered[i-1]); d > longest {
				longest, where = d, fmt.Sprintf("%s, from %v on", u.name, short(entered[i-1].Sub(from)))
			}
		}
	}
	return longest, where
}

// judge returns how often two were inside that may not share, how often more than seats were, and which tokens did not rise.
func (w *crew) judge(since time.Time) (two, more int, tokens []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.SortFunc(w.entries, func(a, b entry) int { return cmp.Or(cmp.Compare(a.lock, b.lock), a.from.Compare(b.from)) })
	var inside []entry
	for _, e := range w.entries {
		inside = slices.DeleteFunc(inside, func(o entry) bool { return o.lock != e.lock || !o.to.After(e.from) })
		if e.to.After(e.from) {
			for _, o := range inside {
				if !o.shared || !e.shared {
					two++
				}
			}
			inside = append(inside, e)
			if len(inside) > seats {
				more++
			}
		}
	}
	last := map[string]entry{} // of the greatest token
	for _, e := range w.entries {
		switch o := last[e.name]; {
		case e.token > o.token:
			last[e.name] = e
		case e.token == 0: // of a kind without tokens
		case e.token == o.token || e.asked.After(o.from):
			// A token is greater than any granted before its call. Calls at the same time have different tokens.
			tokens = append(tokens, fmt.Sprintf("%s: token %d after %d, at %v and %v", e.name, e.token, o.token, short(e.from.Sub(since)), short(o.from.Sub(since))))
		}
	}
	return two, more, tokens
}

// off returns by how much the counts are wrong: free permits of both kinds of semaphores, and the latch. It waits for up to a
// lease until they are right, because lost permits come back by then.
func (w *crew) off() (permits, semaphores, latch int, err error) {
	c := w.clients[1]
	look := func() bool {
		ctx, cancel := context.WithTimeout(w.ctx, 5*time.Second)
		defer cancel()
		permits, semaphores, latch, err = 0, 0, 0, nil
		for i := range namesOfAKind {
			free := seats
			if i == 0 {
				free -= keptOfAKind
			}
			p, err1 := c.NewPermitSemaphore(w.named("permits", i)).Available(ctx)
			s, err2 := c.NewSemaphore(w.named("semaphore", i)).Available(ctx)
			if err = errors.Join(err1, err2); err != nil {
				return false
			}
			permits, semaphores = permits+p-free, semaphores+s-free
		}
		n, err3 := c.NewCountDownLatch(w.named("latch", 0)).Count(ctx)
		if err = err3; err != nil {
			return false
		}
		switch most := countFrom - w.counted.Load(); {
		case n > most:
			latch = int(n - most)
		case n < most-w.uncertain.Load():
			latch = int(n - most + w.uncertain.Load())
		}
		return permits == 0 && semaphores == 0 && latch == 0
	}
	testbed.Within(usual+5*time.Second, look)
	return permits, semaphores, latch, err
}

func (w *crew) end() {
	w.stop()
	w.all.Wait()
	for _, c := range w.clients {
		if c != nil {
			c.Close()
		}
	}
}
