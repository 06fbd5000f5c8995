package simredis

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rlock-go/redisson/rlocktest/simnet"
)

// client is a connection as the server sees it.
type client struct {
	*simnet.Peer
	s       *Server
	id      int64
	name    string
	since   time.Time
	buf     []byte
	out     []byte
	authed  bool
	closing bool // behind the reply
	dropped bool

	channels, shards []string

	offset int64 // of the stream to the replicas when its last command ended
	wait   *wait // nil: it waits for no replica

	asking, asks, readonly bool // in a cluster: of the next command, of this one, of all

	tracking
}

func (c *client) drop() {
	c.dropped = true
	c.s.peers = slices.DeleteFunc(c.s.peers, func(o *client) bool { return o == c })
	if c.wait != nil {
		c.wait.end.Stop()
		c.wait = nil
	}
}

// end closes the connection. What it has coming arrives before.
func (c *client) end() {
	c.flush()
	c.drop()
	c.Peer.Close()
}

// serve runs the commands that have come.
func (c *client) serve() {
	s := c.s
	for c.wait == nil && !c.dropped && !s.Paused {
		args, n := parseCommand(c.buf)
		if n == 0 || s.cluster != nil && len(args) > 0 && s.cluster.holds(c, args) {
			break
		}
		c.buf = c.buf[n:]
		if len(args) == 0 {
			continue
		}
		s.w.Note("%s>%s %.90q", c.Remote, s.Addr, args)
		c.asked, c.caching = c.caching, false
		c.asks, c.asking = c.asking, false
		s.current = c
		var reply any
		if s.Refuse != nil {
			if text := s.Refuse(args); text != "" {
				reply = Error(text)
			}
		}
		if reply == nil {
			reply = c.run(args)
		}
		s.commit()
		c.offset = s.offset
		s.current = nil
		if reply != none {
			c.out = appendReply(c.out, reply)
			if s.Ran != nil {
				s.Ran(s, c.Client, args, reply)
			}
		}
		if c.closing && !c.dropped {
			c.end()
		}
	}
	c.flush()
}

func (c *client) flush() {
	if len(c.out) > 0 {
		c.s.w.Note("%s<%s %.300q", c.Remote, c.s.Addr, c.out)
		c.Send(c.out)
		c.out = nil
	}
}

// push sends what a client has not asked for, behind the replies that it has coming.
func (c *client) push(v any) {
	c.out = appendReply(c.out, v)
	if c != c.s.current {
		c.flush()
	}
}

func (s *Server) client(id int64) *client {
	for _, c := range s.peers {
		if c.id == id {
			return c
		}
	}
	return nil
}

// line is the client's in CLIENT LIST.
func (c *client) line(cmd string) string {
	flags, redirect := "N", int64(-1)
	if len(c.channels)+len(c.shards) > 0 {
		flags = "P"
	}
	if c.redirect != 0 {
		flags, redirect = strings.TrimPrefix(flags+"t", "N"), c.redirect
	}
	age := int(c.s.clock().Sub(c.since).Seconds())
	return fmt.Sprintf("id=%d addr=%s laddr=%s fd=8 name=%s age=%d idle=0 flags=%s db=0 sub=%d psub=0 ssub=%d multi=-1 qbuf=0 qbuf-free=0 argv-mem=0 multi-mem=0 "+
		"rbs=1024 rbp=0 obl=0 oll=0 omem=0 tot-mem=1024 events=r cmd=%s user=default redir=%d resp=2\n",
		c.id, c.Remote, c.s.Addr, c.name, age, flags, len(c.channels), len(c.shards), cmd, redirect)
}
