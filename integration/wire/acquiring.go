package wire

import (
	"time"

	"github.com/rlock-go/redisson/rlock"
)

var acquiring = []scenario{{
	name:     "first use of each script",
	watchdog: byDefault, firstUse: true,
	java: func(s *javaSide, n string) error {
		s.ok(s.t1.Lock(s.ctx(), n, dog))
		s.ok(s.t1.Unlock(s.ctx(), n))
		s.settle()
		r, err := s.t1.ForceUnlock(s.ctx(), n)
		s.says(false, r, err)
		return nil
	},
	golang: func(s *goSide, n string) error {
		l := s.lock(n)
		h := s.ok(l.Lock(s.ctx()))
		s.is(nil, h.Unlock(s.ctx()))
		s.settle()
		was, err := l.ForceUnlock(s.ctx())
		says(s, false, was, err)
		return nil
	},
}, {
	name: "first acquire",
	java: func(s *javaSide, n string) error {
		s.ok(s.t1.Lock(s.ctx(), n, dog))
		return nil
	},
	golang: func(s *goSide, n string) error {
		s.ok(s.lock(n).Lock(s.ctx()))
		return nil
	},
}, {
	name: "first acquire, by a try",
	java: func(s *javaSide, n string) error {
		r, err := s.t1.TryLock(s.ctx(), n)
		s.says(true, r, err)
		return nil
	},
	golang: func(s *goSide, n string) error {
		s.ok(s.lock(n).TryLock(s.ctx()))
		return nil
	},
}, {
	name: "re-entry",
	java: func(s *javaSide, n string) error {
		for range 3 {
			s.ok(s.t1.Lock(s.ctx(), n, dog))
		}
		return nil
	},
	golang: func(s *goSide, n string) error {
		l := s.lock(n)
		h := s.ok(l.Lock(s.ctx()))
		for range 2 {
			s.ok(l.Lock(s.ctx(), rlock.As(h.Owner())))
		}
		return nil
	},
}, {
	name:     "re-entry with a shorter lease",
	watchdog: byDefault,
	java: func(s *javaSide, n string) error {
		s.ok(s.t1.Lock(s.ctx(), n, long))
		s.ok(s.t1.Lock(s.ctx(), n, 20*time.Second))
		return nil
	},
	golang: func(s *goSide, n string) error {
		l := s.lock(n)
		h := s.ok(l.Lock(s.ctx(), rlock.Lease(long)))
		s.ok(l.Lock(s.ctx(), rlock.Lease(20*time.Second), rlock.As(h.Owner())))
		return nil
	},
}, {
	name: "contended try",
	java: func(s *javaSide, n string) error {
		s.ok(s.t1.Lock(s.ctx(), n, dog))
		r, err := s.t2.TryLock(s.ctx(), n)
		s.says(false, r, err)
		return nil
	},
	golang: func(s *goSide, n string) error {
		l := s.lock(n)
		s.ok(l.Lock(s.ctx()))
		_, err := l.TryLock(s.ctx())
		s.is(rlock.ErrLocked, err)
		return nil
	},
}, {
	name: "fixed lease",
	java: func(s *javaSide, n string) error {
		s.ok(s.t1.Lock(s.ctx(), n, long))
		s.ok(s.t1.Lock(s.ctx(), n+"-2", 12345*time.Millisecond))
		return nil
	},
	golang: func(s *goSide, n string) error {
		h := s.ok(s.lock(n).Lock(s.ctx(), rlock.Lease(long)))
		s.ok(s.lock(n+"-2").Lock(s.ctx(), rlock.Lease(12345*time.Millisecond), rlock.As(h.Owner())))
		return nil
	},
}}
