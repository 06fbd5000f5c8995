package lockstate

import (
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/topology"
	"github.com/rlock-go/redisson/watchdog"
)

// batchPart is what of a batch goes into one script: the leases that one node
// serves, and of one slot where a script can't have several.
type batchPart struct {
	limit  *topology.Limiter // the node's
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

// renew extends a batch for the watchdog, each part when its node's limiter lets
// it run. One node's trouble delays no other's renewals.
func (c *State) renew(batch []*watchdog.Lease, answer func(int, watchdog.Answer)) {
	for _, p := range c.cut(batch, answer) {
		p.limit.Run(func() bool { return c.renewNow(p, answer) })
	}
}

// cut divides a batch. It answers for the leases that no node serves for now.
func (c *State) cut(batch []*watchdog.Lease, answer func(int, watchdog.Answer)) (parts []*batchPart) {
	first, err := c.placeOf(batch[0])
	same := 0
	for _, l := range batch {
		if at, err := c.placeOf(l); err != nil || at != first {
			break
		}
		same++
	}
	if err == nil && same == len(batch) {
		return []*batchPart{{limit: &first.node.Renewals, leases: batch}}
	}
	by := map[place]*batchPart{}
	for i, l := range batch {
		at, err := c.placeOf(l)
		if err != nil {
			answer(i, watchdog.Answer{Result: watchdog.Failed, Err: command.Unsent(err)})
			continue
		}
		p := by[at]
		if p == nil {
			p = &batchPart{limit: &at.node.Renewals}
			by[at] = p
			parts = append(parts, p)
		}
		p.leases, p.at = append(p.leases, l), append(p.at, i)
	}
	return parts
}

// placeOf is where a lease is renewed.
func (c *State) placeOf(l *watchdog.Lease) (at place, err error) {
	slot := l.Holder().(*OwnerState).n.l.slot
	at.node, err = c.top.Node(slot)
	if !c.top.SpansSlots() {
		at.slot = slot
	}
	return at, err
}
