package main

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
)

const (
	cutAfter  = faultproxy.CutAfter
	cutBefore = faultproxy.CutBefore
	dropReply = faultproxy.DropReply
	holdReply = faultproxy.HoldReply
)

// acquiring applies a fault to the acquire of a free lock.
func acquiring(do faultproxy.Action, delay time.Duration) func(*stage) {
	return func(s *stage) {
		c := s.client(holders)
		h := s.matching(do, delay)
		e := s.enterSoon(c, s.name, limit)
		back := time.Now()
		if h.Hits() == 0 {
			fail("no acquire passed")
		}
		h.Remove()
		s.after("answered after", e.took, true)
		s.no("caller got an error", e.err != nil)
		if e.err != nil {
			_, ok := s.free(limit)
			s.after("locked and nobody's for", time.Since(back), ok)
			return
		}
		s.after("locked and nobody's for", 0, true)
		if err := e.leave(); err != nil {
			s.no("its unlock gives an error", true)
		}
	}
}

func unlockReplyLost(s *stage) {
	c, other := s.client(holders), s.client(rivals)
	e := s.holding(c, s.name)
	next := s.waiter(other, s.name)
	h := s.matching(cutAfter, 0)
	began := time.Now()
	err := e.leave()
	s.no("unlock got an error", err != nil)
	in, ok := next(limit)
	s.after("next enters after", in.at.Sub(began), ok)
	if h.Hits() == 0 {
		fail("no unlock passed")
	}
	h.Remove()
	if ok {
		s.undisturbed(in, c)
	}
}

// undisturbed checks that the holder of in keeps its lock while a third client tries to take it.
func (s *stage) undisturbed(in entry, third *service) {
	value := s.value()
	s.enterSoon(third, s.name, 400*time.Millisecond).leave()
	intact := s.intact(value)
	// If it was taken before its value was read, its unlock shows that.
	s.no("the next one's hold was taken", in.leave() != nil || !intact)
}

func subscriptionCut(s *stage) {
	e := s.enter(context.Background(), s.client(holders), s.name)
	next := s.waiter(s.client(rivals), s.name)
	s.ways[rivals].CutAll()
	time.Sleep(200 * time.Millisecond)
	began := time.Now()
	e.left()
	in, ok := next(limit)
	s.after("waiter enters after", in.at.Sub(began), ok)
	s.done(in, ok)
}

// done ends a stay if there is one.
func (s *stage) done(in entry, ok bool) {
	if ok {
		in.leave()
	}
}

func messageLost(s *stage) {
	e := s.enter(context.Background(), s.client(holders), s.name)
	next := s.waiter(s.client(rivals), s.name)
	s.ways[rivals].Refuse(true)
	s.ways[rivals].CutAll()
	e.left()
	time.Sleep(300 * time.Millisecond)
	s.ways[rivals].Refuse(false)
	began := time.Now()
	in, ok := next(limit)
	s.no("waiter got an error", !ok && in.err != nil)
	s.after("waiter enters after", in.at.Sub(began), ok)
	s.done(in, ok)
}

func waiterStopped(s *stage) {
	holder := s.client(holders)
	e := s.enter(context.Background(), holder, s.name)
	stopped := s.process(rivals)
	first := s.waiter(stopped, s.name)
	second := s.waiter(holder, s.name)
	check(stopped.pause())
	began := time.Now()
	e.left()
	in, ok := second(limit)
	s.after("the other waiter enters after", in.at.Sub(began), ok)
	s.done(in, ok)
	stopped.resume()
	in, ok = first(limit)
	s.says("the stopped one enters later", ok)
	s.done(in, ok)
}

// crowd makes n callers wait for one lock, which each holds for a millisecond.
func crowd(n int) func(*stage) {
	return func(s *stage) {
		c := s.client(rivals)
		e := s.enter(context.Background(), c, s.name)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		var all sync.WaitGroup
		var entered, backwards, last atomic.Int64
		for i := range n {
			time.Sleep(200 * time.Microsecond) // they come one after the other
			all.Go(func() {
				in := s.enter(ctx, c, s.name)
				if in.err != nil {
					return
				}
				if last.Swap(int64(i)) > int64(i) {
					backwards.Add(1)
				}
				entered.Add(1)
				time.Sleep(time.Millisecond)
				in.leave()
			})
		}
		s.quiet()
		before := s.sent.Load()
		e.leave()
		for began := time.Now(); time.Since(began) < lease && entered.Load() < int64(n); time.Sleep(10 * time.Millisecond) {
		}
		got, commands := entered.Load(), s.sent.Load()-before
		cancel()
		all.Wait()
		s.add("acquisitions in 3 s", "", "more", float64(got))
		s.number("commands an acquisition", float64(commands)/float64(max(got, 1)))
		s.add("out of order, %", "", "", 100*float64(backwards.Load())/float64(max(got, 1)))
		s.leftLocked()
	}
}

