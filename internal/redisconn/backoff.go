package redisconn

import (
	"math/rand/v2"
	"time"
)

// Backoff spaces attempts, such as those to connect. One goroutine at a time
// may use it.
type Backoff struct {
	First time.Duration // the longest pause after one failure
	Last  time.Duration // the longest pause of all

	next time.Duration // 0: First
}

// Next returns the pause before the next attempt. It doubles with each call. Half
// of it is random, so that a thousand clients of one restarted server don't return
// in the same instant.
func (b *Backoff) Next() time.Duration {
	d := min(max(b.next, b.First), b.Last)
	b.next = min(2*d, b.Last)
	return d/2 + rand.N(d/2+1)
}

// Reset makes the next pause the first again.
func (b *Backoff) Reset() { b.next = 0 }
