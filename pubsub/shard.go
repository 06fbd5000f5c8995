package pubsub

import "github.com/rlock-go/redisson/internal/refusal"

// A sharded channel belongs to a slot, as a key does. One command has channels of
// one slot. A server that does not serve the slot answers MOVED, without saying
// which channel it means; and one that gives a slot away ends its subscriptions
// by itself, with the same push that answers SUNSUBSCRIBE. If such a push is
// taken for an answer, the answer that is left over fits no command, and the
// connection is made anew.

// takeElsewhere acts on the answer that the server does not serve the slot of
// the command's channels. It reports false if that answers no such command. The
// channels are asked for again at the next look: by then whoever subscribed may
// have gone to another server.
func (c *conn) takeElsewhere(said refusal.Refusal) bool {
	if !said.Elsewhere() && !said.Unsettled() {
		return false
	}
	t := c.tables
	t.mu.Lock()
	if len(c.queue.unanswered) == 0 {
		t.mu.Unlock()
		return false
	}
	cmd := c.queue.unanswered[0]
	if !cmd.sharded || cmd.answered > 0 {
		t.mu.Unlock()
		return false
	}
	c.queue.answer(true)
	lost := false
	for _, ch := range cmd.channels {
		ch.unanswered--
		if ch.unanswered == 0 && cmd.kind == subscribe {
			ch.sent, ch.elsewhere, lost = false, true, true
		}
		t.reconcile(ch)
	}
	c.lookDue = c.lookDue || lost
	t.mu.Unlock()
	if lost {
		c.lostSlot()
	}
	return true
}

// lostSlot tells that the server does not serve the slot of a channel any more.
func (c *conn) lostSlot() {
	if c.o.SlotLost != nil {
		c.o.SlotLost()
	}
}

// lookAgain has the channels asked for again that the server did not serve.
func (c *conn) lookAgain() {
	t := c.tables
	t.mu.Lock()
	defer t.mu.Unlock()
	if !c.lookDue {
		return
	}
	c.lookDue = false
	for _, ch := range t.channels {
		if ch.elsewhere {
			ch.elsewhere = false
			t.reconcile(ch)
		}
	}
}
