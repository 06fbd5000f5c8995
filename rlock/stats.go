package rlock

import (
	"iter"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/locks"
	"github.com/rlock-go/redisson/internal/observe"
	"github.com/rlock-go/redisson/watchdog"
)

// Stats are a client's holds and waiters now, and its counts since it was made.
type Stats struct {
	// KindStats are the sums over all kinds.
	KindStats

	// Kinds has the numbers of each kind that was used, by Subject.Kind.
	Kinds map[Kind]KindStats

	// Reconnects is how often a connection has replaced another one.
	Reconnects int64

	// Unobserved is how many events were dropped because observers were too slow.
	Unobserved int64

	// ReplicasHidden says that a server refuses INFO, so that the client can't see its
	// replicas. With WithReplicaSync writes then wait for as many as the Sentinels, the
	// cluster or the hosts of the URL name. With one server or a pool they wait for none.
	ReplicasHidden bool
}

// KindStats are the numbers of one kind of lock.
type KindStats struct {
	Holds   int // now
	Waiters int // calls that wait now

	// Acquires that have ended, by AcquireEvent.Outcome.
	Acquired, Locked, TimedOut, Cancelled, Uncertain, Failed int64

	// Lost is how many holds ended before they were released, also because a Lease or a
	// MaxHold was over, but not because of Close. Undone is how many acquires had run
	// although their reply was lost, UncertainReleases how many calls of Unlock, or of
	// Permits.Release, ended with ErrUncertain, Renewals how many leases were extended.
	Lost, Undone, UncertainReleases, Renewals int64

	// LeastRemaining is the shortest time for which a hold is still certain without
	// another renewal, or NoExpiry if there is no hold.
	LeastRemaining time.Duration

	// Oldest has the ages of the oldest hold and of the oldest of the calls that wait.
	Oldest Age
}

// Age is how long a hold and a wait have lasted so far. It shows a hold or a wait that never
// ends, which has no event, because holds and calls are counted when they end.
type Age struct {
	Hold time.Duration // since its acquire was sent; 0: there is no hold
	Wait time.Duration // since the call began; 0: no call waits
}

// Stats returns a snapshot. It sends nothing. To count holds and waiters it goes through
// all locks, one of 64 shards at a time, and calls about that shard's locks wait
// meanwhile. So the shards are counted at slightly different moments. A closed client
// keeps its counts. The Stats of a zero Client are empty.
func (c *Client) Stats() Stats {
	s := Stats{KindStats: kindStats(), Kinds: map[Kind]KindStats{}}
	if c.s == nil {
		return s
	}
	all, reconnects, dropped := c.s.Stats()
	s.KindStats, s.Reconnects, s.Unobserved = kindStats(all[:]...), reconnects, dropped
	s.ReplicasHidden = c.s.HidesReplicas()
	for i, one := range all {
		if k := kindStats(one); k != kindStats() {
			s.Kinds[Kind(kind.Label(i).String())] = k
		}
	}
	return s
}

// Ages yields each lock that this client holds or waits for, with its ages: once for each
// kind of lock that is used under the name. The Subject has no owner. Ages sends nothing,
// goes through the locks as Stats does, and none of the client's mutexes is held while it
// yields. A closed or zero Client yields nothing.
func (c *Client) Ages() iter.Seq2[Subject, Age] {
	return func(yield func(Subject, Age) bool) {
		if c.s == nil {
			return
		}
		c.s.Ages(func(name string, of kind.Label, age locks.Age) bool {
			return yield(Subject{Name: name, Kind: Kind(of.String())}, Age(age))
		})
	}
}

// kindStats returns the sum of these counts.
func kindStats(all ...locks.Counts) KindStats {
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
		k.Oldest.Hold, k.Oldest.Wait = max(k.Oldest.Hold, one.Oldest.Hold), max(k.Oldest.Wait, one.Oldest.Wait)
	}
	if k.LeastRemaining = least; least == watchdog.Never {
		k.LeastRemaining = NoExpiry
	}
	return k
}
