package simredis

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/rlock-go/redisson/codec"
)

// node is what one server knows of its cluster. It keeps this over a restart.
type node struct {
	s     *Server
	c     *Cluster
	id    string
	self  *nodeView
	known []*nodeView // sorted by id, with self
	epoch int64       // the highest that it has heard of
	voted int64       // the epoch of its last vote

	migrating, importing map[uint16]string // each slot, and the other server's id
	unclaimed            slotSet           // their owner has stopped to claim them, and no other has begun

	serves   bool      // else it answers CLUSTERDOWN
	begun    time.Time // when the process began
	minority time.Time // when it last heard no majority
	ticks    int
	inbox    []*packet            // what came while the process was paused
	meets    map[string]time.Time // addresses that it is about to meet
	forgot   map[string]time.Time // ids that it must not take from rumours until then

	election election
	takeover takeover
}

// nodeView is what a node knows of one server of its cluster.
type nodeView struct {
	id, addr string // addr is empty if another server is at its address
	master   string // the id of its master; empty: it is a master
	config   int64  // the epoch of its claims
	slots    slotSet
	offset   int64 // -1: it was not heard from

	pinged, ponged, heard time.Time // pinged is zero unless an answer is awaited
	arrives               time.Time // when what was sent last arrives
	pfail, fail           bool
	failed                time.Time
	reports               []report
	votedFor              time.Time // when the node last voted for a replica of it
}

// report says that a master finds a member silent.
type report struct {
	by string
	at time.Time
}

// slotSet is a set of slots.
type slotSet [slotCount / 64]uint64

func (x *slotSet) has(slot uint16) bool { return x[slot/64]>>(slot%64)&1 != 0 }

func (x *slotSet) set(slot uint16, on bool) {
	if x[slot/64] &^= 1 << (slot % 64); on {
		x[slot/64] |= 1 << (slot % 64)
	}
}

func (x *slotSet) count() (n int) {
	for _, w := range x {
		n += bits.OnesCount64(w)
	}
	return n
}

// none tells whether it is empty. It is asked in each tick of each node, and ends at the first slot.
func (x *slotSet) none() bool {
	for _, w := range x {
		if w != 0 {
			return false
		}
	}
	return true
}

// each calls f for each slot, in order, until it returns false.
func (x *slotSet) each(f func(slot uint16) bool) {
	for i, w := range x {
		for ; w != 0; w &= w - 1 {
			if !f(uint16(64*i + bits.TrailingZeros64(w))) {
				return
			}
		}
	}
}

func newNode(c *Cluster, s *Server) *node {
	n := &node{s: s, c: c, migrating: map[uint16]string{}, importing: map[uint16]string{}, meets: map[string]time.Time{}, forgot: map[string]time.Time{}}
	n.id = n.newID()
	n.self = n.add(n.id, s.Addr)
	n.begins()
	return n
}

func (n *node) newID() string {
	return fmt.Sprintf("%016x%024x", n.c.w.Rand.Uint64(), n.c.w.Rand.Uint64())
}

// begins starts the process's rounds.
func (n *node) begins() {
	n.begun, n.inbox = time.Now(), nil
	run := n.s.runID
	var tick func()
	tick = func() {
		if n.s.runID == run && !n.s.down {
			if !n.s.Paused {
				n.tick()
			}
			n.c.w.After(100*time.Millisecond, tick)
		}
	}
	n.c.w.After(time.Duration(n.c.w.Rand.Int64N(int64(100*time.Millisecond))), tick)
}

// restart is called when the process has been started again.
func (n *node) restart() {
	n.serves, n.election, n.takeover, n.minority = false, election{}, takeover{}, time.Time{}
	for _, m := range n.known {
		m.offset, m.pinged, m.ponged, m.heard, m.pfail, m.reports = -1, time.Time{}, time.Now(), time.Now(), false, nil
	}
	n.begins()
}

// resume is called when a pause of the process ends.
func (n *node) resume() {
	all := n.inbox
	n.inbox = nil
	for _, m := range all {
		n.receive(m)
	}
}

func (n *node) add(id, addr string) *nodeView {
	m := &nodeView{id: id, addr: addr, offset: -1, ponged: time.Now(), heard: time.Now()}
	i, _ := slices.BinarySearchFunc(n.known, id, func(m *nodeView, id string) int { return strings.Compare(m.id, id) })
	n.known = slices.Insert(n.known, i, m)
	return m
}

// find returns a member; nil: the id is unknown.
func (n *node) find(id string) *nodeView {
	i, ok := slices.BinarySearchFunc(n.known, id, func(m *nodeView, id string) int { return strings.Compare(m.id, id) })
	if !ok {
		return nil
	}
	return n.known[i]
}

