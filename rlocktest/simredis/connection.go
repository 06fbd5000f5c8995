package simredis

import (
	"strconv"
	"strings"
)

func init() {
	ok := func(*client, []string) any { return Status("OK") }
	register(map[string]command{
		"PING": {0, 99, pubsub | noKeys, nil, func(c *client, a []string) any {
			text := strings.Join(a, "")
			switch {
			case len(a) > 1:
				return wrongNumber("ping")
			case len(c.channels)+len(c.shards) > 0:
				return []any{"pong", text}
			case len(a) == 1:
				return text
			}
			return Status("PONG")
		}},
		"ECHO": {1, 1, loads | noKeys, nil, func(_ *client, a []string) any { return a[0] }},
		"QUIT": {0, 0, anybody | loads | busy | pubsub, nil, func(c *client, _ []string) any { c.closing = true; return Status("OK") }},
		"SELECT": {1, 1, loads | noKeys, nil, func(c *client, a []string) any {
			switch n, ok := integer(a[0]); {
			case !ok:
				return errInt
			case n != 0 && c.s.cluster != nil:
				return Error("ERR SELECT is not allowed in cluster mode")
			case n != 0: // the model has one database
				return Error("ERR DB index is out of range")
			}
			return Status("OK")
		}},
		"HELLO": {0, 0, anybody | loads | busy | noKeys, nil, func(c *client, a []string) any { return c.hello(a) }},
		"ROLE":  {0, 0, loads, nil, func(c *client, _ []string) any { return c.s.roleReply() }},
		"INFO":  {0, 9, loads | noKeys, nil, func(c *client, a []string) any { return c.s.info(a) }},
		"FLUSHALL": {0, 1, writes | noKeys, nil, func(c *client, _ []string) any {
			c.s.FlushAll()
			return Status("OK")
		}},

		"CLIENT|ID":       {0, 0, loads, nil, func(c *client, _ []string) any { return c.id }},
		"CLIENT|INFO":     {0, 0, loads, nil, func(c *client, _ []string) any { return c.line("client|info") }},
		"CLIENT|SETNAME":  {1, 1, loads | noKeys, nil, func(c *client, a []string) any { return c.rename(a[0]) }},
		"CLIENT|LIST":     {0, 9, loads | noKeys, nil, func(c *client, a []string) any { return c.clients(a) }},
		"CLIENT|KILL":     {1, 9, loads | noKeys, nil, func(c *client, a []string) any { return c.kill(a) }},
		"CLIENT|TRACKING": {1, 9, loads | noKeys, nil, func(c *client, a []string) any { return c.track(a) }},
		"CLIENT|CACHING":  {1, 1, loads | noKeys, nil, func(c *client, a []string) any { return c.cache(a[0]) }},
		"CLIENT|REPLY":    {1, 1, loads | noKeys, nil, ok},
	})
	h := commands["HELLO"]
	h.most = 9
	commands["HELLO"] = h
}

func (c *client) hello(a []string) any {
	if len(a) > 0 {
		switch n, ok := integer(a[0]); {
		case !ok:
			return Error("ERR Protocol version is not an integer or out of range")
		case n != 2: // the model has no RESP3
			return Error("NOPROTO unsupported protocol version")
		}
	}
	if len(a) == 4 && strings.EqualFold(a[1], "AUTH") {
		if err, ok := c.auth(a[2:]).(Error); ok {
			return err
		}
	}
	if !c.authed {
		return Error("NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time")
	}
	mode, role := "standalone", c.s.role()
	if c.s.sentinel != nil {
		mode = "sentinel"
		role = "master"
	}
	if c.s.cluster != nil {
		mode = "cluster"
	}
	return []any{"server", "redis", "version", c.s.Version, "proto", int64(2), "id", c.id, "mode", mode, "role", role, "modules", []any{}}
}

func (c *client) rename(name string) any {
	for _, r := range []byte(name) {
		if r < '!' || r > '~' {
			return Error("ERR Client names cannot contain spaces, newlines or special characters.")
		}
	}
	c.name = name
	return Status("OK")
}

func (c *client) clients(a []string) any {
	text := ""
	if len(a) == 0 {
		for _, o := range c.s.peers {
			text += o.line("client|list")
		}
		return text
	}
	if len(a) == 2 && strings.EqualFold(a[0], "TYPE") {
		for _, o := range c.s.peers {
			if strings.EqualFold(o.sort(), a[1]) {
				text += o.line("client|list")
			}
		}
		return text
	}
	if len(a) < 2 || !strings.EqualFold(a[0], "ID") {
		return errSyntax
	}
	for _, id := range a[1:] {
		n, ok := integer(id)
		if !ok {
			return Error("ERR Invalid client ID")
		}
		if o := c.s.client(n); o != nil {
			text += o.line("client|list")
		}
	}
	return text
}

// kill ends the connections that all filters name, but for its own.
func (c *client) kill(a []string) any {
	if len(a) == 1 { // the old form
		for _, o := range c.s.peers {
			if o.Remote == a[0] {
				o.killed(c)
				return Status("OK")
			}
		}
		return Error("ERR No such client")
	}
	if len(a)%2 == 1 {
		return errSyntax
	}
	match := func(o *client) bool { return o != c }
	for i := 0; i < len(a); i += 2 {
		was, value := match, a[i+1]
		switch strings.ToUpper(a[i]) {
		case "ID":
			id, ok := integer(value)
			if !ok || id < 1 {
				return Error("ERR client-id should be greater than 0")
			}
			match = func(o *client) bool { return was(o) && o.id == id }
		case "ADDR":
			match = func(o *client) bool { return was(o) && o.Remote == value }
		case "LADDR":
			match = func(o *client) bool { return was(o) && o.s.Addr == value }
		case "TYPE":
			if value != "normal" && value != "pubsub" && value != "replica" && value != "master" {
				return Error("ERR Unknown client type '" + value + "'")
			}
			match = func(o *client) bool { return was(o) && o.sort() == value }
		case "SKIPME":
			if strings.EqualFold(value, "no") {
				match = func(o *client) bool { return o == c || was(o) }
			}
		default:
			return errSyntax
		}
	}
	return c.s.killAll(match, c)
}

// sort is the type of client that CLIENT KILL TYPE names.
func (c *client) sort() string {
	if len(c.channels)+len(c.shards) > 0 {
		return "pubsub"
	}
	return "normal"
}

// killAll ends connections. The one that asks for it ends behind its reply.
func (s *Server) killAll(match func(o *client) bool, by *client) (n int64) {
	for _, o := range append([]*client(nil), s.peers...) {
		if match(o) {
			n++
			o.killed(by)
		}
	}
	return n
}

func (c *client) killed(by *client) {
	if c == by {
		c.closing = true
		return
	}
	c.out = nil
	c.drop()
	c.Peer.Close()
}

func (s *Server) role() string {
	if s.master != nil {
		return "replica"
	}
	return "master"
}

func (s *Server) roleReply() any {
	if s.master != nil {
		host, port := split(s.master.Addr)
		n, _ := strconv.ParseInt(port, 10, 64)
		state, offset := s.link.state(), s.offset
		if !s.link.online {
			offset = -1
		}
		return []any{"slave", host, n, state, offset}
	}
	all := []any{}
	for _, l := range s.replicas {
		if l.online {
			host, port := split(l.to.Addr)
			all = append(all, []any{host, port, strconv.FormatInt(l.acked, 10)})
		}
	}
	return []any{"master", s.offset, all}
}
