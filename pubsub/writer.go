package pubsub

import (
	"runtime"
	"time"
)

// writeAll sends what the tables ask for, and a PING when the server has been
// silent for long, until the link ends or the farewell is sent.
func (l *link) writeAll() error {
	h := l.hub
	patience := h.o.Timeout / 2
	idle := time.NewTimer(patience)
	defer idle.Stop()
	var args []any
	for {
		h.mu.Lock()
		cmds := l.cut()
		// All of a chunk may have changed and changed back.
		more := len(cmds) == 0 && len(l.marked) > 0 && len(l.unanswered) < ahead
		h.mu.Unlock()
		if more {
			continue
		}
		if len(cmds) == 0 {
			select {
			case <-l.quit:
				return nil
			case <-l.write:
				// Who no longer waits has been told so just now, and goes first.
				runtime.Gosched()
				continue
			case <-idle.C:
			}
			rest := patience - l.silence()
			if rest <= 0 {
				cmds = l.cutPing()
				rest = patience
			}
			idle.Reset(rest)
		}
		for _, c := range cmds {
			args = args[:0]
			for _, ch := range c.channels {
				args = append(args, ch.name)
			}
			if err := l.conn.Send(c.kind.String(), args...); err != nil {
				return err
			}
			clear(args)
		}
		if len(cmds) > 0 {
			if err := l.conn.Flush(); err != nil {
				return err
			}
			if cmds[0].kind == farewell {
				return nil
			}
		}
	}
}

// cutPing queues a PING unless one is unanswered.
func (l *link) cutPing() []command {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	if l.pinged {
		return nil
	}
	l.pinged = true
	c := command{kind: ping}
	l.queue(c)
	return []command{c}
}
