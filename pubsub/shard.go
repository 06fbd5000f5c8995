package pubsub

// A sharded channel belongs to a slot, as a key does. One command has channels of
// one slot. A server that does not serve the slot answers MOVED, without naming a
// channel. A server that gives a slot away ends its subscriptions by itself, with the
// same push that answers SUNSUBSCRIBE. If the hub takes such a push for an answer, the
// real answer fits no command later, and the connection is replaced. lookAgain retries
// the channels that the server does not serve, unless their waiters have gone to
// another server by then.

// lookAgain subscribes again the channels that the server did not serve.
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
