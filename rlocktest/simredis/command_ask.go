package simredis

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// These are commands by which tests look at a server.
func init() {
	register(map[string]command{
		"KEYS": {1, 1, noKeys, func(s *Server, a []string) any {
			all := []any{}
			for _, k := range s.Keys() {
				if matches(a[0], k) {
					all = append(all, k)
				}
			}
			return all
		}, nil},
		"DBSIZE": {0, 0, noKeys, func(s *Server, _ []string) any { return int64(len(s.Keys())) }, nil},
		"PEXPIRETIME": {1, 1, 0, func(s *Server, a []string) any {
			switch e := s.find(a[0]); {
			case e == nil:
				return int64(-2)
			case e.till == 0:
				return int64(-1)
			default:
				return e.till
			}
		}, nil},
		// A dump names the value and not the TTL, as in Redis, in a form of the model's own.
		"DUMP": {1, 1, 0, func(s *Server, a []string) any {
			if e := s.find(a[0]); e != nil {
				return fmt.Sprintf("%v %q %q %q %v", e.kind, e.str, e.hash, e.list, e.zset)
			}
			return nil
		}, nil},
		"PUBSUB|CHANNELS": {0, 1, loads | noKeys, nil, func(c *client, a []string) any { return c.s.subscribed(append(a, "*")[0]) }},
	})
}

// slash makes a slash a letter like others.
var slash = strings.NewReplacer("/", "\x00")

// matches tells whether a glob-style pattern matches a name.
func matches(pattern, name string) bool {
	if pattern == "*" {
		return true
	}
	ok, _ := path.Match(slash.Replace(pattern), slash.Replace(name))
	return ok
}

// subscribed returns the channels that somebody listens on.
func (s *Server) subscribed(pattern string) any {
	var names []string
	all := []any{}
	for _, c := range s.peers {
		for _, ch := range c.channels {
			if matches(pattern, ch) && !slices.Contains(names, ch) {
				names = append(names, ch)
				all = append(all, ch)
			}
		}
	}
	return all
}
