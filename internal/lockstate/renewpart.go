package lockstate

import (
	"sync/atomic"

	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/topology"
	"github.com/rlock-go/redisson/watchdog"
)

// nodePart is what of a batch one node serves. It goes in one write, and the
// node's limiter counts it as one, whatever the number of its scripts.
type nodePart struct {
	limit *topology.Limiter // the node's
	parts []batchPart
	open  atomic.Int32 // scripts that are not over, and the sending
}

// over says that a script of it is, or the sending. It reports whether all are.
func (n *nodePart) over() bool { return n.open.Add(-1) == 0 }

// batchPart is what goes into one script: the leases that one node serves, and of
// one slot where a script can't have several.
type batchPart struct {
	slot   uint16 // 0 where that does not matter
	leases []*watchdog.Lease
	at     []int // their numbers in the batch; nil: they are the whole batch
}

// index is the number in the batch of the part's i-th lease.
func (p *batchPart) index(i int) int {
	if p.at == nil {
		return i
	}
	return p.at[i]
}

// place is what the leases of one part have in common.
type place struct {
	node *topology.Node
	slot uint16 // 0 where that does not matter
}

// cut divides a batch. It answers for the leases that no node serves for now.
func (c *State) cut(batch []*watchdog.Lease, answer func(int, watchdog.Answer)) (nodes []*nodePart) {
	first, err := c.placeOf(batch[0])
	same := 0
	for _, l := range batch {
		if at, err := c.placeOf(l); err != nil || at != first {
			break
		}
		same++
	}
	if err == nil && same == len(batch) {
		return []*nodePart{{limit: &first.node.Renewals, parts: []batchPart{{slot: first.slot, leases: batch}}}}
	}
	type where struct {
		node *nodePart
		part int
	}
	by := map[place]where{}
	byNode := map[*topology.Node]*nodePart{}
	for i, l := range batch {
		at, err := c.placeOf(l)
		if err != nil {
			answer(i, watchdog.Answer{Result: watchdog.Failed, Err: command.Unsent(err)})
			continue
		}
		to, known := by[at]
		if !known {
			to.node = byNode[at.node]
			if to.node == nil {
				to.node = &nodePart{limit: &at.node.Renewals}
				byNode[at.node] = to.node
				nodes = append(nodes, to.node)
			}
			to.part = len(to.node.parts)
			to.node.parts = append(to.node.parts, batchPart{slot: at.slot})
			by[at] = to
		}
		p := &to.node.parts[to.part]
		p.leases, p.at = append(p.leases, l), append(p.at, i)
	}
	return nodes
}

// placeOf is where a lease is renewed.
func (c *State) placeOf(l *watchdog.Lease) (at place, err error) {
	slot := slotOf(l.Holder())
	at.node, err = c.top.Node(slot)
	if !c.top.SpansSlots() {
		at.slot = slot
	}
	return at, err
}

// slotOf is the slot of what a lease is of.
func slotOf(h watchdog.Holder) uint16 { return h.(*OwnerState).n.l.slot }

// renewGroup tells the watchdog which leases one script can renew. Nil: all.
func renewGroup(top topology.Topology) func(watchdog.Holder) int {
	if top.SpansSlots() {
		return nil
	}
	return func(h watchdog.Holder) int { return int(slotOf(h)) }
}
