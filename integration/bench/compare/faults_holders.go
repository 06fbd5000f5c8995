package main

import (
	"context"
	"time"

	"github.com/rlock-go/redisson/integration/internal/machineclock"
)

func holderKilled(s *stage) {
	p := s.process(holders)
	e := s.enter(context.Background(), p, s.name)
	if e.err != nil {
		fail("lock: %w", e.err)
	}
	next := s.waiter(s.client(rivals), s.name)
	began := time.Now()
	e.span.leave()
	s.killed(p)
	in, ok := next(limit)
	s.after("next enters after", in.at.Sub(began), ok)
	s.done(in, ok)
}

// holderPaused has a holder's process stand still for longer than its lease, and then go on with its work.
func holderPaused(s *stage) {
	p := s.process(holders)
	e := s.enter(context.Background(), p, s.name)
	if e.err != nil {
		fail("lock: %w", e.err)
	}
	other := s.client(rivals)
	const away = 3 * lease / 2
	did := e.works(away + time.Second)
	next := s.waiter(other, s.name)
	began := time.Now()
	if err := p.pause(); err != nil {
		fail("%w", err)
	}
	e.span.leave() // it does nothing while it stands still
	time.Sleep(away)
	woken := machineclock.Now()
	if err := p.resume(); err != nil {
		fail("%w", err)
	}
	d := did()
	if d.Last >= woken {
		s.witness.stay(s.name, max(woken, d.Woke), d.Last)
	}
	in, ok := next(limit)
	s.after("next enters after", in.at.Sub(began), ok)
	s.yes("woken holder is told before it acts", d.Told > 0 && d.Last < woken)
	value := s.value()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	err := e.hold.unlock(ctx)
	s.says("its unlock gives an error", err != nil)
	if ok {
		s.no("its unlock took the next one's hold", !s.intact(value))
	}
	s.done(in, ok)
}

// told notes when the holder was.
func (s *stage) told(d deeds, from int64) {
	s.after("holder told after", since(from, d.Told), d.Told > 0)
}

// losing has a holder work while it loses its lock to what is done.
func (s *stage) losing(do func(other service)) {
	c, other := s.client(holders), s.client(rivals)
	e := s.enter(context.Background(), c, s.name)
	if e.err != nil {
		fail("lock: %w", e.err)
	}
	did := e.works(lease + time.Second)
	time.Sleep(50 * time.Millisecond)
	from := machineclock.Now()
	do(other)
	d := did()
	s.told(d, from)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	s.says("its unlock gives an error", e.hold.unlock(ctx) != nil)
}

func keyDeleted(s *stage) { s.losing(func(service) { s.ask("DEL", s.key) }) }

func lockForced(s *stage) {
	s.losing(func(other service) {
		if err := other.(forcer).force(context.Background(), s.name); err != nil {
			fail("force: %w", err)
		}
	})
}

// keyTaken has another caller inside from the moment on when the key is gone.
func keyTaken(s *stage) {
	var in entry
	var value string
	s.losing(func(other service) {
		s.ask("DEL", s.key)
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		if in = s.enter(ctx, other, s.name); in.err != nil {
			fail("another's lock: %w", in.err)
		}
		value = s.value()
	})
	if value != "" && s.p.renews {
		s.no("its unlock took the next one's hold", !s.intact(value))
	}
	in.leave()
}

func restartedEmpty(s *stage) {
	s.losing(func(service) {
		s.server.Kill()
		s.server.Restart()
		s.redial()
	})
}

// standsStill has the server stop while a lock is held and waited for.
func standsStill(d time.Duration) func(*stage) {
	return func(s *stage) {
		c, other := s.client(holders), s.client(rivals)
		next := func(time.Duration) (entry, bool) { return entry{}, false }
		e := s.enter(context.Background(), c, s.name)
		if e.err != nil {
			fail("lock: %w", e.err)
		}
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
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		err := e.hold.unlock(ctx)
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
