package pubsub

import "slices"

// channel finds or makes the entry of a key. h.mu is held.
func (h *Hub) channel(k key) *channel {
	ch := h.channels[k]
	if ch == nil {
		ch = &channel{key: k}
		h.channels[k] = ch
	}
	return ch
}

// mark puts ch on the list of channels that the writer checks. hub.mu is held.
func (c *conn) mark(ch *channel) {
	if !ch.marked {
		ch.marked = true
		c.marked = append(c.marked, ch)
	}
	if len(c.marked) > 2*len(c.hub.channels)+chunk {
		// These are channels that were wanted for a moment while the writer was
		// blocked.
		c.marked = slices.DeleteFunc(c.marked, (*channel).unused)
	}
	signal(c.write)
}

// reconcile removes an unused channel, and marks one whose subscription differs
// from what is wanted. h.mu is held.
func (h *Hub) reconcile(ch *channel) {
	switch {
	case ch.unused():
		// It may still be marked. Then the writer finds nothing to do for it.
		if h.channels[ch.key] == ch {
			delete(h.channels, ch.key)
		}
	case h.conn != nil && h.wanted(ch) != ch.sent:
		h.conn.mark(ch)
	}
}
