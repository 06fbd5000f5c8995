package rlock

import (
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/lockstate"
	"github.com/rlock-go/redisson/internal/observe"
	"github.com/rlock-go/redisson/watchdog"
)

// Stats are a client's holds and waiters now, and its counts since it was made.
type Stats struct {
	// KindStats are the sums over all kinds.
	KindStats

	// Kinds has the numbers of each kind that was used, by Subject.Kind.
	Kinds map[string]KindStats

	// Reconnects is how often a connection has replaced another one.
	Reconnects int64

	// Unobserved is how many events were dropped because observers were too slow.
	Unobserved int64
}

// KindStats are the numbers of one kind of lock.
type KindStats struct {
	Holds   int // now
	Waiters int // calls that wait now

	// Acquires that have ended, by AcquireEvent.Outcome.
	Acquired, Locked, TimedOut, Cancelled, Uncertain, Failed int64

	// Lost is how many holds ended before they were released, Undone how many acquires
	// had run although their reply was lost, UncertainReleases how many calls of Unlock,
	// or of Permits.Release, ended with ErrUncertain, Renewals how many leases were
	// extended.
	Lost, Undone, UncertainReleases, Renewals int64

	// LeastRemaining is the shortest time for which a hold is still certain without
	// another renewal, or NoExpiry if there is no hold.
	LeastRemaining time.Duration
}

// Stats returns a snapshot. It sends nothing. To count holds and waiters it goes through
// all locks, one of 64 shards at a time, and calls about that shard's locks wait
// meanwhile. So the shards are counted at slightly different moments. A closed client
// keeps its counts. The Stats of a zero Client are empty.
func (c *Client) Stats() Stats {
	s := Stats{KindStats: kindStats(), Kinds: map[string]KindStats{}}
	if c.s == nil {
		return s
	}
	all, reconnects, dropped := c.s.Stats()
	s.KindStats, s.Reconnects, s.Unobserved = kindStats(all[:]...), reconnects, dropped
	for i, one := range all {
		if k := kindStats(one); k != kindStats() {
			s.Kinds[kind.Label(i).String()] = k
		}
	}
	return s
}

// kindStats returns the sum of these counts.
func kindStats(all ...lockstate.Counts) KindStats {
	var k KindStats
	least := watchdog.Never
	for _, one := range all {
		k.Holds += one.Holds
		k.Waiters += one.Waiters
		k.Acquired += one.Acquires[observe.Acquired]
		k.Locked += one.Acquires[observe.Locked]
		k.TimedOut += one.Acquires[observe.Timeout]
		k.Cancelled += one.Acquires[observe.Cancelled]
		k.Uncertain += one.Acquires[observe.Uncertain]
		k.Failed += one.Acquires[observe.Failed]
		for _, n := range one.Lost {
			k.Lost += n
		}
		k.Undone += one.Undone
		k.UncertainReleases += one.Unsure
		k.Renewals += one.Renewals
		least = min(least, one.Least)
	}
	if k.LeastRemaining = least; least == watchdog.Never {
		k.LeastRemaining = NoExpiry
	}
	return k
}
