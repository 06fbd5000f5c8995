package pubsub

import (
	"math/rand/v2"
	"time"
)

// backoff spaces the attempts to connect. Only the hub's own goroutine uses it.
type backoff struct {
	first, most time.Duration
	next        time.Duration // upper bound of the next pause; 0 is first
	until       time.Time     // no attempt before
	staleSeen   int           // failures in a row that did not make pauses longer
}

// maxStale is how many stale connections a pool may lend before that counts as
// trouble.
const maxStale = 16

// failed records an attempt that failed, or a connection that ended after
// lived. A connection that worked for a while was a success, whatever ended it.
// Otherwise the pause after a server's yearly restart would depend on the one
// before. stale says that it was borrowed and dead already. After a restart a
// pool may be full of stale connections, which say nothing about the server.
func (b *backoff) failed(lived time.Duration, stale bool) {
	if lived >= b.most || b.next == 0 {
		b.next = b.first
		b.staleSeen = 0
	}
	// The spread keeps a thousand clients of one restarted server from
	// returning in the same instant.
	shortest := b.next / 5
	b.until = time.Now().Add(shortest + rand.N(b.next-shortest+1))
	if stale && b.staleSeen < maxStale {
		b.staleSeen++
		return
	}
	b.next = min(2*b.next, b.most)
}
