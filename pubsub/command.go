package pubsub

import (
	"slices"
	"time"
)

// kind is which command was sent.
type kind uint8

const (
	subscribe kind = iota
	unsubscribe
	ping     // are you there
	farewell // a PING after which nothing more is sent or read
)

func (k kind) String() string {
	return [...]string{"SUBSCRIBE", "UNSUBSCRIBE", "PING", "PING"}[k]
}

// command is one command that was sent, or is about to be, and not fully answered.
type command struct {
	kind     kind
	channels []*channel // of a SUBSCRIBE or UNSUBSCRIBE, in the order sent
	answered int        // how many of channels; the server answers for each
}

const (
	// chunk is how many channels are looked at for one write. It bounds a command's
	// size and how long the tables are locked.
	chunk = 1000

	// ahead is how many commands may be unanswered before the writer waits. It
	// bounds the queue's memory when waiters come and go faster than the server
	// answers.
	ahead = 64
)

// mark puts c on the list of channels that the writer looks at. hub.mu is held.
func (l *link) mark(c *channel) {
	if !c.marked {
		c.marked = true
		l.marked = append(l.marked, c)
	}
	if len(l.marked) > 2*len(l.hub.channels)+chunk {
		// Channels that were wanted for a moment, while the writer was held up.
		l.marked = slices.DeleteFunc(l.marked, (*channel).unused)
	}
	signal(l.write)
}

// cut makes the next commands from what is marked and queues them as sent. None
// means that there is nothing to do now. hub.mu is held.
func (l *link) cut() (cmds []command) {
	if len(l.unanswered) >= ahead {
		return nil // the reader signals when there is room
	}
	n := min(len(l.marked), chunk)
	var subs, unsubs []*channel
	for _, c := range l.marked[:n] {
		c.marked = false
		want := l.hub.wanted(c)
		switch {
		case want == c.sent:
			continue // it changed and changed back
		case !want:
			unsubs = append(unsubs, c)
		case c.alone:
			cmds = append(cmds, command{kind: subscribe, channels: []*channel{c}})
		default:
			subs = append(subs, c)
		}
		c.sent = want
		c.confirmed = false
		c.unanswered++
	}
	clear(l.marked[:n])
	if l.marked = l.marked[n:]; len(l.marked) == 0 {
		l.marked = nil
	}
	if len(unsubs) > 0 {
		cmds = append(cmds, command{kind: unsubscribe, channels: unsubs})
	}
	if len(subs) > 0 {
		cmds = append(cmds, command{kind: subscribe, channels: subs})
	}
	if len(cmds) == 0 && len(l.marked) == 0 && l.leaving && !l.parting {
		l.parting = true
		cmds = append(cmds, command{kind: farewell})
	}
	l.queue(cmds...)
	return cmds
}

// queue notes commands as sent. hub.mu is held.
func (l *link) queue(cmds ...command) {
	if len(l.unanswered) == 0 {
		l.progress = time.Now()
	}
	l.unanswered = append(l.unanswered, cmds...)
}

// answer takes note of an answer to the head of the queue, and removes it when it
// was the last one or all of them. hub.mu is held.
func (l *link) answer(whole bool) {
	l.progress = time.Now()
	head := &l.unanswered[0]
	head.answered++
	if !whole && head.answered < len(head.channels) {
		return
	}
	*head = command{}
	if l.unanswered = l.unanswered[1:]; len(l.unanswered) == 0 {
		l.unanswered = nil
	}
	if len(l.marked) > 0 || l.leaving {
		signal(l.write)
	}
}
