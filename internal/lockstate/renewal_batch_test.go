package lockstate

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/core"
	"github.com/rlock-go/redisson/internal/topology"
	"github.com/rlock-go/redisson/watchdog"
)

// halves is a topology of two nodes, of which nothing but the places is asked.
type halves struct {
	topology.Topology
	nodes [2]*topology.Node
}

var errNobody = errors.New("nobody serves it")

func (h *halves) Node(slot uint16) (*topology.Node, error) {
	if slot == 9 {
		return nil, errNobody
	}
	return h.nodes[slot/8192], nil
}

// Each lease is answered for by its number in the watchdog's batch.
func TestBatchOfRenewalsIsCutByNode(t *testing.T) {
	t.Parallel()
	top := &halves{}
	for i := range top.nodes {
		top.nodes[i] = topology.NewNode(topology.NodeOptions{Timeout: time.Second, Clock: clock.System()})
		defer top.nodes[i].Leave(0)
	}
	c := &State{Client: core.Client{Top: top}}
	w := watchdog.New(func([]*watchdog.Lease, func(int, watchdog.Answer)) {}, watchdog.Options{})
	defer w.Close()
	batch := func(slots ...uint16) (leases []*watchdog.Lease) {
		for _, slot := range slots {
			leases = append(leases, w.Register(&OwnerState{n: &name{l: &Lock{Lock: core.Lock{Slot: slot}}}}))
		}
		return leases
	}
	for _, row := range []struct {
		slots []uint16
		parts string // of each node the numbers
		fails string
	}{
		{[]uint16{1, 2, 1}, "[0 1 2]", ""},
		{[]uint16{1, 9000, 2, 9001}, "[0 2][1 3]", ""},
		{[]uint16{9, 1, 9, 2}, "[1 3]", "0 2 "},
		{[]uint16{1, 9}, "[0]", "1 "},
	} {
		leases := batch(row.slots...)
		failed := ""
		parts := ""
		for _, n := range c.cut(leases, false, func(i int, a watchdog.Answer) {
			if a.Result != watchdog.Failed || !errors.Is(a.Err, errNobody) {
				t.Errorf("%+v", a)
			}
			failed += fmt.Sprint(i, " ")
		}) {
			var at []int
			for _, sub := range n.leases {
				at = append(at, sub.i)
				if sub.lease != leases[sub.i] || sub.st != sub.lease.Holder() {
					t.Errorf("%v: a lease of a part is not number %d of the batch", row.slots, sub.i)
				}
				if slot := slotOf(sub.lease.Holder()); n.node != top.nodes[slot/8192] {
					t.Errorf("%v: slot %d is in another node's part", row.slots, slot)
				}
			}
			parts += fmt.Sprint(at)
		}
		if parts != row.parts || failed != row.fails {
			t.Errorf("%v: cut into %s, without %q", row.slots, parts, failed)
		}
	}
}
