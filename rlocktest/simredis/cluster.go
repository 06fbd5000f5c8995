package simredis

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/rlocktest/simnet"
)

const slotCount = 16384

// Cluster is a set of servers that share the slots. Each of them knows of the others only
// what their messages said, so they may disagree. Its methods are called with the world's
// lock held.
type Cluster struct {
	w           *simnet.World
	Servers     []*Server // in the order in which they came
	NodeTimeout time.Duration
	Empties     bool // a master that loses its last slot to another follows that one, as Redis has it by default
	Failovers   int
	moving      map[uint16]bool

	// Promoted is called when a replica takes its master's slots over, and Moved when a
	// server becomes the owner of a slot by SETSLOT. nil: nobody is told.
	Promoted func(former, next *Server)
	Moved    func(slot uint16, from, to *Server)
}

// NewCluster makes masters that share the slots evenly, and replicas of each. All know all,
// and serve at once.
func NewCluster(w *simnet.World, masters, replicasEach int) *Cluster {
	c := &Cluster{w: w, NodeTimeout: 5 * time.Second, moving: map[uint16]bool{}}
	for range masters * (1 + replicasEach) {
		c.start()
	}
	for i, s := range c.Servers {
		n := s.cluster
		for _, o := range c.Servers {
			if o != s {
				n.add(o.cluster.id, o.Addr)
			}
		}
		n.epoch = int64(masters)
		for j, o := range c.Servers {
			m := n.find(o.cluster.id)
			m.offset = 0
			if j >= masters {
				m.master = c.Servers[j%masters].cluster.id
				continue
			}
			m.config = int64(j + 1)
			for slot := slotCount * j / masters; slot < slotCount*(j+1)/masters; slot++ {
				m.slots.set(uint16(slot), true)
			}
		}
		if i >= masters {
			s.SlaveOf(c.Servers[i%masters])
		}
		n.serves = true
	}
	return c
}

// start starts a server that knows no other, at the first free address.
func (c *Cluster) start() *Server {
	addr := ""
	for i := 1; addr == "" || c.w.At(addr) != nil; i++ {
		addr = fmt.Sprintf("10.0.0.%d:6379", i)
	}
	s := New(c.w, addr)
	s.cluster = newNode(c, s)
	c.Servers = append(c.Servers, s)
	return s
}

// URL leads to the cluster by its first servers.
func (c *Cluster) URL() string {
	var all []string
	for _, s := range c.Servers[:min(3, len(c.Servers))] {
		all = append(all, s.Addr)
	}
	return "redis+cluster://" + strings.Join(all, ",")
}

// Owner returns the server whose claim to a slot will prevail: of those that call
// themselves its master, the one with the highest epoch. It may be down. nil: there is none.
func (c *Cluster) Owner(slot uint16) (owner *Server) {
	for _, s := range c.Servers {
		if n := s.cluster; n.self.master == "" && n.self.slots.has(slot) && (owner == nil || n.self.config > owner.cluster.self.config) {
			owner = s
		}
	}
	return owner
}

// Master returns the server whose data count for a key: the owner of its slot or, while
// the slot moves and the owner lacks the key, the server that takes the slot over.
func (c *Cluster) Master(key string) *Server {
	slot := codec.Slot(key)
	s := c.Owner(slot)
	if s == nil {
		return nil
	}
	if to := s.cluster.server(s.cluster.migrating[slot]); to != nil && s.db[key] == nil {
		return to
	}
	return s
}

// Masters returns the servers that own slots.
func (c *Cluster) Masters() (all []*Server) {
	for _, s := range c.Servers {
		if s.cluster.self.master == "" && !s.cluster.self.slots.none() {
			all = append(all, s)
		}
	}
	return all
}

// Settled tells whether all servers run and serve, agree on all slots, and all replicas
// have all that their masters have.
func (c *Cluster) Settled() bool { return c.Trouble() == "" }

// Trouble says why the cluster is not settled; empty: it is.
func (c *Cluster) Trouble() string {
	for _, s := range c.Servers {
		n := s.cluster
		switch {
		case s.down || s.Paused:
			return s.Addr + " does not run"
		case s.master != nil && (s.link == nil || !s.link.online || s.offset != s.master.offset):
			return s.Addr + " lacks what its master has"
		case !n.serves && n.self.master == "" && n.self.slots.none():
			continue
		case !n.serves:
			return s.Addr + " does not serve"
		case len(n.migrating)+len(n.importing) > 0:
			return s.Addr + " moves slots"
		}
		for _, m := range n.known {
			o := c.by(m.id)
			switch {
			case o == nil:
				return s.Addr + " knows a stranger"
			case m.slots != o.cluster.self.slots || m.master != o.cluster.self.master || m.master == "" && m.config != o.cluster.self.config:
				return s.Addr + " has another view of " + o.Addr
			case m.pfail || m.fail:
				return s.Addr + " calls " + o.Addr + " dead"
			}
		}
	}
	return ""
}

func (c *Cluster) by(id string) *Server {
	for _, s := range c.Servers {
		if s.cluster.id == id {
			return s
		}
	}
	return nil
}

// Part cuts the ways between two groups of servers, or opens them again. Clients still
// reach both.
func (c *Cluster) Part(some, others []*Server, cut bool) {
	for _, a := range some {
		for _, b := range others {
			c.w.Block(hostOf(a.Addr), b.Addr, cut)
			c.w.Block(hostOf(b.Addr), a.Addr, cut)
		}
	}
}

// Join starts one more server, as a master without slots, and makes a server of the
// cluster meet it. The others hear of it by and by.
func (c *Cluster) Join() *Server {
	by := c.Servers[0]
	s := c.start()
	by.cluster.meet(s.Addr)
	return s
}

// Delete makes the other servers forget s, one after the other, and then makes s a master
// without slots that is alone, as redis-cli's del-node does. s must have no slots.
func (c *Cluster) Delete(s *Server) {
	id := s.cluster.id
	others := slices.DeleteFunc(slices.Clone(c.Servers), func(o *Server) bool { return o == s })
	for _, o := range others {
		c.w.After(c.soon(), func() { o.cluster.forget(id) })
	}
	c.w.After(time.Second, func() {
		s.cluster.leave(false)
		c.Servers = slices.DeleteFunc(c.Servers, func(o *Server) bool { return o == s })
	})
}

// soon is how long an operator's next command takes to come.
func (c *Cluster) soon() time.Duration {
	return time.Duration(c.w.Rand.Int64N(int64(400 * time.Millisecond)))
}

// Readdress moves a server that is down to another address, which may have been another
// server's. It is started there by [Server.Start].
func (s *Server) Readdress(addr string) {
	if s.w.At(s.Addr) == simnet.Handler(s) {
		s.w.Listen(s.Addr, nil)
	}
	s.Addr = addr
	s.w.Listen(addr, s)
	if s.cluster != nil {
		s.cluster.self.addr = addr
	}
}

// Follows tells whether the server is a replica of m.
func (s *Server) Follows(m *Server) bool { return m != nil && s.master == m }
