package topology

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/pipeline"
	"github.com/rlock-go/redisson/internal/redisconn"
)

// member finds or makes the node of an address. It is called with mu held.
func (t *Cluster) member(addr string) *member {
	m := t.by[addr]
	if m == nil {
		m = &member{node: t.newNode(addr)}
		t.by[addr] = m
		t.list()
		if t.life.Err() != nil {
			_ = m.node.Hub.Close() // Close may have missed this node; nothing runs in its hub, so this does not block
		}
	}
	return m
}

// list rebuilds the list of nodes. It is called with mu held.
func (t *Cluster) list() {
	nodes := make([]*Node, 0, len(t.by))
	for _, m := range t.by {
		nodes = append(nodes, m.node)
	}
	slices.SortFunc(nodes, func(a, b *Node) int { return strings.Compare(a.name, b.name) })
	t.nodes.Store(&nodes)
}

// newNode makes the node of an address, without I/O.
func (t *Cluster) newNode(addr string) *Node {
	target := t.target.At(addr)
	var n *Node
	n = NewNode(t.s, NodeOptions{
		Name: addr,
		Dial: func(ctx context.Context) (redis.Conn, error) {
			conn, err := target.Dial(ctx, t.s.Timeout)
			if err != nil {
				return nil, err
			}
			if err = t.greet(ctx, n, conn); err != nil {
				_ = conn.Close() // the error is the one that counts
				return nil, fmt.Errorf("connect to %s: %w", addr, err)
			}
			n.used.Store(true) // a dial of the hub counts too: there is a connection to close
			return conn, nil
		},
		SlotLost: t.lookSoon,
		Fixed:    true,
		Known:    func() []string { return t.replicas(addr) },
		Node: pipeline.Node{
			Stays: func(ctx context.Context, gone []string) error { return t.stays(ctx, addr, gone) },
			// Any server will do: a replica answers MOVED, with its master's address.
			Usable:  func(redisconn.Server) error { return nil },
			Ended:   func() { t.ended(n) },
			Trouble: func(error) { t.lookSoon() },
			Elsewhere: func(key any) {
				if n, err := t.Node(codec.Slot(key.(string))); err == nil {
					n.Pipe.Discard(key)
				}
			},
		},
	})
	n.sharded.Store(t.sharded.Load())
	return n
}

// probe is a channel without subscribers. It is named like a lock's channel, since an
// account may be confined to those.
var probe = codec.Channel("rlock-probe")

// sharded tells whether a server with this answer to SPUBLISH supports sharded channels, as
// Redis 7 and newer do, and lets this account publish to them: a release script would
// otherwise fail after it has freed the lock. said is false if the server did not say.
func sharded(err error) (knows, said bool) {
	if err == nil {
		return true, true
	}
	r, ok := redisconn.RefusalOf(err)
	return !r.NotAllowed(), ok && (r.NotAllowed() || r.Redirects())
}

// give makes n serve the slots of r, except those in but, and reports a Change for those
// that n did not have. It is called with mu held.
func (t *Cluster) give(r Range, n *Node, but map[uint16]time.Time) (changed bool) {
	for first, last := int(r.First), int(r.Last); first <= last; {
		was, next := t.table[first].Load(), first
		for next <= last && t.table[next].Load() == was {
			if _, stays := but[uint16(next)]; stays {
				break
			}
			t.table[next].Store(n)
			next++
		}
		switch {
		case next == first:
			next++ // it is in but
		case was != n:
			t.Tell(Change{
				Slots: Slots{{uint16(first), uint16(next - 1)}}, From: was, To: n, NewMaster: was != nil && was.name != n.name,
			})
			changed = true
		}
		first = next
	}
	return changed
}

// serving returns the nodes that have slots.
func (t *Cluster) serving() map[*Node]bool {
	nodes := map[*Node]bool{}
	var last *Node
	for i := range t.table {
		if n := t.table[i].Load(); n != last {
			nodes[n], last = true, n
		}
	}
	delete(nodes, nil) // for slots without a node
	return nodes
}

// slotsOf returns the slots that n serves.
func (t *Cluster) slotsOf(n *Node) (slots Slots) {
	for i := range t.table {
		if t.table[i].Load() != n {
			continue
		}
		slot := uint16(i)
		if last := len(slots) - 1; last >= 0 && slots[last].Last+1 == slot {
			slots[last].Last = slot
		} else {
			slots = append(slots, Range{slot, slot})
		}
	}
	return slots
}

// ended reports that holds and messages on n may be lost, and asks for a look at the
// map: its slots may have another master.
func (t *Cluster) ended(n *Node) {
	if slots := t.slotsOf(n); len(slots) > 0 {
		t.Tell(Change{Slots: slots, From: n, To: n})
	}
	t.lookSoon()
}

// leave removes a member. Commands queued for it go to the node that serves their slot
// by then. It is called with mu held.
func (t *Cluster) leave(m *member) {
	delete(t.by, m.node.name)
	t.list()
	patience := t.s.Timeout
	if m.node.Pipe.Err() != nil {
		patience = 0 // the server can't be reached: lost commands would get no kill barrier
	}
	t.running.Go(func() { m.node.Abandon(patience) })
}

// renew replaces a member's node by a new one, without connections. It is called
// with mu held.
func (t *Cluster) renew(m *member) {
	old := m.node
	delete(t.by, old.name)
	fresh := t.member(old.name).node
	for _, r := range t.slotsOf(old) {
		t.give(r, fresh, nil)
	}
	t.running.Go(func() { old.Abandon(t.s.Timeout) })
}
