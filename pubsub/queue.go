package pubsub

import (
	"time"

	"github.com/rlock-go/redisson/internal/clock"
)

const (
	// chunk is how many channels one write may cover. It bounds a command's
	// size and the time for which mu is held.
	chunk = 1000

	// maxUnanswered is how many commands may be unanswered before the writer
	// waits. It bounds the queue's memory when waiters come and go faster than
	// the server answers.
	maxUnanswered = 64
)

// queue has the channels that a connection must check, and the commands that it sent
// and that are unanswered. Hub.mu guards its fields and is held when its methods are called.
type queue struct {
	write chan struct{} // cap 1: wakes the writer

	marked     []*channel // may be wanted otherwise than was sent
	unanswered []command  // in the order sent
	progress   time.Time  // when unanswered was last empty or shortened
}

// nextCommands makes the next commands from the marked channels and records them as
// sent. It returns none if there is nothing to send now.
func (q *queue) nextCommands() (cmds []command) {
	if len(q.unanswered) >= maxUnanswered {
		return nil // the reader signals when there is room
	}
	n := min(len(q.marked), chunk)
	for _, ch := range q.marked[:n] {
		ch.marked = false
	}
	cmds = commandsFor(q.marked[:n])
	clear(q.marked[:n])
	if q.marked = q.marked[n:]; len(q.marked) == 0 {
		q.marked = nil
	}
	q.add(cmds...)
	return cmds
}

// add records commands as sent.
func (q *queue) add(cmds ...command) {
	if len(q.unanswered) == 0 {
		q.progress = time.Now()
	}
	q.unanswered = append(q.unanswered, cmds...)
}

// answer records an answer to the first command of the queue. It removes the
// command after its last answer, or at once if whole.
func (q *queue) answer(whole bool) {
	q.progress = time.Now()
	head := &q.unanswered[0]
	head.answered++
	if !whole && head.answered < len(head.channels) {
		return
	}
	*head = command{}
	q.unanswered = q.unanswered[1:]
	if len(q.marked) > 0 {
		clock.Signal(q.write)
	}
}

// head returns the channel that the next answer must be about, if that answer is to a
// command of this kind and name is the channel's. Otherwise it returns nil.
func (q *queue) head(k commandKind, name []byte, sharded bool) *channel {
	if len(q.unanswered) == 0 || q.unanswered[0].kind != k || q.unanswered[0].sharded != sharded {
		return nil
	}
	cmd := &q.unanswered[0]
	if ch := cmd.channels[cmd.answered]; ch.name == string(name) {
		return ch
	}
	return nil
}
