package simulation

import (
	"context"
	"errors"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// useSemaphore is one turn of a caller of a semaphore. It gives back whatever it takes.
func (c *caller) useSemaphore(l *life) {
	s := l.c.NewSemaphore(c.o.Name)
	n := 1 + c.r.IntN(c.o.Permits)
	if c.Habit == Asks {
		a := c.ask(l, "Available", oneTimeout, 0, false)
		_, err := s.Available(a.ctx)
		c.done(a, err)
		return
	}
	if c.r.IntN(16) == 0 {
		c.addAndRemove(l, s)
		return
	}
	var a *ask
	var err error
	switch c.r.IntN(4) {
	case 0:
		a = c.ask(l, "TryAcquire", oneTimeout, 0, false)
		a.set(func(k *call) { k.wants = n })
		err = s.TryAcquire(a.ctx, n)
	case 1:
		wait := c.wait()
		a = c.ask(l, "TryAcquireFor", boundOfTry(wait), 0, false)
		a.set(func(k *call) { k.wants = n })
		err = s.TryAcquireFor(a.ctx, n, wait)
	default:
		a = c.ask(l, "Acquire", 0, graceOfLock, c.r.IntN(2) == 0)
		a.set(func(k *call) { k.wants, k.waits = n, k.o.count.known })
		a.timeout(between(c.r, time.Millisecond, 40*time.Second)) // permits may be gone for good
		err = s.Acquire(a.ctx, n)
	}
	c.done(a, err)
	c.w.Mu.Lock()
	switch {
	case err == nil:
		c.o.count.add(-int64(n))
		c.res.Entries++
	case l.closed: // what it has taken may not have been given back
		c.o.count.may(-int64(n))
	}
	c.w.Mu.Unlock()
	if err != nil {
		return
	}
	time.Sleep(c.pause())
	_ = c.change(l, "Release", int64(n), func(ctx context.Context) error { return s.Release(ctx, n) })
}

// addAndRemove raises and lowers the number of permits.
func (c *caller) addAndRemove(l *life, s *rlock.Semaphore) {
	c.w.Mu.Lock()
	c.o.total++
	c.w.Mu.Unlock()
	_ = c.change(l, "AddPermits", 1, func(ctx context.Context) error { return s.AddPermits(ctx, 1) })
	time.Sleep(c.pause())
	_ = c.change(l, "AddPermits", -1, func(ctx context.Context) error { return s.AddPermits(ctx, -1) })
}

// change calls something that changes a number once, however often it is sent.
func (c *caller) change(l *life, what string, n int64, f func(context.Context) error) error {
	a := c.ask(l, what, boundOfUnlock, oneTimeout, false)
	a.timeout(between(c.r, time.Millisecond, 10*time.Second))
	err := f(a.ctx)
	c.done(a, err)
	c.w.Mu.Lock()
	defer c.w.Mu.Unlock()
	c.o.counts(n, err)
	if what == "AddPermits" && errors.Is(err, errUnreplicated) { // nobody sends it again behind a failover
		c.o.setAt = time.Now()
		if c.promotedAt.After(a.began) {
			c.o.count.lost()
		}
	}
	if err != nil {
		c.o.lost = time.Now()
	}
	return err
}

// usePermits is one turn of a caller of permits.
func (c *caller) usePermits(l *life) {
	s := l.c.NewPermitSemaphore(c.o.Name)
	if c.Habit == Asks {
		a := c.ask(l, "Available", oneTimeout, 0, false)
		_, err := s.Available(a.ctx)
		c.done(a, err)
		a = c.ask(l, "Total", oneTimeout, 0, false)
		_, err = s.Total(a.ctx)
		c.done(a, err)
		return
	}
	n := 1 + c.r.IntN(c.o.Permits)
	var opts []rlock.PermitOption
	lease := time.Duration(0)
	if c.r.IntN(3) == 0 {
		lease = between(c.r, 20*time.Millisecond, 5*time.Second).Truncate(time.Millisecond)
		opts = append(opts, rlock.Lease(lease))
	}
	var a *ask
	var taken *rlock.Permits
	var err error
	switch c.r.IntN(4) {
	case 0:
		a = c.ask(l, "TryAcquire permits", oneTimeout, 0, false)
		a.set(func(k *call) { k.wants = n })
		taken, err = s.TryAcquire(a.ctx, n, opts...)
	case 1:
		wait := c.wait()
		a = c.ask(l, "TryAcquireFor permits", boundOfTry(wait), 0, false)
		a.set(func(k *call) { k.wants = n })
		taken, err = s.TryAcquireFor(a.ctx, n, wait, opts...)
	default:
		a = c.ask(l, "Acquire permits", 0, graceOfLock, c.r.IntN(2) == 0)
		a.set(func(k *call) { k.wants, k.waits = n, k.o.count.known })
		a.timeout(between(c.r, time.Millisecond, 40*time.Second))
		taken, err = s.Acquire(a.ctx, n, opts...)
	}
	c.done(a, err)
	if err != nil {
		c.refused(a.call, err)
		return
	}
	h := c.entered(a.call, &hold{
		o: c.o, life: l, permits: n, ids: taken.IDs(), lease: lease, owner: taken.IDs()[0],
		valid: func() bool { return taken.Err() == nil }, until: taken.ValidUntil,
	})
	if lease > 0 && c.r.IntN(4) == 0 {
		a := c.ask(l, "Extend permits", oneTimeout, 0, false)
		err := taken.Extend(a.ctx, between(c.r, 20*time.Millisecond, 8*time.Second))
		c.done(a, err)
	}
	h.stay(c.pause(), taken.Done())
	c.leaves(h)
	trusted, until := taken.Err() == nil, taken.ValidUntil()
	a = c.ask(l, "Release permits", boundOfUnlock, oneTimeout, false)
	a.set(func(k *call) { k.until = until })
	a.timeout(between(c.r, time.Millisecond, 10*time.Second))
	err = taken.Release(a.ctx)
	c.done(a, err)
	c.unlocked(h, err, true, trusted && time.Now().Before(until))
}

// useLatch is one turn of a caller of a count-down latch: it sets, counts down, or waits.
func (c *caller) useLatch(l *life) {
	latch := l.c.NewCountDownLatch(c.o.Name)
	switch c.r.IntN(8) {
	case 0, 1:
		n := int64(1 + c.r.IntN(4))
		c.w.Mu.Lock()
		open := !c.o.here
		c.w.Mu.Unlock()
		if !open {
			return
		}
		a := c.ask(l, "TrySetCount", boundOfUnlock, oneTimeout, false)
		_, err := latch.TrySetCount(a.ctx, n)
		c.done(a, err)
	case 2, 3, 4:
		c.w.Mu.Lock()
		c.o.downs++
		c.w.Mu.Unlock()
		_ = c.change(l, "CountDown", 0, latch.CountDown)
	case 5:
		a := c.ask(l, "Count", oneTimeout, 0, false)
		n, err := latch.Count(a.ctx)
		c.done(a, err)
		if err == nil && n < 0 {
			c.violation("count: %s is %d", c.o.Name, n)
		}
	default:
		c.await(l, latch)
	}
}

// await waits for the latch, and judges that it was open at some moment of the call.
func (c *caller) await(l *life, latch *rlock.CountDownLatch) {
	a := c.ask(l, "Await", 0, graceOfLock, c.r.IntN(4) == 0)
	a.set(func(k *call) { k.waits = true })
	c.w.Mu.Lock()
	closed, flipped := c.o.here, c.o.flipped
	c.w.Mu.Unlock()
	a.timeout(between(c.r, time.Second, 30*time.Second))
	err := latch.Await(a.ctx)
	c.done(a, err)
	c.w.Mu.Lock()
	defer c.w.Mu.Unlock()
	if err == nil && c.steady(a.began) && closed && c.o.here && c.o.flipped.Equal(flipped) {
		c.violate("latch: Await of %s says that %s is open, and it has been closed since %v before the call", c.who, c.o.Name, a.began.Sub(flipped))
	}
	if err == nil {
		c.res.Entries++
	}
}
