package rlock

import (
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/lockstate"
	"github.com/rlock-go/redisson/internal/observe"
	"github.com/rlock-go/redisson/watchdog"
)

// Stats is what a client has now, and what it has counted since it was made.
type Stats struct {
	// KindStats are of all kinds together.
	KindStats

	// Kinds are those of each kind that was used, by Subject.Kind.
	Kinds map[string]KindStats

	// Reconnects is how often a connection took the place of another one.
	Reconnects int64

	// Unobserved is how many events were dropped because observers were too slow.
	Unobserved int64
}

// KindStats are of one kind of lock.
type KindStats struct {
	Holds   int // now
	Waiters int // calls that wait now

	// Acquires that have ended, by AcquireEvent.Outcome.
	Acquired, Locked, TimedOut, Cancelled, Uncertain, Failed int64

	// Lost is how many holds ended before they were released, Undone how many acquires
	// had run although their reply was lost, UncertainReleases how many releases ended
	// with ErrUncertain, Renewals how many leases were extended.
	Lost, Undone, UncertainReleases, Renewals int64

	// LeastRemaining is the shortest time for which a hold is still certain without
	// another renewal, or NoExpiry if there is no hold.
	LeastRemaining time.Duration
}

// Stats returns a snapshot. It sends nothing and reads counters; to count what is held
// and who waits it goes through all of them, a 64th at a time, and calls about locks of
// that part wait meanwhile. The parts are of slightly different moments. A closed
// client keeps its counts. The Stats of a zero Client are empty.
func (c *Client) Stats() Stats {
	s := Stats{Kinds: map[string]KindStats{}}
	s.LeastRemaining = NoExpiry
	if c.s == nil {
		return s
	}
	all, reconnects, dropped := c.s.Stats()
	s.Reconnects, s.Unobserved = reconnects, dropped
	for i, from := range all {
		k := kindStats(&from)
		if k == (KindStats{LeastRemaining: NoExpiry}) {
			continue
		}
		s.Kinds[kind.Label(i).String()] = k
		s.add(&k)
	}
	return s
}

func kindStats(from *lockstate.Counts) KindStats {
	k := KindStats{
		Holds: from.Holds, Waiters: from.Waiters,
		Acquired: from.Acquires[observe.Acquired], Locked: from.Acquires[observe.Locked], TimedOut: from.Acquires[observe.Timeout],
		Cancelled: from.Acquires[observe.Cancelled], Uncertain: from.Acquires[observe.Uncertain], Failed: from.Acquires[observe.Failed],
		Undone: from.Undone, UncertainReleases: from.Unsure, Renewals: from.Renewals, LeastRemaining: from.Least,
	}
	if from.Least == watchdog.Never {
		k.LeastRemaining = NoExpiry
	}
	for _, n := range from.Lost {
		k.Lost += n
	}
	return k
}

// add adds those of a kind.
func (s *KindStats) add(k *KindStats) {
	s.Holds += k.Holds
	s.Waiters += k.Waiters
	s.Acquired += k.Acquired
	s.Locked += k.Locked
	s.TimedOut += k.TimedOut
	s.Cancelled += k.Cancelled
	s.Uncertain += k.Uncertain
	s.Failed += k.Failed
	s.Lost += k.Lost
	s.Undone += k.Undone
	s.UncertainReleases += k.UncertainReleases
	s.Renewals += k.Renewals
	if k.LeastRemaining != NoExpiry && (s.LeastRemaining == NoExpiry || k.LeastRemaining < s.LeastRemaining) {
		s.LeastRemaining = k.LeastRemaining
	}
}
