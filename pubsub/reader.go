package pubsub

import (
	"errors"
	"fmt"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/command/refusal"
)

// errFinished ends the reader after the final PING. It is no failure.
var errFinished = errors.New("pubsub: finished")

// readAll receives until the connection fails or the server sends something
// impossible. It returns nil when the final PING is answered.
func (c *conn) readAll() error {
	for {
		v, err := c.receive()
		switch said, refused := refusal.Of(err); {
		case err == nil:
			c.serverAnswered()
			err = c.take(v)
		case refused:
			c.serverAnswered()
			if !c.takeElsewhere(said) {
				err = c.takeError(said, err)
			} else {
				err = nil
			}
		}
		if errors.Is(err, errFinished) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// receive turns a panic of the parser over a hostile length into an error.
func (c *conn) receive() (v any, err error) {
	defer func() {
		if p := recover(); p != nil {
			v, err = nil, violation("%v", p)
		}
	}()
	return redis.ReceiveWithTimeout(c.rc.Conn, c.hub.o.Timeout)
}

// violation is an answer that no server gives. The connection can't be trusted.
func violation(format string, args ...any) error {
	return fmt.Errorf("pubsub: unexpected answer: "+format, args...)
}

// take acts on one answer or message.
func (c *conn) take(v any) error {
	r, err := decode(v)
	if err != nil {
		return err
	}
	switch r.kind {
	case replyMessage:
		c.hub.deliver(r.channel, r.sharded, r.payload, c.twin(&r))
	case replySubscribed:
		return c.takeSubscribed(r.channel, r.sharded)
	case replyUnsubscribed:
		c.takeUnsubscribed(r.channel, r.sharded)
	case replyPong:
		return c.takePong()
	}
	return nil
}

func (c *conn) takeSubscribed(name []byte, sharded bool) error {
	h := c.hub
	kind := subscribe
	if sharded {
		kind = ssubscribe
	}
	h.mu.Lock()
	ch := c.head(kind)
	if ch == nil || ch.name != string(name) {
		h.mu.Unlock()
		return violation("subscribed to %.80q", name)
	}
	c.answer(false)
	ch.unanswered--
	var confirmed []*Subscription
	if ch.sent && ch.unanswered == 0 {
		ch.confirmed, ch.alone = true, false
		confirmed = ch.subs
	}
	h.mu.Unlock()
	h.confirm(confirmed)
	return nil
}

func (c *conn) takeUnsubscribed(name []byte, sharded bool) {
	h := c.hub
	kind := unsubscribe
	if sharded {
		kind = sunsubscribe
	}
	h.mu.Lock()
	if ch := c.head(kind); ch != nil && ch.name == string(name) {
		c.answer(false)
		ch.unanswered--
		h.reconcile(ch)
		h.mu.Unlock()
		return
	}
	// A shard whose slot moved away unsubscribes by itself. The answer to
	// another SUBSCRIBE says where things stand.
	ch := h.channels[key{string(name), sharded}]
	lost := ch != nil && ch.confirmed
	if lost {
		ch.sent, ch.confirmed = false, false
		h.reconcile(ch)
	}
	h.mu.Unlock()
	if lost {
		h.lostSlot()
	}
}

func (c *conn) takePong() error {
	c.hub.mu.Lock()
	defer c.hub.mu.Unlock()
	if len(c.unanswered) == 0 {
		return nil
	}
	switch c.unanswered[0].kind {
	case ping:
		c.pinged = false
		c.answer(true)
	case finalPing:
		return errFinished
	}
	return nil
}

// takeError acts on an error answer, which answers a whole command.
func (c *conn) takeError(said refusal.Refusal, err error) error {
	h := c.hub
	// What may pass, such as a server that is busy, ends the connection instead,
	// and the hub tries again after a pause. It asks the caller, so h.mu is not
	// held.
	final := said.NotAllowed() || h.o.Permanent(err)
	h.mu.Lock()
	if len(c.unanswered) == 0 {
		h.mu.Unlock()
		return fmt.Errorf("pubsub: the server ends the connection: %w", err)
	}
	cmd := c.unanswered[0]
	switch {
	case cmd.kind == ping || cmd.kind == finalPing:
		// PING may be forbidden. The server answered all the same.
		h.mu.Unlock()
		return c.takePong()
	case cmd.kind.leaves() || cmd.answered > 0 || !final:
		h.mu.Unlock()
		return fmt.Errorf("pubsub: %s refused: %w", cmd.kind, err)
	}
	c.answer(true)
	var subs []*Subscription
	for _, ch := range cmd.channels {
		ch.unanswered--
		if !ch.sent || ch.unanswered > 0 {
			continue // a later command decides
		}
		ch.sent = false
		if len(cmd.channels) > 1 {
			ch.alone = true
		} else {
			subs = ch.refuse(func(*Subscription) bool { return true })
		}
		h.reconcile(ch)
	}
	h.mu.Unlock()
	h.refuse(subs, fmt.Errorf("pubsub: %s %q: %w", cmd.kind, cmd.channels[0].name, err))
	return nil
}
