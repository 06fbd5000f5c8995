package wire

import (
	"time"

	"github.com/rlock-go/redisson/rlock"
)

var asking = []scenario{{
	name: "questions about a locked one",
	java: func(s *javaSide, n string) error {
		s.ok(s.t1.Lock(s.ctx(), n, dog))
		s.ok(s.t1.Lock(s.ctx(), n, dog))
		return javaAsks(s, n, true, 2)
	},
	golang: func(s *goSide, n string) error {
		l := s.lock(n)
		h := s.ok(l.Lock(s.ctx()))
		s.ok(l.Lock(s.ctx(), rlock.As(h.Owner())))
		ttl, err := goAsks(s, l, h.Owner(), true, 2)
		if err != nil || ttl <= 0 || ttl > quiet {
			s.T.Errorf("RemainTTL: %v, %v", ttl, err)
		}
		return nil
	},
}, {
	name: "questions about an unlocked one",
	java: func(s *javaSide, n string) error { return javaAsks(s, n, false, 0) },
	golang: func(s *goSide, n string) error {
		_, err := goAsks(s, s.lock(n), s.client.NewOwner(), false, 0)
		s.is(rlock.ErrNotLocked, err)
		return nil
	},
}}

func javaAsks(s *javaSide, n string, locked bool, count int64) error {
	r, err := s.t1.IsLocked(s.ctx(), n)
	s.says(locked, r, err)
	r, err = s.t1.IsHeld(s.ctx(), n)
	s.says(locked, r, err)
	r, err = s.t2.IsHeld(s.ctx(), n)
	s.says(false, r, err)
	if r := s.ok(s.t1.HoldCount(s.ctx(), n)); r.Int() != count {
		s.T.Errorf("Java counts %d, want %d", r.Int(), count)
	}
	s.ok(s.t1.RemainTTL(s.ctx(), n))
	return nil
}

func goAsks(s *goSide, l *rlock.Lock, owner rlock.Owner, locked bool, count int) (time.Duration, error) {
	is, err := l.IsLocked(s.ctx())
	says(s, locked, is, err)
	is, err = l.IsHeldBy(s.ctx(), owner)
	says(s, locked, is, err)
	is, err = l.IsHeldBy(s.ctx(), s.client.NewOwner())
	says(s, false, is, err)
	holds, err := l.HoldCount(s.ctx(), owner)
	says(s, count, holds, err)
	return l.RemainTTL(s.ctx())
}
