package pubsub

import (
	"errors"
	"runtime"
	"time"
)

// writeAll sends the hub's commands, and a PING when the server has been silent for half
// of Options.Timeout. It calls Confirmed for those that joined, and watches the
// connection. It returns when the connection has ended or must end.
func (c *conn) writeAll() error {
	q := &c.queue
	patience := c.o.Timeout / 2
	idle, tick := time.NewTimer(patience), time.NewTicker(patience)
	defer idle.Stop()
	defer tick.Stop()
	var args []any
	for {
		c.mu.Lock()
		cmds := q.nextCommands()
		// All channels of a chunk may have changed and changed back.
		more := len(cmds) == 0 && len(q.marked) > 0 && len(q.unanswered) < maxUnanswered
		c.mu.Unlock()
		select {
		case <-c.wake: // even if there is always something to send
			c.tellJoined()
		default:
		}
		if more {
			continue
		}
		if len(cmds) == 0 {
			select {
			case <-c.quit:
				return nil
			case <-q.write:
				// A caller whose wait has just ended runs first.
				runtime.Gosched()
				continue
			case <-c.wake:
				c.tellJoined()
				continue
			case <-c.link.Retried:
				return errRedial
			case <-c.life.Done(): // the reader of a connection that can't be interrupted ends at its timeout
				return errClosed
			case <-tick.C:
				if err := c.check(); err != nil {
					return err
				}
				continue
			case <-idle.C:
			}
			rest := patience - time.Since(c.startedAt) + time.Duration(c.lastHeard.Load())
			if rest <= 0 {
				rest = patience
				c.mu.Lock()
				if len(q.unanswered) == 0 { // else another answer will show the same
					cmds = []command{{kind: ping}}
					q.add(cmds[0])
				}
				c.mu.Unlock()
			}
			idle.Reset(rest)
		}
		for _, cmd := range cmds {
			args = args[:0]
			for _, ch := range cmd.channels {
				args = append(args, ch.name)
			}
			if err := c.rc.Conn.Send(cmd.name(), args...); err != nil {
				return err
			}
		}
		if len(cmds) > 0 {
			if err := c.rc.Conn.Flush(); err != nil {
				return err
			}
		}
	}
}

var (
	errStalled = errors.New("pubsub: the server leaves a command unanswered")
	errClosed  = errors.New("pubsub: closed")
	errRedial  = errors.New("pubsub: asked to dial anew")
)

// A sharded channel belongs to a slot, as a key does. One command has channels of
// one slot. A server that does not serve the slot answers MOVED, without naming a
// channel. A server that gives a slot away ends its subscriptions by itself, with the
// same push that answers SUNSUBSCRIBE. If the hub takes such a push for an answer, the
// real answer fits no command later, and the connection is replaced. check retries
// the channels that the server does not serve, unless their waiters have gone to
// another server by then.

// check subscribes again the channels that the server did not serve. It returns an error if the
// server sends something but does not answer; a silent server ends the reader.
func (c *conn) check() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue.unanswered) > 0 && time.Since(c.queue.progress) > c.o.Timeout {
		return errStalled
	}
	for _, ch := range c.channels {
		if ch.elsewhere {
			ch.elsewhere = false
			c.reconcile(ch)
		}
	}
	return nil
}
