package locks

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/topology"
	"github.com/rlock-go/redisson/watchdog"
)

// holding is the state of an owner that holds a lock for which nothing is sent.
func holding(l Lock) *OwnerState { return &OwnerState{name: &nameState{lock: &l}} }

// halves is a topology of two nodes that only says which node serves a slot.
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

// Each lease is answered by its number in the watchdog's batch.
func TestBatchIsCutByNode(t *testing.T) {
	t.Parallel()
	top := &halves{}
	for i := range top.nodes {
		top.nodes[i] = topology.NewNode(topology.Settings{Timeout: time.Second, Clock: clock.System()}, topology.NodeOptions{})
		defer top.nodes[i].Abandon(0)
	}
	r := &renewer{c: &Client{top: top}}
	w := watchdog.New(func([]*watchdog.Lease, func(int, watchdog.Answer)) {}, watchdog.Options{})
	defer w.Close()
	batch := func(slots ...uint16) (leases []*watchdog.Lease) {
		for _, slot := range slots {
			leases = append(leases, w.Register(holding(Lock{slot: slot})))
		}
		return leases
	}
	for _, row := range []struct {
		slots []uint16
		parts string // the numbers of each node
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
		for _, p := range r.cut(leases, false, func(i int, a watchdog.Answer) {
			if a.Result != watchdog.Failed {
				t.Errorf("%+v", a)
			}
			failed += fmt.Sprint(i, " ")
		}) {
			var at []int
			for _, sub := range p.leases {
				at = append(at, sub.i)
				if sub.lease != leases[sub.i] || watchdog.Holder(sub.st) != sub.lease.Holder() {
					t.Errorf("%v: a lease of a part is not number %d of the batch", row.slots, sub.i)
				}
				if slot := leaseSlot(sub.lease.Holder()); p.node != top.nodes[slot/8192] {
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

// The log names the failed lease that ends first. A lease that was lost meanwhile doesn't count.
func TestFailedRenewalNamesTheLeaseThatEndsFirst(t *testing.T) {
	c := &Client{Config: Config{Clock: clock.System()}}
	r := &renewal{renewalScript: renewalScript{renewalPart: &renewalPart{renewer: &renewer{c: c}}}}
	w := watchdog.New(func([]*watchdog.Lease, func(int, watchdog.Answer)) {}, watchdog.Options{Clock: c.Clock})
	defer w.Close()
	for name, left := range map[string]time.Duration{"late": 3 * time.Hour, "early": time.Hour, "later": 2 * time.Hour, "lost": time.Minute} {
		st := holding(c.NewLock(kind.Reentrant, name, name))
		l := w.Register(st)
		l.Live(c.Clock.Now()+left, watchdog.Never, watchdog.Never)
		if name == "lost" {
			l.Forget()
		}
		r.subs = append(r.subs, renewee{i: len(r.subs), st: st, lease: l})
	}
	var text bytes.Buffer
	c.Log = eventlog.New(slog.New(slog.NewTextHandler(&text, nil)), "a client")
	r.logFailure(errors.New("trouble"))
	if line := text.String(); !strings.Contains(line, `leases=4 lock=early owner=00000000-0000-0000-0000-000000000000:0 trust_left=59m59.`) {
		t.Error(line)
	}
	for _, c.Log = range []*eventlog.Log{nil, eventlog.New(slog.New(slog.DiscardHandler), "a client")} {
		if n := testing.AllocsPerRun(100, func() { r.logFailure(errNobody) }); n != 0 {
			t.Errorf("what nobody listens to costs %v allocations", n)
		}
	}
}
