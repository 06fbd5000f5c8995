package waitqueue

import "time"

// slow is a Redisson process. A message wakes one of its waiting threads, or else spares the next
// one its wait. A thread takes its time to wake and try.
type slow struct {
	s *simulation
	work
	tally
	latency  func() time.Duration
	asleep   []func()                              // waiting threads
	oneByOne bool                                  // messages are lost while a thread wakes and tries
	looking  bool                                  // a thread has been woken and tries
	permits  int                                   // messages not used by a thread so far
	waiting  int                                   // threads without the lock after their first attempt
	away     func(now time.Duration) time.Duration // for how long to stay away from now on
	pipe     connection
	hub      connection
}

// jvm wakes within 1 to 3 ms, sometimes later.
func jvm(s *simulation) func() time.Duration { return tailed(s, ms, 700*us) }

func tailed(s *simulation, least, mean time.Duration) func() time.Duration {
	return func() time.Duration {
		return least + time.Duration(min(s.rng.ExpFloat64(), 8)*float64(mean))
	}
}

func newSlow(s *simulation, w work, latency func() time.Duration) *slow {
	p := &slow{s: s, work: w, latency: latency}
	p.pipe = connection{s: s, least: 200 * us, most: 600 * us}
	p.hub = connection{s: s, least: 50 * us, most: 150 * us}
	for range w.workers {
		s.after(s.between(0, ms), p.call)
	}
	return p
}

func (p *slow) line() *connection { return &p.hub }

func (p *slow) heard() {
	if p.oneByOne && (p.looking || len(p.asleep) == 0) {
		return
	}
	if len(p.asleep) == 0 {
		p.permits++
		return
	}
	p.looking = true
	thread := p.asleep[0]
	p.asleep = p.asleep[1:]
	p.s.after(p.latency(), thread)
}

// call lets a thread ask for the lock: it tries, subscribes, tries again, and from then on tries
// when it is woken.
func (p *slow) call() {
	if p.away != nil {
		if d := p.away(p.s.now); d > 0 {
			p.s.after(d, p.call)
			return
		}
	}
	since := p.s.now
	p.try(since, func() {
		if p.waiting++; p.waiting == 1 {
			p.permits = 0
			p.hub.send(command{plainCost, func() { p.s.subscribe(p) }, func() { p.retry(since) }})
		} else {
			p.retry(since)
		}
	}, func() {})
}

func (p *slow) retry(since time.Duration) {
	p.try(since, func() {
		p.looking = false
		if p.permits > 0 {
			p.permits--
			p.retry(since)
			return
		}
		p.asleep = append(p.asleep, func() { p.retry(since) })
	}, func() {
		p.looking = false
		if p.waiting--; p.waiting == 0 {
			p.hub.send(command{plainCost, func() {
				if p.waiting == 0 {
					p.s.unsubscribe(p)
				}
			}, func() {}})
		}
	})
}

func (p *slow) try(since time.Duration, refused, granted func()) {
	var got bool
	p.pipe.send(command{scriptCost, func() { got = p.s.acquire() }, func() {
		if !got {
			refused()
			return
		}
		p.granted(p.s, since)
		granted()
		p.s.after(p.work.holding(), p.unlock)
	}})
}

// unlock takes two round trips, the second to delete the latch.
func (p *slow) unlock() {
	p.pipe.send(command{scriptCost, p.s.release, func() {
		p.pipe.send(command{plainCost, func() {}, func() { p.s.after(p.work.thinking(), p.call) }})
	}})
}

// idle subscribes and never wants the lock.
type idle struct{ hub connection }

func newIdle(s *simulation) *idle {
	i := &idle{hub: connection{s: s}}
	s.subscribe(i)
	return i
}

func (i *idle) line() *connection { return &i.hub }
func (i *idle) heard()            {}
