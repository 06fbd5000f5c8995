package redisconn

import (
	"math/rand/v2"
	"time"
)

// maxStale is how many dead connections a pool may lend before that is the
// server's trouble: after a restart all that were idle are dead.
const maxStale = 16

// Backoff spaces the attempts to connect. It is for one goroutine at a time.
type Backoff struct {
	First time.Duration // the longest pause after one failure
	Last  time.Duration // where the doubling ends

	next  time.Duration // 0: First
	stale int           // dead connections in a row
}

// Next is the pause before the next attempt. It doubles with each call. Half of
// it is random, so that a thousand clients of one restarted server don't return
// in the same instant.
func (b *Backoff) Next() time.Duration {
	d := min(max(b.next, b.First), b.Last)
	b.next = min(2*d, b.Last)
	return d/2 + rand.N(d/2+1)
}

// Stale counts a borrowed connection that was dead when it came. It reports
// true while such connections say nothing about the server; then no pause is
// needed.
func (b *Backoff) Stale() bool {
	b.stale++
	return b.stale <= maxStale
}

// Reset follows a connection that was of use.
func (b *Backoff) Reset() { b.next, b.stale = 0, 0 }
