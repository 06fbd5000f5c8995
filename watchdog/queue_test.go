package watchdog

import (
	"math/rand/v2"
	"testing"
	"time"
)

// Against a plain map, in random order.
func TestQueueKeepsOrderAndPositions(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	q := queue{name: inEnds}
	want := make(map[*Lease]time.Duration)
	var leases []*Lease
	for range 300 {
		leases = append(leases, new(Lease))
	}
	for range 20_000 {
		l := leases[rnd.IntN(len(leases))]
		if rnd.IntN(3) == 0 {
			if l.in != inNone {
				q.remove(l)
			}
			delete(want, l)
		} else {
			at := time.Duration(rnd.IntN(100))
			q.set(l, at)
			want[l] = at
		}
		first := Never
		for _, at := range want {
			first = min(first, at)
		}
		if q.first() != first || len(q.items) != len(want) {
			t.Fatalf("first %v of %d, want %v of %d", q.first(), len(q.items), first, len(want))
		}
	}
	for i, it := range q.items {
		if it.at != want[it.lease] || it.lease.in != inEnds || int(it.lease.pos) != i+1 {
			t.Fatalf("item %d is %+v, want it at %v", i, it, want[it.lease])
		}
	}
	for len(q.items) > 0 {
		at := q.first()
		q.remove(q.items[0].lease)
		if q.first() < at {
			t.Fatalf("%v came after %v", q.first(), at)
		}
	}
	for _, l := range leases {
		if l.in != inNone || l.pos != 0 {
			t.Fatalf("position %v in queue %v, which is empty", l.pos, l.in)
		}
	}
}
