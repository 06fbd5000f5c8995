package simredis

import (
	"slices"
	"time"
)

// lives returns a key's entry, unless its time is over.
func (s *Server) lives(key string) *entry {
	if e := s.db[key]; e != nil && (e.till == 0 || e.till >= s.now()) {
		return e
	}
	return nil
}

// Value returns the text of a string.
func (s *Server) Value(key string) (string, bool) {
	if e := s.lives(key); e != nil && e.kind == aString {
		return e.str, true
	}
	return "", false
}

// List returns the elements of a list.
func (s *Server) List(key string) []string {
	if e := s.lives(key); e != nil {
		return slices.Clone(e.list)
	}
	return nil
}

// Members returns the members of a sorted set, lowest score first.
func (s *Server) Members(key string) (names []string) {
	if e := s.lives(key); e != nil {
		for _, m := range e.zset {
			names = append(names, m.name)
		}
	}
	return names
}

// Until returns when a key will expire; zero: it is not there, or never does.
func (s *Server) Until(key string) time.Time {
	if e := s.lives(key); e != nil && e.till != 0 {
		return time.UnixMilli(e.till).Add(-s.Offset)
	}
	return time.Time{}
}

// Exists reports whether a key is there.
func (s *Server) Exists(key string) bool { return s.lives(key) != nil }

// Channels returns what clients of a host are subscribed to, of either kind.
func (s *Server) Channels(host string) (names []string) {
	for _, c := range s.peers {
		if c.Client == host {
			names = append(append(names, c.channels...), c.shards...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
