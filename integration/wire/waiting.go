package wire

import (
	"context"
	"fmt"
	"time"

	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/rlock"
)

var waiting = []scenario{{
	name: "timed try that fails",
	java: func(s *javaSide, n string) error {
		s.ok(s.t1.Lock(s.ctx(), n, dog))
		r, err := s.t2.TryLockFor(s.ctx(), n, time.Second, dog)
		s.says(false, r, err)
		s.settle()
		return s.waited(n)
	},
	golang: func(s *goSide, n string) error {
		l := s.lock(n)
		s.ok(l.Lock(s.ctx()))
		_, err := l.TryLockFor(s.ctx(), time.Second)
		s.is(rlock.ErrLocked, err)
		s.settle()
		return s.waited(n)
	},
}, {
	name:   "wait ended by an unlock",
	java:   javaWaits((*javapeer.Thread).Lock),
	golang: goWaits,
}, {
	name: "timed wait ended by an unlock",
	java: javaWaits(func(t *javapeer.Thread, ctx context.Context, n string, _ time.Duration) (javapeer.Reply, error) {
		return t.TryLockFor(ctx, n, patience, long)
	}),
	golang: func(s *goSide, n string) error {
		return goWaitsWith(s, n, func(ctx context.Context, l *rlock.Lock) (*rlock.Hold, error) {
			return l.TryLockFor(ctx, patience, rlock.Lease(long))
		})
	},
}, {
	name: "wait ended by expiry",
	java: func(s *javaSide, n string) error {
		s.ok(s.t1.Lock(s.ctx(), n, time.Second))
		s.ok(s.t2.Lock(s.ctx(), n, dog))
		s.settle()
		return s.waited(n)
	},
	golang: func(s *goSide, n string) error {
		l := s.lock(n)
		s.ok(l.Lock(s.ctx(), rlock.Lease(time.Second)))
		s.ok(l.Lock(s.ctx()))
		s.settle()
		return s.waited(n)
	},
}}

// javaWaits has t2 wait until t1 unlocks.
func javaWaits(wait func(t *javapeer.Thread, ctx context.Context, n string, lease time.Duration) (javapeer.Reply, error)) func(*javaSide, string) error {
	return func(s *javaSide, n string) error {
		s.ok(s.t1.Lock(s.ctx(), n, dog))
		got := make(chan error, 1)
		ctx := s.ctx()
		go func() {
			_, err := wait(s.t2, ctx, n, dog)
			got <- err
		}()
		s.await("a waiter", func(all []faultproxy.Exchange) bool { return s.waits(all, n) })
		if err := s.t2.AwaitParked(s.ctx()); err != nil {
			s.T.Fatal(err)
		}
		s.ok(s.t1.Unlock(s.ctx(), n))
		if err := <-got; err != nil {
			s.T.Fatal(err)
		}
		s.settle()
		return nil
	}
}

// goWaits has a second owner wait until the first unlocks.
func goWaits(s *goSide, n string) error {
	return goWaitsWith(s, n, func(ctx context.Context, l *rlock.Lock) (*rlock.Hold, error) { return l.Lock(ctx) })
}

func goWaitsWith(s *goSide, n string, wait func(context.Context, *rlock.Lock) (*rlock.Hold, error)) error {
	l := s.lock(n)
	h := s.ok(l.Lock(s.ctx()))
	got := make(chan error, 1)
	ctx := s.ctx()
	go func() {
		_, err := wait(ctx, l)
		got <- err
	}()
	s.await("a waiter", func(all []faultproxy.Exchange) bool { return s.waits(all, n) })
	s.is(nil, h.Unlock(s.ctx()))
	if err := <-got; err != nil {
		s.T.Fatal(err)
	}
	s.settle()
	return nil
}

// naming is a wait, which has key, channel and latch in it, for each kind of name that is written in a way of its own.
func naming() (all []scenario) {
	for _, n := range []string{"a{b}c", "{a}b", "a{b", "a}b", "{}", "a b  c", "замок 锁 🔒", "a\r\nb", "\"a\\'\t\x00%25:"} {
		all = append(all, scenario{name: fmt.Sprintf("name %q", n), lock: n, java: javaWaits((*javapeer.Thread).Lock), golang: goWaits})
	}
	return all
}
