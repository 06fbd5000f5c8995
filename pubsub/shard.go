package pubsub

// A sharded channel belongs to a slot, as a key does. One command has channels of
// one slot. A server that does not serve the slot answers MOVED, without saying
// which channel it means; and one that gives a slot away ends its subscriptions
// by itself, with the same push that answers SUNSUBSCRIBE. If such a push is
// taken for an answer, the answer that is left over fits no command, and the
// connection is made anew. The channels that the server does not serve are asked for
// again at the next look: by then the subscriber may have gone to another server.

// lookAgain has the channels asked for again that the server did not serve.
func (c *conn) lookAgain() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, ch := range c.channels {
		if ch.elsewhere {
			ch.elsewhere = false
			c.reconcile(ch)
		}
	}
}
