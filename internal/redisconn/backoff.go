package redisconn

import (
	"math/rand/v2"
	"time"
)

// Backoff spaces the attempts to connect. It is for one goroutine at a time.
type Backoff struct {
	First time.Duration // the longest pause after one failure
	Last  time.Duration // where the doubling ends

	next time.Duration // 0: First
}

// Next is the pause before the next attempt. It doubles with each call. Half of
// it is random, so that a thousand clients of one restarted server don't return
// in the same instant.
func (b *Backoff) Next() time.Duration {
	d := min(max(b.next, b.First), b.Last)
	b.next = min(2*d, b.Last)
	return d/2 + rand.N(d/2+1)
}

// Reset has the pauses begin anew.
func (b *Backoff) Reset() { b.next = 0 }