// quiet waits until all callers of a crowd have been refused and wait: half a second. A JVM starts a thread for each,
// so with a JVM it waits until nothing more is sent, for about a lease at most.
func (s *stage) quiet() {
	const pause = short / 6
	time.Sleep(pause)
	for began, was := time.Now(), int64(-1); s.jvms != nil && was != s.sent.Load() && time.Since(began) < lease; time.Sleep(pause) {
		was = s.sent.Load()
	}
}

func givingUp(n int) func(*stage) {
	return func(s *stage) {
		c := s.client(rivals)
		var all sync.WaitGroup
		for range n {
			all.Go(func() {
				if in := s.enterSoon(c, s.name, rand.N(500*time.Millisecond)); in.err == nil {
					time.Sleep(2 * time.Millisecond)
					in.leave()
				}
			})
		}
		all.Wait()
		s.leftLocked()
	}
}

func poolOfTwo(s *stage) {
	c := s.open(opening{addr: s.ways[holders].Addr(), pool: 2})
	var all sync.WaitGroup
	var wrong atomic.Int64
	began := time.Now()
	for i := range 20 {
		all.Go(func() {
			for range 5 {
				if s.enterSoon(c, s.name+string(rune('a'+i)), limit).leave() != nil {
					wrong.Add(1)
				}
			}
		})
	}
	all.Wait()
	s.number("errors of 100 calls", float64(wrong.Load()))
	s.after("100 pairs took", time.Since(began), true)
}

func idleClosed(s *stage) {
	c := s.client(holders)
	var all sync.WaitGroup
	for i := range 8 { // so that several connections are idle
		all.Go(func() { s.enter(context.Background(), c, s.name+string(rune('a'+i))).leave() })
	}
	all.Wait()
	s.ways[holders].CutAll()
	time.Sleep(50 * time.Millisecond)
	wrong := 0
	began := time.Now()
	for range 10 {
		if s.enterSoon(c, s.name, limit).leave() != nil {
			wrong++
		}
	}
	s.number("errors of 10 calls", float64(wrong))
	s.after("10 pairs took", time.Since(began), true)
}

func endedWaiting(s *stage) {
	c := s.client(rivals)
	e := s.enter(context.Background(), s.client(holders), s.name)
	ctx, cancel := context.WithCancel(context.Background())
	ended := time.AfterFunc(300*time.Millisecond, cancel)
	defer ended.Stop()
	began := time.Now()
	in := s.enter(ctx, c, s.name)
	if in.err == nil {
		fail("it entered a lock that was held")
	}
	s.after("returns after", in.at.Sub(began)-300*time.Millisecond, true)
	e.left()
	s.leftLocked()
}

// endedAfterHit returns a context that ends 100 ms after a rule's hit, and a function that says how long ago that was.
func (s *stage) endedAfterHit(h *faultproxy.Handle) (ctx context.Context, ago func() time.Duration) {
	ctx, cancel := context.WithCancel(context.Background())
	s.t.Cleanup(cancel)
	ended := make(chan time.Time, 1)
	go func() {
		select {
		case <-h.Hit():
			time.Sleep(100 * time.Millisecond)
		case <-time.After(limit):
		}
		ended <- time.Now()
		cancel()
	}()
	return ctx, func() time.Duration {
		if h.Hits() == 0 {
			fail("no command passed")
		}
		at := <-ended
		ended <- at
		return time.Since(at)
	}
}

func endedUnderWay(s *stage) {
	c := s.client(holders)
	ctx, ago := s.endedAfterHit(s.matching(holdReply, 3*patience/2))
	in := s.enter(ctx, c, s.name)
	s.after("returns after", ago(), true)
	s.says("holds all the same", in.err == nil)
	in.leave()
	s.leftLocked()
}

func endedInUnlock(s *stage) {
	c := s.client(holders)
	e := s.holding(c, s.name)
	h := s.matching(faultproxy.Withhold, 0)
	ctx, ago := s.endedAfterHit(h)
	late := time.AfterFunc(100*time.Millisecond+3*patience/2, func() { h.Release() })
	defer late.Stop()
	e.span.leave()
	err := e.hold.unlock(ctx)
	s.after("returns after", ago(), true)
	s.says("it gives an error", err != nil)
	_, ok := s.free(limit)
	s.after("left locked for", ago(), ok)
}

// endedInRenewal ends the context of an acquire while the lock is renewed. If that ends the hold too, the holder must
// learn of it; otherwise the unlock must end the hold.
func endedInRenewal(s *stage) {
	c := s.client(holders)
	lock := c.lock
	if c.lockTied != nil {
		lock = c.lockTied
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	h, err := lock(ctx, s.name)
	check(err)
	rule := s.matching(holdReply, 3*patience/2)
	ended, _ := s.endedAfterHit(rule)
	<-ended.Done()
	if rule.Hits() == 0 {
		fail("no renewal passed")
	}
	cancel()
	time.Sleep(50 * time.Millisecond)
	s.says("holder is told", h.over != nil && h.over())
	began := time.Now()
	err = h.unlockSoon()
	s.after("its unlock returns after", time.Since(began), true)
	s.says("its unlock gives an error", err != nil)
	_, ok := s.free(limit)
	s.after("left locked for", time.Since(began), ok)
}