// server returns the server at a member's address; nil: there is none.
func (n *node) server(id string) *Server {
	if m := n.find(id); m != nil {
		s, _ := n.c.w.At(m.addr).(*Server)
		return s
	}
	return nil
}

// owner returns the master of a slot as this node knows it.
func (n *node) owner(slot uint16) *nodeView {
	for _, m := range n.known {
		if m.slots.has(slot) {
			return m
		}
	}
	return nil
}

// give makes m the owner of a slot. Whoever subscribed here to one of its channels is told.
func (n *node) give(slot uint16, m *nodeView) {
	if was := n.owner(slot); was != nil {
		was.slots.set(slot, false)
		if was == n.self || was.id == n.self.master {
			n.unsubscribe(slot)
		}
	}
	n.unclaimed.set(slot, false)
	if m != nil {
		m.slots.set(slot, true)
	}
}

// unsubscribe ends the subscriptions to a slot's sharded channels.
func (n *node) unsubscribe(slot uint16) {
	for _, c := range slices.Clone(n.s.peers) {
		for _, ch := range slices.Sorted(slices.Values(c.shards)) {
			if codec.Slot(ch) == slot {
				c.shards = slices.DeleteFunc(c.shards, func(o string) bool { return o == ch })
				c.push([]any{"sunsubscribe", ch, int64(len(c.shards))})
			}
		}
	}
}

// keys returns the keys of a slot, at most so many.
func (n *node) keys(slot uint16, most int) []string {
	all := []string{}
	for k := range n.s.db {
		if codec.Slot(k) == slot {
			all = append(all, k)
		}
	}
	slices.Sort(all)
	return all[:min(most, len(all))]
}

// state decides whether the node serves.
func (n *node) state() {
	now := time.Now()
	if n.self.master == "" && !n.serves && now.Sub(n.begun) < 2*time.Second {
		return
	}
	covered, size, reached := slotSet{}, 0, 0
	for _, m := range n.known {
		if m.master != "" || m.slots.none() {
			continue
		}
		size++
		if !m.fail {
			for i := range covered {
				covered[i] |= m.slots[i]
			}
			if !m.pfail {
				reached++
			}
		}
	}
	ok := covered.count() == slotCount
	if reached < size/2+1 {
		ok, n.minority = false, now
	}
	if ok == n.serves {
		return
	}
	if ok && n.self.master == "" && now.Sub(n.minority) < min(max(n.c.NodeTimeout, 500*time.Millisecond), 5*time.Second) {
		return
	}
	n.serves = ok
	n.c.w.Note("%s serves: %v", n.s.Addr, ok)
}

// size is the number of masters with slots.
func (n *node) size() (size int) {
	for _, m := range n.known {
		if m.master == "" && !m.slots.none() {
			size++
		}
	}
	return size
}

// follow makes the server a replica.
func (n *node) follow(m *nodeView) {
	n.self.master, n.self.slots = m.id, slotSet{}
	clear(n.migrating)
	clear(n.importing)
	n.c.w.Note("%s follows %s", n.s.Addr, m.addr)
	if s := n.server(m.id); s != nil {
		n.s.SlaveOf(s)
	}
	n.takeoverEnds()
}

// bump gives the node's claims an epoch above all that it knows.
func (n *node) bump() bool {
	highest := n.epoch
	for _, m := range n.known {
		highest = max(highest, m.config)
	}
	if n.self.config != 0 && n.self.config == highest {
		return false
	}
	n.epoch++
	n.self.config = n.epoch
	return true
}

// forget removes a member, and keeps rumours from bringing it back for a minute.
func (n *node) forget(id string) {
	if m := n.find(id); m != nil && m != n.self {
		m.slots.each(func(slot uint16) bool { n.give(slot, nil); return true })
		maps.DeleteFunc(n.migrating, func(_ uint16, to string) bool { return to == id })
		maps.DeleteFunc(n.importing, func(_ uint16, from string) bool { return from == id })
	}
	n.known = slices.DeleteFunc(n.known, func(m *nodeView) bool { return m.id == id && m != n.self })
	n.forgot[id] = time.Now().Add(time.Minute)
	n.state()
}

// leave makes the node a master without slots that knows no other. hard gives it a new id
// too.
func (n *node) leave(hard bool) {
	if n.self.master != "" {
		n.self.master = ""
		n.s.SlaveOf(nil)
		n.s.FlushAll()
	}
	n.takeoverEnds()
	clear(n.migrating)
	clear(n.importing)
	n.self.slots.each(func(slot uint16) bool { n.give(slot, nil); return true })
	n.known, n.serves = []*nodeView{n.self}, false
	if hard {
		n.id, n.epoch, n.self.config = n.newID(), 0, 0
		n.self.id = n.id
	}
}
