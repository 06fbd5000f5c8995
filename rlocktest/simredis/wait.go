package simredis

import (
	"slices"
	"time"
)

// wait is a client that waits for replicas.
type wait struct {
	replicas int64
	offset   int64
	end      *time.Timer
}

func init() {
	register(map[string]command{
		"WAIT": {2, 2, noKeys, nil, func(c *client, a []string) any { return c.waits(a) }},
		"REPLICAOF": {2, 2, noKeys, nil, func(c *client, a []string) any {
			if a[0] == "NO" && a[1] == "ONE" || a[0] == "no" && a[1] == "one" {
				c.s.SlaveOf(nil)
			} else {
				c.s.SlaveOf(at(c.s.w, a[0]+":"+a[1]))
			}
			return Status("OK")
		}},
	})
}

func (s *Server) count(offset int64) (n int64) {
	for _, l := range s.replicas {
		n += bit(l.online && l.acked >= offset)
	}
	return n
}

func (c *client) waits(a []string) any {
	s := c.s
	n, ok := integer(a[0])
	ms, ok2 := integer(a[1])
	switch {
	case s.master != nil:
		return Error("ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if a replica is configured to be writable (which is not the default) writes to replicas are just local and are not propagated.")
	case !ok:
		return errInt
	case !ok2:
		return Error("ERR timeout is not an integer or out of range")
	case ms < 0:
		return Error("ERR timeout is negative")
	}
	if got := s.count(c.offset); got >= n {
		return got
	}
	w := &wait{replicas: n, offset: c.offset}
	if ms == 0 {
		ms = 1e10
	}
	w.end = s.w.After(time.Duration(ms)*time.Millisecond, func() { c.waited(w) })
	c.wait = w
	for _, l := range s.replicas {
		if l.online {
			l.ack()
		}
	}
	return none
}

// waited is the end of a wait's time.
func (c *client) waited(w *wait) {
	if c.s.Paused && c.wait == w {
		w.end = c.s.w.After(10*time.Millisecond, func() { c.waited(w) })
		return
	}
	c.unblock(w)
}

// acknowledged ends the waits that have what they wait for.
func (s *Server) acknowledged() {
	for _, c := range slices.Clone(s.peers) {
		if c.wait != nil && s.count(c.wait.offset) >= c.wait.replicas {
			c.unblock(c.wait)
		}
	}
}

func (c *client) unblock(w *wait) {
	if c.wait != w || c.dropped {
		return
	}
	w.end.Stop()
	c.wait = nil
	c.out = appendReply(c.out, c.s.count(w.offset))
	c.serve()
}
