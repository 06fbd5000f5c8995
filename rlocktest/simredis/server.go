// Package simredis carries no promise: it is for the project's own tests, and may change or go in any release.
//
// It is a model of Redis that runs in virtual time, in the process of the test.
// It has the commands and the Lua that the library uses, replication, Sentinels and a cluster.
// A test in the simulation compares it with a real server.
package simredis

import (
	"fmt"
	"time"

	"github.com/rlock-go/redisson/rlocktest/simnet"
)

// Server is one process. All its methods are called with the world's lock held.
type Server struct {
	w    *simnet.World
	Addr string

	// Gone is called when a key of a master disappears by itself or by a command; nil: nobody.
	Gone func(s *Server, key, why string)
	// Ran is called for each command that a client sends; nil: nobody.
	Ran func(s *Server, client string, args []string, reply any)
	// Refuse returns the text of the error that answers a command instead of what it does; "": it runs; nil: all run.
	Refuse func(args []string) string

	down, silent bool
	Paused       bool             // what comes waits until Resume
	Offset       time.Duration    // of its clock; see Jump
	Clock        func() time.Time // its clock instead of virtual time and Offset; nil: these

	// Version is the one of which it is said to be; what tracking does depends on it.
	Version string

	refusals

	runID  string
	db     map[string]*entry
	dirty  []string
	expiry expiry
	loaded map[string]bool // scripts
	nextID int64
	peers  []*client
	orders []func() // of Sentinels, that came while it stood still

	current *client              // whose command runs; nil: none does
	tracked map[string][]*client // by key

	replication

	sentinel *Sentinel // not nil: it is one
	cluster  *node     // not nil: it is one of a cluster

	// NoFailover keeps a replica in a cluster from being elected.
	NoFailover bool
}

// New makes a master without data at an address.
func New(w *simnet.World, addr string) *Server {
	s := &Server{w: w, Addr: addr, Version: "7.0.15"}
	s.reset()
	w.Listen(addr, s)
	return s
}

// at returns the server at an address; one that is not there is down.
func at(w *simnet.World, addr string) *Server {
	if s, ok := w.At(addr).(*Server); ok {
		return s
	}
	return &Server{w: w, Addr: addr, down: true, silent: true}
}

// reset makes it a process that has just begun.
func (s *Server) reset() {
	s.db, s.dirty, s.loaded, s.nextID = map[string]*entry{}, nil, map[string]bool{}, 2
	s.orders, s.runID, s.peers, s.tracked, s.current = nil, s.randomID(), nil, nil, nil
	s.expiry = expiry{}
	s.replication.reset(s.randomID())
}

func (s *Server) randomID() string {
	return fmt.Sprintf("%016x%016x%08x", s.w.Rand.Uint64(), s.w.Rand.Uint64(), s.w.Rand.Uint32())
}

func (s *Server) clock() time.Time {
	if s.Clock != nil {
		return s.Clock()
	}
	return time.Now().Add(s.Offset)
}

func (s *Server) now() int64 { return s.clock().UnixMilli() }

// Up tells whether it takes connections.
func (s *Server) Up() (up, silent bool) { return !s.down, s.silent }

// Accept takes a connection.
func (s *Server) Accept(p *simnet.Peer) {
	s.nextID++
	c := &client{Peer: p, s: s, id: s.nextID, authed: s.Password == "", since: s.clock()}
	p.Data = c
	if s.MaxClients > 0 && len(s.peers) >= s.MaxClients {
		c.out = appendReply(c.out, Error("ERR max number of clients reached"))
		c.flush()
		c.dropped = true
		p.Close()
		return
	}
	s.peers = append(s.peers, c)
}

// Closed is the end of a connection.
func (s *Server) Closed(p *simnet.Peer) { p.Data.(*client).drop() }

// Input takes what a client sent.
func (s *Server) Input(p *simnet.Peer, b []byte) {
	c := p.Data.(*client)
	if c.dropped || s.down {
		return
	}
	if len(c.buf) == 0 {
		c.buf = b
	} else {
		c.buf = append(c.buf, b...)
	}
	if s.Paused {
		c.Hold(true)
		return
	}
	c.serve()
}
