// Package lease is the arithmetic of the lease that the holds of one owner share (H6): what
// each was promised, what a command must pass so that no hold gets less, and what may be
// trusted afterwards. It keeps no state, does no I/O, takes no lock and reads no clock. Callers
// pass the instants, which are readings of one clock that never goes back.
// A command that extends the lease passes what all living holds still need, see [Sum]. The
// lease that it sets is trusted from the moment it was sent, for one percent less (H1). A
// command that was not answered may have run or not, so trust is the shorter of both cases. If
// its connection could not be killed, it may run as late as [Late] says, and cut the lease that
// later commands have set.
package lease

import (
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/watchdog"
)

// Promise is what one hold was promised.
type Promise struct {
	Fixed bool          // it has its own lease, which the watchdog does not extend; else the watchdog extends it
	Until time.Duration // fixed: when the server ends its own lease; else until when the watchdog extends it
	End   time.Duration // when trust in its own lease ends; Never if only the shared lease ends it
}

// Watched is the promise to a hold that the watchdog extends as long as it lives.
var Watched = Promise{Until: clock.Never, End: clock.Never}

// Fixed is the promise to a hold with its own lease, by a command sent at sent.
func Fixed(sent, lease time.Duration) Promise {
	return Promise{Fixed: true, Until: clock.Later(sent, lease), End: watchdog.Trust(sent, lease)}
}

// Bounded is the promise to a hold that the watchdog extends up to an instant, each time by
// full.
func Bounded(until, full time.Duration) Promise {
	return Promise{Until: until, End: watchdog.Trust(until, full)}
}

// Sum is what the living holds of an owner need together.
type Sum struct {
	RenewUntil time.Duration // when the watchdog stops extending; 0: it extends none
	now, full  time.Duration
	need       time.Duration
	Extends    bool // a hold is to be extended now
}

// Of is the Sum of no holds, whose every lease lasts until keep, an instant. full is the lease by which the
// watchdog extends.
func Of(now, full, keep time.Duration) Sum { return Sum{now: now, full: full, need: max(0, keep-now)} }

// Add adds a hold. end is when trust in its own lease ends, which may be earlier than the
// promise while an Extend has no reply. shared is when trust in the shared lease ends.
//
// A hold that the watchdog extends needs a full lease, unless its bound has passed. It never
// needs less than what is trusted, so that the end of a longer nested lease does not cut it
// short.
func (s *Sum) Add(p *Promise, end, shared time.Duration) {
	need := p.Until - s.now
	if !p.Fixed {
		s.RenewUntil = max(s.RenewUntil, p.Until)
		if need = watchdog.Lasting(min(end, shared) - s.now); s.now < p.Until {
			s.Extends = true
			need = max(need, s.full)
		}
	}
	s.need = max(s.need, need)
}

// Assert makes the watchdog renew a fixed lease as long as it lasts, each time by what is left
// of it, because others may cut it.
func (s *Sum) Assert(p *Promise) {
	if p.Fixed {
		s.RenewUntil = max(s.RenewUntil, p.Until)
	}
}

// Lease is the lease that a command passes which is to set own: own, or what the holds still
// need, rounded up to milliseconds, if that is longer. It is at least a millisecond.
func (s *Sum) Lease(own time.Duration) time.Duration {
	need := clock.Later(s.need, time.Millisecond-1).Truncate(time.Millisecond)
	return max(own, need, time.Millisecond)
}

// Late are the lost commands of an owner that set the lease and whose connection could
// not be killed. If one runs after all, it cuts the lease that a later command has set.
// The zero Late has none.
type Late struct {
	until time.Duration // they may run until then; 0: there are none
	lease time.Duration // the shortest that one of them sets
}

// Add records a command that sets lease and may run up to until.
func (l *Late) Add(lease, until time.Duration) {
	if l.until == 0 || lease < l.lease {
		l.lease = lease
	}
	l.until = max(l.until, until)
}

// Left is how long one of them may still run. If it is 0 none may, and Late is zero again.
func (l *Late) Left(now time.Duration) time.Duration {
	if now >= l.until {
		*l = Late{}
		return 0
	}
	return l.until - now
}

// Least is what may be left of a lease that a command sent at sent has set.
func (l *Late) Least(sent, lease time.Duration) time.Duration {
	if sent < l.until {
		return min(lease, l.lease)
	}
	return lease
}
