package checker

import (
	"time"

	"github.com/rlock-go/redisson/integration/torture/internal/history"
)

// stands is told of each stretch in which somebody wanted a lock and nobody was inside. Where locks are acquired together,
// one may be kept by who waits for another; so no release has to let anybody in at once, but a stretch must end with a
// round or two.
func (c *Checker) stands(lock int, from, to int64) {
	if !c.model.Several {
		return
	}
	c.verdict.Judged["times a member was wanted and nobody was inside"]++
	until := from + c.late.bounds.Stand.Nanoseconds()
	near := c.late.near(from, until, c.troubles)
	if near {
		until += c.late.bounds.Troubled.Nanoseconds()
		for _, t := range c.troubles { // by From
			if t.To > from && t.From < until {
				until += min(t.To, to) - max(t.From, from)
			}
		}
	}
	switch {
	case to <= until:
	case c.late.owns(lock, to-c.late.bounds.Stand.Nanoseconds()/2, to):
		c.verdict.Judged["times a JVM kept a member that none of its threads had"]++
	default:
		c.Violation("standstill: lock %d was wanted for %v, and nobody was inside (bound %v, calm %t), from %d on:%s", lock,
			time.Duration(to-from), time.Duration(until-from), !near, from, c.late.seen(lock, from, to))
	}
}

// owns tells whether the server showed one owner of a JVM, and nobody else, as a lock's between two instants: longer than
// any round, so a call that ended with an exception left it, and Redisson's watchdog renews it as long as the JVM lives.
func (l *lateness) owns(lock int, from, to int64) bool {
	owner := ""
	for _, s := range l.sightings {
		if s.Lock != lock || s.At < from || s.At > to {
			continue
		}
		if owner != "" && s.Owner != owner || !l.jvms[client(s.Owner)] {
			return false
		}
		owner = s.Owner
	}
	return owner != ""
}

// members drops what nobody can judge of one of several locks alone: who waits may wait for another of them.
func (c *Checker) members() {
	if c.model.Several {
		c.late.first = func(*history.Acquisition, int64, int64) bool { return false }
	}
	c.there.stands = c.stands
}
