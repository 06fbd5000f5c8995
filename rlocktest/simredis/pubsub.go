package simredis

import "slices"

func init() {
	subscribe := func(name string, sharded bool) func(c *client, a []string) any {
		return func(c *client, a []string) any {
			list := c.list(sharded)
			for _, ch := range a {
				if !slices.Contains(*list, ch) {
					*list = append(*list, ch)
				}
				c.out = appendReply(c.out, []any{name, ch, int64(len(*list))})
			}
			return none
		}
	}
	unsubscribe := func(name string, sharded bool) func(c *client, a []string) any {
		return func(c *client, a []string) any {
			list := c.list(sharded)
			if len(a) == 0 {
				if a = slices.Clone(*list); len(a) == 0 {
					c.out = appendReply(c.out, []any{name, nil, int64(0)})
				}
			}
			for _, ch := range a {
				*list = slices.DeleteFunc(*list, func(o string) bool { return o == ch })
				c.out = appendReply(c.out, []any{name, ch, int64(len(*list))})
			}
			return none
		}
	}
	count := func(sharded bool) func(c *client, a []string) any {
		return func(c *client, a []string) any {
			all := []any{}
			for _, ch := range a {
				n := int64(0)
				for _, p := range c.s.peers {
					n += bit(slices.Contains(*p.list(sharded), ch))
				}
				all = append(all, ch, n)
			}
			return all
		}
	}
	register(map[string]command{
		"PUBLISH":  {2, 2, noKeys | channel | loads, func(s *Server, a []string) any { return s.publish(a[0], a[1], false) }, nil},
		"SPUBLISH": {2, 2, noKeys | channel | loads, func(s *Server, a []string) any { return s.publish(a[0], a[1], true) }, nil},

		"SUBSCRIBE":    {1, 0, pubsub | loads | noKeys | channel, nil, subscribe("subscribe", false)},
		"SSUBSCRIBE":   {1, 0, pubsub | loads | noKeys | channel, nil, subscribe("ssubscribe", true)},
		"UNSUBSCRIBE":  {0, 99, pubsub | loads | noKeys, nil, unsubscribe("unsubscribe", false)},
		"SUNSUBSCRIBE": {0, 99, pubsub | loads | noKeys, nil, unsubscribe("sunsubscribe", true)},

		"PUBSUB|NUMSUB":      {0, 99, loads | noKeys, nil, count(false)},
		"PUBSUB|SHARDNUMSUB": {0, 99, loads | noKeys, nil, count(true)},
	})
}

// list returns the channels of one kind that a client listens to.
func (c *client) list(sharded bool) *[]string {
	if sharded {
		return &c.shards
	}
	return &c.channels
}

// publish sends to all that listen here, and to those of the replicas.
func (s *Server) publish(channel, text string, sharded bool) int64 {
	m := message{channel, text, sharded}
	if s.cluster != nil {
		s.cluster.spread(m)
	} else if s.backlogged {
		s.said = append(s.said, m)
	}
	return s.deliver(m)
}

type message struct {
	channel, text string
	sharded       bool
}

func (s *Server) deliver(m message) (n int64) {
	for _, c := range s.peers {
		what := "message"
		if m.sharded {
			what = "smessage"
		}
		if slices.Contains(*c.list(m.sharded), m.channel) {
			n++
			c.push([]any{what, m.channel, m.text})
		}
	}
	return n
}
