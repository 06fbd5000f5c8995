package pubsub

import (
	"fmt"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// readAll receives until the connection fails or the server sends something
// impossible.
func (c *conn) readAll() error {
	for {
		v, err := c.receive()
		said, refused := redisconn.RefusalOf(err)
		if answered := err == nil || refused; answered && c.lastHeard.Swap(int64(time.Since(c.startedAt))) == 0 {
			c.log.Connected(redisconn.Place(c.rc.Conn), -1, "")()
		}
		switch {
		case err == nil:
			c.worked = true
			err = c.take(v)
		case refused:
			err = c.takeError(said, err)
		}
		if err != nil {
			return err
		}
	}
}

// receive receives a reply. If redigo's parser panics at a hostile length, it returns an
// error.
func (c *conn) receive() (v any, err error) {
	defer func() {
		if p := recover(); p != nil {
			v, err = nil, violation("%v", p)
		}
	}()
	return redis.ReceiveWithTimeout(c.rc.Conn, c.o.Timeout)
}

// violation is the error for an answer that no server gives, after which the connection
// can't be trusted.
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
		for _, key := range r.keys {
			c.deliver(r.channel, r.sharded, key, false)
		}
		if r.keys != nil {
			return nil
		}
		c.deliver(r.channel, r.sharded, r.payload, c.sharded.repeatedBy(c.rc.Conn, &r))
	case replySubscribed:
		return c.takeSubscribed(r.channel, r.sharded)
	case replyUnsubscribed:
		c.takeUnsubscribed(r.channel, r.sharded)
	case replyPong:
		c.mu.Lock()
		if len(c.queue.unanswered) > 0 && c.queue.unanswered[0].kind == ping {
			c.queue.answer(true)
		}
		c.mu.Unlock()
	}
	return nil
}

func (c *conn) takeSubscribed(name []byte, sharded bool) error {
	c.mu.Lock()
	ch := c.queue.head(subscribe, name, sharded)
	if ch == nil {
		c.mu.Unlock()
		return violation("subscribed to %.80q", name)
	}
	c.queue.answer(false)
	ch.unanswered--
	var confirmed []*Subscription
	if ch.sent && ch.unanswered == 0 {
		ch.confirmed, ch.alone = true, false
		confirmed = ch.subs
	}
	c.mu.Unlock()
	c.confirm(confirmed)
	return nil
}

func (c *conn) takeUnsubscribed(name []byte, sharded bool) {
	c.mu.Lock()
	if ch := c.queue.head(unsubscribe, name, sharded); ch != nil {
		c.queue.answer(false)
		ch.unanswered--
		c.reconcile(ch)
		c.mu.Unlock()
		return
	}
	// A server that gives a slot away ends the subscription by itself. The
	// answer to another SUBSCRIBE shows whether it serves the slot.
	ch := c.channels[key{string(name), sharded}]
	lost := ch != nil && ch.confirmed
	var subs []*Subscription
	if lost {
		ch.sent, ch.confirmed, subs = false, false, ch.subs
		c.reconcile(ch)
	}
	c.mu.Unlock()
	if lost {
		c.o.SlotLost()
		c.tellLost(subs)
	}
}

// takeError acts on an error answer, which answers a whole command.
func (c *conn) takeError(said redisconn.Refusal, err error) error {
	if said.NoAuth() && c.worked {
		return fmt.Errorf("pubsub: the server wants credentials again: %w", err)
	}
	// An error that may pass, such as that of a busy server, ends the connection, and the
	// hub tries again after a pause. Permanent is the caller's code, so it is called
	// without mu.
	final := said.NotAllowed() || c.o.Permanent(err)
	c.mu.Lock()
	if len(c.queue.unanswered) == 0 {
		c.mu.Unlock()
		return fmt.Errorf("pubsub: the server ends the connection: %w", err)
	}
	cmd := c.queue.unanswered[0]
	elsewhere := (said.Elsewhere() || said.Unsettled()) && cmd.sharded && cmd.answered == 0
	switch {
	case cmd.kind == ping:
		// PING may be forbidden, but this is an answer too.
		c.queue.answer(true)
		c.mu.Unlock()
		return nil
	case !elsewhere && (cmd.kind == unsubscribe || cmd.answered > 0 || !final):
		c.mu.Unlock()
		return fmt.Errorf("pubsub: %s refused: %w", cmd.name(), err)
	}
	c.queue.answer(true)
	var subs []*Subscription
	lost := false
	for _, ch := range cmd.channels {
		ch.unanswered--
		if ch.sent && ch.unanswered == 0 { // else a later command decides
			ch.sent = false
			switch {
			case elsewhere:
				ch.elsewhere, lost = true, true
			case len(cmd.channels) > 1:
				ch.alone = true
			default:
				subs = ch.refuse(func(*Subscription) bool { return true })
			}
		}
		c.reconcile(ch)
	}
	c.mu.Unlock()
	if lost {
		c.o.SlotLost()
	}
	c.refuse(subs, fmt.Errorf("pubsub: %s %q: %w", cmd.name(), cmd.channels[0].name, err))
	return nil
}
