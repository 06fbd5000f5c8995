package pubsub

import "time"

const (
	// chunk is how many channels one write may cover. It bounds a command's
	// size and how long the tables are locked.
	chunk = 1000

	// maxUnanswered is how many commands may be unanswered before the writer
	// waits. It bounds the queue's memory when waiters come and go faster than
	// the server answers.
	maxUnanswered = 64
)

// nextCommands makes the next commands from the marked channels and queues them
// as sent. It returns none if there is nothing to send now. hub.mu is held.
func (c *conn) nextCommands() (cmds []command) {
	if len(c.unanswered) >= maxUnanswered {
		return nil // the reader signals when there is room
	}
	n := min(len(c.marked), chunk)
	var subs, unsubs []*channel
	var shards shardCommands
	for _, ch := range c.marked[:n] {
		ch.marked = false
		want := c.hub.wanted(ch)
		switch {
		case want == ch.sent, want && ch.elsewhere:
			continue // it changed and changed back, or waits for its next look
		case ch.sharded:
			shards.add(ch, want)
		case !want:
			unsubs = append(unsubs, ch)
		case ch.alone:
			cmds = append(cmds, command{kind: subscribe, channels: []*channel{ch}})
		default:
			subs = append(subs, ch)
		}
		ch.sent = want
		ch.confirmed = false
		ch.unanswered++
	}
	clear(c.marked[:n])
	if c.marked = c.marked[n:]; len(c.marked) == 0 {
		c.marked = nil
	}
	if len(unsubs) > 0 {
		cmds = append(cmds, command{kind: unsubscribe, channels: unsubs})
	}
	if len(subs) > 0 {
		cmds = append(cmds, command{kind: subscribe, channels: subs})
	}
	cmds = append(cmds, shards.all()...)
	if len(cmds) == 0 && len(c.marked) == 0 && c.closing && !c.finalPingSent {
		c.finalPingSent = true
		cmds = append(cmds, command{kind: finalPing})
	}
	c.queue(cmds...)
	return cmds
}

// queue records commands as sent. hub.mu is held.
func (c *conn) queue(cmds ...command) {
	if len(c.unanswered) == 0 {
		c.progress = time.Now()
	}
	c.unanswered = append(c.unanswered, cmds...)
}

// answer records an answer to the first command of the queue. It removes the
// command after its last answer, or at once if whole. hub.mu is held.
func (c *conn) answer(whole bool) {
	c.progress = time.Now()
	head := &c.unanswered[0]
	head.answered++
	if !whole && head.answered < len(head.channels) {
		return
	}
	*head = command{}
	if c.unanswered = c.unanswered[1:]; len(c.unanswered) == 0 {
		c.unanswered = nil
	}
	if len(c.marked) > 0 || c.closing {
		signal(c.write)
	}
}

// head returns the channel that the server should be answering about, if it is
// answering a command of this kind. hub.mu is held.
func (c *conn) head(k commandKind) *channel {
	if len(c.unanswered) == 0 || c.unanswered[0].kind != k {
		return nil
	}
	cmd := &c.unanswered[0]
	return cmd.channels[cmd.answered]
}
