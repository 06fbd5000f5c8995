package wire

import (
	"time"

	"github.com/rlock-go/redisson/rlock"
)

var releasing = []scenario{{
	name: "final unlock",
	java: func(s *javaSide, n string) error {
		s.ok(s.t1.Lock(s.ctx(), n, dog))
		s.ok(s.t1.Unlock(s.ctx(), n))
		s.settle()
		return nil
	},
	golang: func(s *goSide, n string) error {
		h := s.ok(s.lock(n).Lock(s.ctx()))
		s.is(nil, h.Unlock(s.ctx()))
		s.settle()
		return nil
	},
}, {
	name: "final unlock of a fixed lease",
	java: func(s *javaSide, n string) error {
		s.ok(s.t1.Lock(s.ctx(), n, long))
		s.ok(s.t1.Unlock(s.ctx(), n))
		s.settle()
		return nil
	},
	golang: func(s *goSide, n string) error {
		h := s.ok(s.lock(n).Lock(s.ctx(), rlock.Lease(long)))
		s.is(nil, h.Unlock(s.ctx()))
		s.settle()
		return nil
	},
}, {
	name:   "partial unlock",
	java:   javaUnlocksPartly(dog),
	golang: goUnlocksPartly(),
}, {
	name:     "partial unlock of a fixed lease",
	watchdog: byDefault,
	java:     javaUnlocksPartly(long),
	golang:   goUnlocksPartly(rlock.Lease(long)),
}, {
	name: "unlock by a stranger",
	java: func(s *javaSide, n string) error {
		s.ok(s.t1.Lock(s.ctx(), n, dog))
		s.notHeld(s.t2.Unlock(s.ctx(), n))
		s.settle()
		return nil
	},
	golang: func(s *goSide, n string) error {
		l := s.lock(n)
		s.ok(l.Lock(s.ctx()))
		s.is(rlock.ErrNotHeld, l.UnlockAs(s.ctx(), s.client.NewOwner()))
		s.settle()
		return nil
	},
}, {
	name: "unlock of a lock that was lost",
	java: func(s *javaSide, n string) error {
		s.ok(s.t1.Lock(s.ctx(), n, dog))
		s.Do("DEL", n)
		s.notHeld(s.t1.Unlock(s.ctx(), n))
		s.settle()
		return nil
	},
	golang: func(s *goSide, n string) error {
		h := s.ok(s.lock(n).Lock(s.ctx()))
		s.Do("DEL", n)
		s.is(rlock.ErrNotHeld, h.Unlock(s.ctx()))
		s.settle()
		return nil
	},
}, {
	name: "force unlock of a locked one",
	java: func(s *javaSide, n string) error {
		s.ok(s.t1.Lock(s.ctx(), n, dog))
		r, err := s.t2.ForceUnlock(s.ctx(), n)
		s.says(true, r, err)
		return nil
	},
	golang: func(s *goSide, n string) error {
		l := s.lock(n)
		s.ok(l.Lock(s.ctx()))
		was, err := l.ForceUnlock(s.ctx())
		says(s, true, was, err)
		return nil
	},
}, {
	name: "force unlock of an unlocked one",
	java: func(s *javaSide, n string) error {
		r, err := s.t1.ForceUnlock(s.ctx(), n)
		s.says(false, r, err)
		return nil
	},
	golang: func(s *goSide, n string) error {
		was, err := s.lock(n).ForceUnlock(s.ctx())
		says(s, false, was, err)
		return nil
	},
}}

func javaUnlocksPartly(lease time.Duration) func(*javaSide, string) error {
	return func(s *javaSide, n string) error {
		s.ok(s.t1.Lock(s.ctx(), n, lease))
		s.ok(s.t1.Lock(s.ctx(), n, lease))
		s.ok(s.t1.Unlock(s.ctx(), n))
		s.settle()
		return nil
	}
}

func goUnlocksPartly(opts ...rlock.AcquireOption) func(*goSide, string) error {
	return func(s *goSide, n string) error {
		l := s.lock(n)
		h := s.ok(l.Lock(s.ctx(), opts...))
		inner := s.ok(l.Lock(s.ctx(), append([]rlock.AcquireOption{rlock.As(h.Owner())}, opts...)...))
		s.is(nil, inner.Unlock(s.ctx()))
		s.settle()
		return nil
	}
}
