package pubsub

import (
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
			case <-c.link.Retried():
				return errRedial
			case <-c.life.Done(): // the reader of a connection that can't be interrupted ends at its timeout
				return errClosed
			case <-tick.C:
				if c.stalled() {
					return errStalled
				}
				c.lookAgain()
				continue
			case <-idle.C:
			}
			rest := patience - c.silence()
			if rest <= 0 {
				cmds = c.nextPing()
				rest = patience
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

// nextPing queues a PING, unless another command is unanswered, whose answer will show
// the same.
func (c *conn) nextPing() []command {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue.unanswered) > 0 {
		return nil
	}
	cmd := command{kind: ping}
	c.queue.add(cmd)
	return []command{cmd}
}
