package wire

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

var renewing = []scenario{{
	name:     "renewal of one",
	watchdog: ticking, firstUse: true,
	java: func(s *javaSide, n string) error {
		s.ok(s.t1.Lock(s.ctx(), n, dog))
		s.leave(n)
		s.renewed(1, n)
		return nil
	},
	golang: func(s *goSide, n string) error {
		s.ok(s.lock(n).Lock(s.ctx()))
		s.renewed(1, n)
		return nil
	},
}, renewalOf(5, 2, ticking, "renewal of five, one of them lost"),
	renewalOf(101, -1, 6*time.Second, "renewal of a hundred and one")}

// readsAgain: a read behind the new lease has the server tell of the key's next change.
var readsAgain = rule{"a read behind each renewal", func(_, golang *trace) (found bool) {
	const read, lease = " after hexists ", " after pexpire "
	for i := range golang.steps {
		s := &golang.steps[i]
		if s.tick == nil {
			continue
		}
		for lock, told := range s.tick.locks {
			if at := strings.LastIndex(told, read); at > strings.LastIndex(told, lease) && strings.Contains(told, lease) {
				s.tick.locks[lock] = told[:at]
				found = true
			}
		}
		s.tick.show(s)
	}
	return found
}}

// renewalOf takes locks, and one more with a fixed lease, has one lost before the first tick (-1: none), and waits for
// ticks.
func renewalOf(count, lost int, watchdog time.Duration, name string) scenario {
	names := func(n string) (all []string) {
		for i := range count {
			all = append(all, fmt.Sprintf("%s-%03d", n, i))
		}
		return all
	}
	prepared := func(r *rig, all []string) error {
		if lost >= 0 {
			r.Do("DEL", all[lost])
		}
		if err := r.early(all...); err != nil {
			return err
		}
		if lost < 0 {
			r.renewed(1, all...)
			return nil
		}
		// Twice, so that it shows whether the lost one is asked for again.
		r.renewed(2, slices.Delete(all, lost, lost+1)...)
		return nil
	}
	return scenario{
		name: name, watchdog: watchdog, several: true,
		java: func(s *javaSide, n string) error {
			all := names(n)
			for _, n := range all {
				s.ok(s.t1.Lock(s.ctx(), n, dog))
			}
			s.leave(all...)
			s.ok(s.t1.Lock(s.ctx(), n+"-fixed", quiet))
			return prepared(s.rig, all)
		},
		golang: func(s *goSide, n string) error {
			all, owner := names(n), s.client.NewOwner()
			for _, n := range all {
				s.ok(s.lock(n).Lock(s.ctx(), rlock.As(owner)))
			}
			s.ok(s.lock(n+"-fixed").Lock(s.ctx(), rlock.Lease(quiet), rlock.As(owner)))
			return prepared(s.rig, all)
		},
	}
}
