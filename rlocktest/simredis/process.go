package simredis

import (
	"slices"
	"time"

	"github.com/rlock-go/redisson/rlocktest/simnet"
)

// Resume ends a pause. What has come meanwhile runs, of connections that are closed by now too.
func (s *Server) Resume() {
	s.Paused = false
	if s.link != nil {
		s.link.drain()
	}
	for _, obey := range s.orders {
		obey()
	}
	s.orders = nil
	all := slices.Clone(s.peers)
	s.w.Rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, c := range all {
		if len(c.buf) > 0 && !c.dropped {
			c.serve()
		}
		c.Hold(false)
	}
	if s.sentinel != nil {
		s.sentinel.resumed()
	}
	if s.cluster != nil {
		s.cluster.resume()
	}
	s.revive()
}

// Kill ends the process, and all its connections. Without a word the host is gone too.
func (s *Server) Kill(silent bool) {
	s.down, s.silent, s.Paused = true, silent, false
	for _, c := range slices.Clone(s.peers) {
		if c.wait != nil {
			c.wait.end.Stop()
		}
		unread := len(c.buf) > 0 || c.Unread()
		c.dropped = true
		c.Hold(false)
		if !silent && !unread {
			c.Peer.Close() // what was sent arrives, as from any process that ends
		}
	}
	for _, c := range s.w.Conns(func(c *simnet.Conn) bool { return c.Server() == s.Addr }) {
		if silent {
			c.Vanish()
		} else {
			c.Reset()
		}
	}
	s.peers = nil
	for _, l := range slices.Clone(s.replicas) {
		l.broken()
	}
	if s.link != nil {
		s.link.broken()
	}
	if s.sentinel != nil {
		s.sentinel.names()
	}
}

// Start starts it again. Without keep it has lost its data.
func (s *Server) Start(keep bool) {
	if keep {
		s.StartWith(s.Save())
	} else {
		s.StartWith(Saved{})
	}
}

// Saved is what a server has written to its disk.
type Saved struct{ db map[string]*entry }

// Save returns what the server has now. A server that starts with it later has old data.
func (s *Server) Save() Saved {
	saved := Saved{db: make(map[string]*entry, len(s.db))}
	for k, e := range s.db {
		saved.db[k] = e.clone()
	}
	return saved
}

// StartWith starts it again with data of its own, new or old.
func (s *Server) StartWith(saved Saved) {
	for _, c := range s.w.Conns(func(c *simnet.Conn) bool { return c.Server() == s.Addr }) {
		c.Reappear()
	}
	s.reset()
	s.down, s.silent, s.Loading, s.Busy = false, false, false, false
	for k, e := range saved.db {
		s.db[k] = e.clone()
	}
	if s.master != nil {
		s.connect()
	} else {
		s.revive()
	}
	if s.sentinel != nil {
		s.sentinel.started()
	}
	if s.cluster != nil {
		s.cluster.restart()
	}
}

// StartLoading starts it again; it refuses commands for as long as it reads its data.
func (s *Server) StartLoading(saved Saved, takes time.Duration) {
	s.StartWith(saved)
	s.Loading = true
	run := s.runID
	s.w.After(takes, func() {
		if s.runID == run {
			s.Loading = false
		}
	})
}

// Running tells whether the process is there.
func (s *Server) Running() bool { return !s.down }

// ForgetScripts is SCRIPT FLUSH.
func (s *Server) ForgetScripts() { clear(s.loaded) }
