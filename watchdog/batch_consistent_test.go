package watchdog

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// After events in any order, each live lease is in one batch, which contains it, and the heap, the groups and the
// schedule count the same batches. The test does the goroutine's work in its place.
func TestBatchesStayConsistent(t *testing.T) {
	for name, group := range map[string]func(Holder) int{
		"one group":   nil,
		"many groups": func(h Holder) int { return h.(numbered).number },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(11, 12))
			c := &dial{}
			var open []func()
			w := New(func(batch []*Lease, answer func(int, Answer)) {
				sent := c.Now()
				for i := range batch {
					open = append(open, func() { answer(i, Answer{Result: Result(rnd.IntN(4)), Sent: sent, TTL: testTTL}) })
				}
			}, Options{TTL: testTTL, Clock: c, Group: group})
			w.running = true
			var leases []*Lease
			soon := func() time.Duration { return c.Now() + time.Duration(rnd.Int64N(int64(testTTL))) }
			for i := range 50_000 {
				switch now := c.Now(); rnd.IntN(10) {
				case 0, 1, 2:
					l := w.Register(numbered{rnd.IntN(30)})
					from, until := now, Never
					if rnd.IntN(5) == 0 {
						from = Never
					}
					if rnd.IntN(5) == 0 {
						until = soon()
					}
					l.Live(Trust(now, testTTL), from, until)
					leases = append(leases, l)
				case 3:
					if len(leases) > 0 {
						i := rnd.IntN(len(leases))
						leases[i].Forget()
						leases = slices.Delete(leases, i, i+1)
					}
				case 4:
					if len(leases) > 0 {
						l := leases[rnd.IntN(len(leases))]
						[]func(){
							func() { l.Lower(soon()) }, func() { l.RenewUntil(soon()) }, func() { l.SetAlarm(soon()) },
							func() { l.Live(Trust(now, testTTL), now, Never) },
						}[rnd.IntN(4)]()
					}
				case 5, 6:
					for range min(len(open), rnd.IntN(30)) {
						i := rnd.IntN(len(open))
						answer := open[i]
						open = slices.Delete(open, i, i+1)
						answer()
					}
				case 7:
					if rnd.IntN(100) == 0 {
						w.RenewThose(func(h Holder) bool { return h.(numbered).number%2 == 0 })
					}
				default:
					c.at.Add(rnd.Int64N(int64(100 * time.Millisecond)))
					for w.work() {
					}
				}
				if i < 5_000 || i%20 == 0 { // with many leases a check takes long
					wantConsistent(t, w)
				}
			}
			for _, l := range leases {
				l.Forget()
			}
			wantConsistent(t, w)
			wantLive(t, w, 0)
		})
	}
}

// numbered is a holder of a group that ignores all calls.
type numbered struct{ number int }

func (numbered) LeaseLost(*Lease, error) {}
func (numbered) LeaseAlarm(*Lease)       {}

func wantConsistent(t *testing.T, w *Watchdog) {
	t.Helper()
	live, scheduled := 0, 0
	members := map[*group]int{}
	for pos, b := range w.batches {
		if b.pos != pos || pos > 0 && w.batches[(pos-1)/2].at > b.at || len(b.leases) > MaxBatch {
			t.Fatalf("batch %d of %d leases is out of order", pos, len(b.leases))
		}
		if b.group.paced && !b.sent {
			scheduled++
		}
		members[b.group] += len(b.leases)
		for _, l := range b.leases {
			live++
			if l.batch != b || !l.alive() || l.state == inFlight && !b.sent || b.at > l.end() {
				t.Fatalf("a lease of state %d that ends at %v is in a batch that is looked at at %v", l.state, l.end(), b.at)
			}
			if w.groupNumber != nil && b.group.paced && b.group != w.groups[l.holder.(numbered).number] {
				t.Fatal("a lease is in a batch of another group")
			}
		}
		if !b.sent && b.at > max(b.renewAt, b.goes) {
			t.Fatalf("a batch that is due at %v is looked at at %v", b.renewAt, b.at)
		}
	}
	for g, n := range members {
		if g.n != n || g.open != nil && (g.open.sent || g.open.group != g || !slices.Contains(w.batches, g.open)) {
			t.Fatalf("group %d has %d leases, and counts %d", g.number, n, g.n)
		}
	}
	if live != w.live || scheduled != w.schedule.total {
		t.Fatalf("%d live, %d scheduled; counted are %d and %d", live, scheduled, w.live, w.schedule.total)
	}
	if len(w.groups) > len(members) {
		t.Fatalf("%d groups, of which %d have leases", len(w.groups), len(members))
	}
}
