package simredis

import (
	"fmt"
	"slices"
	"time"
)

// Field returns the value of a hash's field.
func (s *Server) Field(key, name string) (string, bool) {
	e := s.db[key]
	if e == nil || e.till != 0 && e.till < s.now() {
		return "", false
	}
	if i := e.field(name); i >= 0 {
		return e.hash[i].value, true
	}
	return "", false
}

// Fields returns the names of a hash's fields.
func (s *Server) Fields(key string) (names []string) {
	if e := s.db[key]; e != nil && (e.till == 0 || e.till >= s.now()) {
		for _, f := range e.hash {
			names = append(names, f.name)
		}
	}
	return names
}

// Followed returns when the newest change was made that the server has from a master. It lacks all that its masters changed later.
func (s *Server) Followed() time.Time { return s.followed }

// Listens returns the channels of both kinds to which a host is subscribed.
func (s *Server) Listens(host string) (channels []string) {
	for _, c := range s.peers {
		if c.Client == host {
			channels = append(append(channels, c.channels...), c.shards...)
		}
	}
	return channels
}

// Keys returns all keys.
func (s *Server) Keys() (keys []string) {
	for k, e := range s.db {
		if e.till == 0 || e.till >= s.now() {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}

// Dump describes a key, with its PTTL.
func (s *Server) Dump(key string) string {
	e := s.db[key]
	if e == nil {
		return "none"
	}
	till := int64(-1)
	if e.till != 0 {
		till = e.till - s.now()
	}
	return fmt.Sprintf("%v %q %q %q %v pttl %d", e.kind, e.str, e.hash, e.list, e.zset, till)
}
