package pubsub

import (
	"slices"
	"sync"

	"github.com/rlock-go/redisson/internal/background"
)

// tables are the channels of a hub and what its connection is to do for them.
type tables struct {
	wake chan struct{} // cap 1: the hub's goroutine should look at the tables

	// mu guards all below and everything that says so. It is never held during
	// I/O or a Waker's method.
	mu       sync.Mutex
	channels map[key]*channel // those wanted, or that the server may have
	queue    *queue           // of the connection there is
	closed   bool             // the hub is
}

// mark puts ch on the list of channels that the writer checks. mu is held.
func (t *tables) mark(ch *channel) {
	if !ch.marked {
		ch.marked = true
		t.queue.marked = append(t.queue.marked, ch)
	}
	if len(t.queue.marked) > 2*len(t.channels)+chunk {
		// These are channels that were wanted for a moment while the writer was
		// blocked.
		t.queue.marked = slices.DeleteFunc(t.queue.marked, (*channel).unused)
	}
	background.Signal(t.queue.write)
}

// reconcile removes an unused channel, and marks one whose subscription differs
// from what is wanted. mu is held.
func (t *tables) reconcile(ch *channel) {
	switch {
	case ch.unused():
		// It may still be marked. Then the writer finds nothing to do for it.
		if t.channels[ch.key] == ch {
			delete(t.channels, ch.key)
		}
	case t.queue != nil && ch.wanted(t.closed) != ch.sent:
		t.mark(ch)
	}
}
