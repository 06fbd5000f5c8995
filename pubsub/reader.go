package pubsub

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gomodule/redigo/redis"
)

// errParted ends the reader after the farewell. It is no failure.
var errParted = errors.New("pubsub: parted")

// readAll receives until the connection fails, the server says something
// impossible, or the farewell is answered, which returns nil.
func (l *link) readAll() error {
	for {
		v, err := l.receive()
		var refusal redis.Error
		switch {
		case err == nil:
			l.sawWord()
			err = l.take(v)
		case errors.As(err, &refusal):
			l.sawWord()
			err = l.takeError(refusal)
		}
		if errors.Is(err, errParted) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// receive turns a panic of the parser over a hostile length into an error.
func (l *link) receive() (v any, err error) {
	defer func() {
		if p := recover(); p != nil {
			v, err = nil, violation("%v", p)
		}
	}()
	return redis.ReceiveWithTimeout(l.conn, l.hub.o.Timeout)
}

// take acts on one answer or message.
func (l *link) take(v any) error {
	r, err := decode(v)
	if err != nil {
		return err
	}
	switch r.word {
	case wordMessage:
		l.hub.deliver(r.channel, r.payload)
	case wordSubscribed:
		return l.takeSubscribed(r.channel)
	case wordUnsubscribed:
		return l.takeUnsubscribed(r.channel)
	case wordPong:
		return l.takePong()
	}
	return nil
}

// head returns the channel that the server should be answering about, if it is
// answering a command of this kind. hub.mu is held.
func (l *link) head(k kind) *channel {
	if len(l.unanswered) == 0 || l.unanswered[0].kind != k {
		return nil
	}
	c := &l.unanswered[0]
	return c.channels[c.answered]
}

func (l *link) takeSubscribed(name []byte) error {
	h := l.hub
	h.mu.Lock()
	c := l.head(subscribe)
	if c == nil || c.name != string(name) {
		h.mu.Unlock()
		return violation("subscribed to %.80q", name)
	}
	l.answer(false)
	c.unanswered--
	var confirmed []*Subscription
	if c.sent && c.unanswered == 0 {
		c.confirmed, c.alone = true, false
		confirmed = c.subs
	}
	h.mu.Unlock()
	h.confirm(confirmed)
	return nil
}

func (l *link) takeUnsubscribed(name []byte) error {
	h := l.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if c := l.head(unsubscribe); c != nil && c.name == string(name) {
		l.answer(false)
		c.unanswered--
		h.settle(c)
		return nil
	}
	// A shard whose slot moved away unsubscribes by itself. Ask again: the answer
	// says where things stand.
	if c := h.channels[string(name)]; c != nil && c.confirmed {
		c.sent, c.confirmed = false, false
		h.settle(c)
	}
	return nil
}

func (l *link) takePong() error {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	if len(l.unanswered) == 0 {
		return nil
	}
	switch l.unanswered[0].kind {
	case ping:
		l.pinged = false
		l.answer(true)
	case farewell:
		return errParted
	}
	return nil
}

// takeError acts on an error answer, which answers a whole command.
func (l *link) takeError(refusal redis.Error) error {
	h := l.hub
	final := h.final(refusal)
	h.mu.Lock()
	if len(l.unanswered) == 0 {
		h.mu.Unlock()
		return fmt.Errorf("pubsub: the server ends the connection: %w", refusal)
	}
	c := l.unanswered[0]
	switch {
	case c.kind == ping || c.kind == farewell:
		// It may be forbidden; it is a sign of life all the same.
		h.mu.Unlock()
		return l.takePong()
	case c.kind == unsubscribe || c.answered > 0 || !final:
		h.mu.Unlock()
		return fmt.Errorf("pubsub: %s refused: %w", c.kind, refusal)
	}
	l.answer(true)
	var subs []*Subscription
	for _, ch := range c.channels {
		ch.unanswered--
		if !ch.sent || ch.unanswered > 0 {
			continue // a later command decides
		}
		ch.sent = false
		if len(c.channels) > 1 {
			ch.alone = true
		} else {
			subs = ch.refuse(func(*Subscription) bool { return true })
		}
		h.settle(ch)
	}
	h.mu.Unlock()
	h.refuse(subs, fmt.Errorf("pubsub: SUBSCRIBE %q: %w", c.channels[0].name, refusal))
	return nil
}

// final tells whether a SUBSCRIBE that was answered like this will be answered so
// again. What may pass, such as a server that is busy, ends the connection instead,
// and the hub tries again after a pause. It asks the caller, so h.mu is not held.
func (h *Hub) final(refusal redis.Error) bool {
	text := string(refusal)
	return strings.HasPrefix(text, "NOPERM") ||
		strings.HasPrefix(text, "ERR unknown command") ||
		h.o.Permanent(refusal)
}
