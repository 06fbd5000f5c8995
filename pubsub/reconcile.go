package pubsub

import (
	"slices"

	"github.com/rlock-go/redisson/internal/clock"
)

// mark adds ch to the channels that the writer of the current connection checks.
// mu is held.
func (h *Hub) mark(ch *channel) {
	q := &h.conn.queue
	if !ch.marked {
		ch.marked = true
		q.marked = append(q.marked, ch)
	}
	if len(q.marked) > 2*len(h.channels)+chunk {
		// The surplus are channels that had waiters for a moment while the writer
		// was blocked.
		q.marked = slices.DeleteFunc(q.marked, (*channel).unused)
	}
	clock.Signal(q.write)
}

// reconcile removes an unused channel, and marks one whose subscription differs
// from what is wanted. mu is held.
func (h *Hub) reconcile(ch *channel) {
	switch {
	case ch.unused():
		// It may still be marked. Then the writer finds nothing to do for it.
		if h.channels[ch.key] == ch {
			delete(h.channels, ch.key)
		}
	case h.conn != nil && (ch.live > 0) != ch.sent:
		h.mark(ch)
	}
}
