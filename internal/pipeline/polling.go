package pipeline

import (
	"runtime"
	"runtime/metrics"
	"time"
)

// Whoever reads, the reader or a lone caller, either sleeps until a reply is there, in Go's
// network poller, or asks for it again and again. Polling spares the kernel and the
// scheduler a wake-up, which is half of the time on idle cores. Elsewhere it loses: who
// polls uses up its share of a busy machine, and then waits for the next one, or keeps
// the server from the core that both are on; a far server is polled for in vain. So the
// two are compared all the time, by what they take.
//
// What it costs others is not in that comparison. While a goroutine polls there is always
// one that is ready, and a processor of Go's that has one ready does not look at the
// network: a goroutine that waits for another connection would be woken by the scheduler's
// monitor, 10 ms late. So nobody polls unless another of Go's processors has nothing to do,
// which then waits for the network. Nor does the reader while nothing is under way.

const (
	// pollTime is for how long a reply is polled for before its reader sleeps. A server on
	// the same machine answers in half of it.
	pollTime = 100 * time.Microsecond

	// While polling is quicker each sleepEvery-th read sleeps, for the comparison: each
	// eighth costs an eighth of the pairs. While it is not each pollEvery-th polls: such a
	// one may take pollTime in vain.
	sleepEvery = 64
	pollEvery  = 512

	// timeSlice is for how long the kernel takes a processor away, roughly. A read that took
	// longer counts as one that took this long.
	timeSlice = 10 * time.Millisecond

	// leastReads is how many reads of each sort are a comparison. Of those that polled,
	// manyReads are remembered while they are the rule, and fewReads while they are not, so
	// that the end of a busy time is noticed. Of those that slept someReads are.
	leastReads = 16
	fewReads   = 32
	someReads  = 512
	manyReads  = 4096
)

// polling chooses how the next reply is waited for. Polling has to be quicker by an eighth,
// since it takes processor time. The zero value begins with it.
type polling struct {
	loses                   bool // polling is not quicker
	polled, slept           spent
	sincePolled, sinceSlept int // so many reads ago
}

// spent is the time that so many reads took. Older ones count less.
type spent struct {
	total time.Duration
	reads int
}

// add remembers fewer than most reads.
func (s *spent) add(took time.Duration, most int) {
	s.total += min(took, timeSlice)
	for s.reads++; s.reads >= most; {
		s.total, s.reads = s.total/2, s.reads/2
	}
}

// next tells whether the next read polls. It does not unless a processor is idle.
func (c *polling) next(idle func() bool) bool {
	c.sincePolled++
	c.sinceSlept++
	return c.sinceSlept < sleepEvery && (!c.loses || c.sincePolled >= pollEvery) && idle()
}

// took follows a read that took so long.
func (c *polling) took(polled bool, d time.Duration) {
	switch {
	case !polled:
		c.sinceSlept = 0
		c.slept.add(d, someReads)
	case c.loses:
		c.sincePolled = 0
		c.polled.add(d, fewReads)
	default:
		c.sincePolled = 0
		c.polled.add(d, manyReads)
	}
	if c.polled.reads >= leastReads && c.slept.reads >= leastReads {
		// Of totals, since a quotient of each would be rounded.
		c.loses = c.polled.total*time.Duration(c.slept.reads)*8 >= c.slept.total*time.Duration(c.polled.reads)*7
	}
}

// idleProcessor makes a function that tells whether one of Go's processors has nothing to
// do. It takes 60 ns, and is for one caller at a time.
func idleProcessor() func() bool {
	s := []metrics.Sample{{Name: "/sched/goroutines/running:goroutines"}, {Name: "/sched/gomaxprocs:threads"}}
	return func() bool {
		metrics.Read(s)
		running, all := s[0].Value, s[1].Value
		return running.Kind() == metrics.KindUint64 && all.Kind() == metrics.KindUint64 && running.Uint64() < all.Uint64()
	}
}

// wait fills for whoever reads the next reply, and remembers what it took.
func (c *conn) wait() error {
	polls := c.polling.next(c.idle)
	start := time.Now()
	some, err := false, error(nil)
	if polls {
		some, err = c.managed.TryFill()
		for !some && err == nil && time.Since(start) < pollTime {
			runtime.Gosched() // between two looks all other goroutines run
			some, err = c.managed.TryFill()
		}
	}
	if !some && err == nil {
		err = c.managed.Fill()
	}
	c.polling.took(polls, time.Since(start))
	return err
}
