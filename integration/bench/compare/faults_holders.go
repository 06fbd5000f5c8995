package main

import (
	"context"
	"time"

	"github.com/rlock-go/redisson/integration/kit/machineclock"
)

func holderKilled(s *stage) {
	p := s.process(holders)
	e := s.holding(p, s.name)
	next := s.waiter(s.client(rivals), s.name)
	began := time.Now()
	e.span.leave()
	s.killed(p)
	in, ok := next(limit)
	s.after("next enters after", in.at.Sub(began), ok)
	s.done(in, ok)
}

// holderPaused stops a holder's process for longer than its lease; then the holder goes on with its work.
func holderPaused(s *stage) {
	p := s.process(holders)
	e := s.holding(p, s.name)
	other := s.client(rivals)
	away := 3 * lease / 2
	did := e.works(away + time.Second)
	next := s.waiter(other, s.name)
	began := time.Now()
	check(p.pause())
	e.span.leave() // it does nothing while it is stopped
	time.Sleep(away)
	woken := machineclock.Now()
	check(p.resume())
	d := did()
	if d.Last >= woken {
		s.witness.stay(s.name, max(woken, d.Woke), d.Last)
	}
	in, ok := next(limit)
	s.after("next enters after", in.at.Sub(began), ok)
	s.yes("woken holder is told before it acts", d.Told > 0 && d.Last < woken)
	value := s.value()
	s.says("its unlock gives an error", e.hold.unlockSoon() != nil)
	if ok {
		s.no("its unlock took the next one's hold", !s.intact(value))
	}
	s.done(in, ok)
}

// told records when the holder learned of its loss.
func (s *stage) told(d deeds, from int64) {
	s.after("holder told after", since(from, d.Told), d.Told > 0)
}

// The ages at which a hold is lost.
const young, old = 50 * time.Millisecond, 3 * time.Second

// losing makes a holder work while do takes its lock away.
func (s *stage) losing(age time.Duration, do func(other *service)) {
	c, other := s.client(holders), s.client(rivals)
	e := s.holding(c, s.name)
	did := e.works(age + lease + time.Second)
	time.Sleep(age)
	from := machineclock.Now()
	do(other)
	s.told(did(), from)
	s.says("its unlock gives an error", e.hold.unlockSoon() != nil)
}

func keyDeleted(age time.Duration) func(*stage) {
	return func(s *stage) { s.losing(age, func(*service) { s.ask("DEL", s.key) }) }
}

func lockForced(s *stage) {
	s.losing(young, func(other *service) { check(other.force(context.Background(), s.name)) })
}

// keyTaken lets another caller enter as soon as the key is deleted.
func keyTaken(age time.Duration) func(*stage) {
	return func(s *stage) {
		var in entry
		var value string
		s.losing(age, func(other *service) {
			s.ask("DEL", s.key)
			in = s.enterSoon(other, s.name, limit)
			check(in.err)
			value = s.value()
		})
		if value != "" && s.p.renews {
			s.no("its unlock took the next one's hold", !s.intact(value))
		}
		in.leave()
	}
}

func restartedEmpty(s *stage) {
	s.losing(young, func(*service) {
		s.server.Kill()
		s.server.Restart()
		s.redial()
	})
}

// standsStill stops the server while a lock is held; a rival waits if that is longer than the lease.
func standsStill(d time.Duration) func(*stage) {
	return func(s *stage) {
		c, other := s.client(holders), s.client(rivals)
		next := func(time.Duration) (entry, bool) { return entry{}, false }
		e := s.holding(c, s.name)
		if d > lease {
			next = s.waiter(other, s.name)
		}
		after := 200 * time.Millisecond
		if d > lease {
			after = lease / 2
		}
		did := e.works(d + after)
		from := machineclock.Now()
		began := time.Now()
		s.server.Pause()
		time.Sleep(d)
		s.server.Resume()
		deed := did()
		if d > lease {
			s.told(deed, from)
		} else {
			s.no("holder told that it lost it", deed.Told > 0)
		}
		err := e.hold.unlockSoon()
		if d < lease {
			s.no("its unlock gives an error", err != nil)
			return
		}
		s.says("its unlock gives an error", err != nil)
		in, ok := next(limit)
		s.after("next enters after", in.at.Sub(began), ok)
		s.done(in, ok)
	}
}
