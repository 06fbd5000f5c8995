package simredis

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rlock-go/redisson/rlocktest/simnet"
)

// Set is a master, its replicas and their Sentinels, as they were set up. What becomes of
// them is the Sentinels' own doing.
type Set struct {
	w         *simnet.World
	Servers   []*Server
	Sentinels []*Sentinel
	Promoted  func(former, next *Server) // is called when the Sentinels agree on another master; nil: nobody
	Failovers int
	master    *Server
}

// MasterName is the name of a set's master.
const MasterName = "mymaster"

// NewSet makes a master with replicas, and Sentinels.
func NewSet(w *simnet.World, replicas, sentinels int) *Set {
	t := &Set{w: w}
	for i := range 1 + replicas {
		s := New(w, fmt.Sprintf("10.0.0.%d:6379", i+1))
		t.Servers = append(t.Servers, s)
		if i > 0 {
			s.SlaveOf(t.Servers[0])
		}
	}
	t.master = t.Servers[0]
	for i := range sentinels {
		s := New(w, fmt.Sprintf("10.0.1.%d:26379", i+1))
		x := newSentinel(s, MasterName, t.Servers[0].Addr, sentinels/2+1, 5*time.Second, 10*time.Second)
		x.changed = t.follow
		t.Sentinels = append(t.Sentinels, x)
	}
	return t
}

// URL leads to the set.
func (t *Set) URL() string {
	var all []string
	for _, s := range t.Sentinels {
		all = append(all, s.Addr)
	}
	return "redis+sentinel://" + strings.Join(all, ",") + "/" + MasterName
}

// Master is the server that the newest configuration of a Sentinel names. A replica that was promoted is not the master before
// the Sentinel that leads the failover knows it: if it dies first, the former master goes on.
func (t *Set) Master() *Server { return t.master }

// Replaces tells whether a Sentinel is replacing the master.
func (t *Set) Replaces() bool {
	return slices.ContainsFunc(t.Sentinels, func(s *Sentinel) bool { return s.watched != nil && s.watched.state != noFailover })
}

// follow looks which server is the master now.
func (t *Set) follow() {
	addr, epoch := t.master.Addr, int64(-1)
	for _, s := range t.Sentinels {
		if m := s.watched; m != nil && !s.down && m.epoch > epoch {
			addr, epoch = m.masterAddr(), m.epoch
		}
	}
	former := t.master
	if t.master = at(t.w, addr); t.master == former {
		return
	}
	t.Failovers++
	if t.Promoted != nil {
		t.Promoted(former, t.master)
	}
}

// Failover is SENTINEL FAILOVER, sent to one of the Sentinels. Only one that knows the newest epoch obeys, while no other is at
// it: of two masters with the same epoch, no Sentinel ever gives up its own for the other, and that never ends by itself.
func (t *Set) Failover() any {
	s := t.Sentinels[t.w.Rand.IntN(len(t.Sentinels))]
	if s.down || s.Paused || slices.ContainsFunc(t.Sentinels, func(o *Sentinel) bool {
		return o.epoch > s.epoch || o.watched != nil && o.watched.state != noFailover
	}) {
		return nil
	}
	return s.command("FAILOVER", []string{"FAILOVER", MasterName})
}
