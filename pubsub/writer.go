package pubsub

import (
	"runtime"
	"time"
)

// writeAll sends the commands that the hub wants sent, and a PING when the
// server has been silent for long. It returns when the connection ends or the
// final PING is sent.
func (c *conn) writeAll() error {
	q := &c.queue
	patience := c.o.Timeout / 2
	idle := time.NewTimer(patience)
	defer idle.Stop()
	var args []any
	for {
		c.mu.Lock()
		cmds := q.nextCommands(c.closed())
		// All channels of a chunk may have changed and changed back.
		more := len(cmds) == 0 && len(q.marked) > 0 && len(q.unanswered) < maxUnanswered
		c.mu.Unlock()
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
			if cmds[0].kind == finalPing {
				return nil
			}
		}
	}
}

// nextPing queues a PING, unless something is unanswered that tells as much.
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
