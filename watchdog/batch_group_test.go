package watchdog

import (
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
)

// grouped is a world whose leases belong to groups.
type grouped struct {
	*rhythm
	perCmd []time.Duration
}

// member is a holder that knows its group.
type member struct {
	*holder
	number int
}

// newGrouped counts a command for each group of each batch.
func newGrouped(t *testing.T, reply func(call)) *grouped {
	g := &grouped{rhythm: &rhythm{t: t, last: make(map[*Lease]time.Duration)}}
	c := clock.Monotonic()
	h := &holder{clock: c}
	g.w = &world{New(g.renew, Options{TTL: testTTL, Clock: c, Group: func(h Holder) int { return h.(member).number }}), c, &server{clock: c}, h}
	g.reply = func(c call) {
		groups := map[int]bool{}
		for _, l := range c.batch {
			groups[l.Holder().(member).number] = true
		}
		for range groups {
			g.perCmd = append(g.perCmd, c.at)
		}
		reply(c)
	}
	t.Cleanup(g.w.Close)
	return g
}

func (g *grouped) hold(number int) *Lease {
	l := g.w.Register(member{g.w.holder, number})
	now := g.w.clock.Now()
	l.Live(Trust(now, testTTL), now, Never)
	return l
}

// commands counts the commands of the third that begins at from.
func (g *grouped) commands(from time.Duration) (n int) {
	for _, at := range g.perCmd {
		if at >= from && at < from+third {
			n++
		}
	}
	return n
}

// Leases of a group that began at different times share a batch from the first renewal on. That
// is made when the first of them is due.
func TestLeasesOfAGroupAreRenewedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newGrouped(t, always(renewed))
		for range 10 {
			w.hold(7)
			time.Sleep(900 * time.Millisecond)
		}
		time.Sleep(31*time.Second - w.w.clock.Now())
		synctest.Wait()
		wantTimes(t, "batches", w.times, third, 2*third, 3*third)
		if w.leases != 30 {
			t.Errorf("%d renewals, want 30", w.leases)
		}
		w.wantTrust(0)
	})
}

// A lease that ends leaves its group, and the others stay in it.
func TestLeaseThatEndsLeavesItsGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newGrouped(t, always(renewed))
		var all []*Lease
		for range 5 {
			all = append(all, w.hold(7))
			time.Sleep(time.Second)
		}
		all[0].Forget() // the others had joined the batch at its time
		all[3].Forget()
		time.Sleep(third)
		synctest.Wait()
		if w.leases != 3 || len(w.times) != 1 || w.last[all[3]] != 0 {
			t.Fatalf("%d renewals in %d batches, want three in one", w.leases, len(w.times))
		}
		for _, l := range all {
			l.Forget()
		}
		w.w.mu.Lock()
		defer w.w.mu.Unlock()
		if w := w.w.Watchdog; len(w.batches) != 0 || len(w.groups) != 0 || w.schedule.total != 0 {
			t.Errorf("%d batches, %d groups, %d scheduled are left", len(w.batches), len(w.groups), w.schedule.total)
		}
	})
}

// A lease without renewal does not join its group's batch.
func TestLeaseWithoutRenewalStaysOutOfItsGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newGrouped(t, always(renewed))
		w.hold(7)
		time.Sleep(100 * time.Millisecond)
		fixed := w.w.Register(member{w.w.holder, 7})
		fixed.Live(Trust(w.w.clock.Now(), testTTL), Never, Never)
		time.Sleep(third)
		synctest.Wait()
		if w.leases != 1 || w.last[fixed] != 0 {
			t.Errorf("%d renewals, want one", w.leases)
		}
	})
}

// A lease whose renewal failed once is renewed apart. From the next renewal on it is with its
// group again, however far its own time is from theirs.
func TestLeaseThatRecoveredComesBackToItsGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newGrouped(t, nil)
		var odd atomic.Pointer[Lease]
		until := third + 6*time.Second
		w.reply = func(c call) {
			for i, l := range c.batch {
				if l == odd.Load() && c.at < until {
					c.answer(i, failed)
				} else {
					c.answer(i, Answer{Result: Renewed, Sent: c.at, TTL: testTTL})
				}
			}
		}
		for range 3 {
			odd.Store(w.hold(7))
		}
		time.Sleep(4*third - time.Second)
		synctest.Wait()
		tries, _ := slices.BinarySearch(w.times, 2*third)
		wantTimes(t, "batches after its recovery", w.times[tries:], 2*third, 3*third)
		if w.leases != tries+2+6 {
			t.Errorf("%d renewals in %d batches", w.leases, len(w.times))
		}
	})
}

// A lease that begins while its group is being renewed has its own time until the others are due
// next.
func TestLeaseThatCameDuringARenewalIsDrawnIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newGrouped(t, nil)
		w.reply = func(c call) {
			time.AfterFunc(7*time.Second, func() { always(renewed)(c) })
		}
		for range 3 {
			w.hold(7)
		}
		time.Sleep(third + 5500*time.Millisecond)
		w.hold(7)
		time.Sleep(4*third - w.w.clock.Now() - time.Second)
		synctest.Wait()
		wantTimes(t, "batches", w.times, third, 2*third, 3*third)
		if w.leases != 3+4+4 {
			t.Errorf("%d renewals", w.leases)
		}
	})
}

// A group has one lease more than a batch holds.
func TestGroupOfMoreThanABatch(t *testing.T) {
	for name, over := range map[string]time.Duration{"at once": 0, "within a third": third} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newGrouped(t, always(renewed))
				for range MaxBatch + 1 {
					w.hold(7)
					time.Sleep(over / (MaxBatch + 1))
				}
				time.Sleep(6 * third)
				synctest.Wait()
				w.wantAtMost("a third", 2, third-MaxBatch, 0)
				w.wantTrust(MaxBatch * time.Nanosecond)
			})
		})
	}
}

// A third takes about as many commands as there are groups, and none is late.
func TestCommandsOfAThirdAreAsManyAsGroups(t *testing.T) {
	for _, c := range []struct {
		name           string
		groups, leases int
		over           time.Duration
		reply          func(call)
	}{
		{"few groups, at once", 100, 3_000, 0, always(renewed)},
		{"few groups, within a third", 100, 3_000, third, delayed},
		{"many groups, at once", 5_000, 50_000, 0, always(renewed)},
		{"many groups, within two seconds", 16_384, 50_000, 2 * time.Second, always(renewed)},
		{"many groups, within two thirds", 16_384, 50_000, 2 * third, always(renewed)},
		{"groups of more than half a batch", 1_600, 1_600 * (MaxBatch/2 + 1), time.Second, always(renewed)},
		{"large groups", 20, 20_000, 5 * time.Second, always(renewed)},
		{"groups of one and a half batches, at once", 1_200, 1_200 * MaxBatch * 3 / 2, 0, always(renewed)},
		{"groups of one and a half batches, within a third", 1_200, 1_200 * MaxBatch * 3 / 2, third, delayed},
		{"groups of six batches, within a third", 300, 45_000, third, delayed},
		{"one lease each", 10_000, 10_000, time.Second, delayed},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newGrouped(t, c.reply)
				for i := range c.leases {
					w.hold(i * 7919 % c.groups)
					time.Sleep(c.over*time.Duration(i+1)/time.Duration(c.leases) - c.over*time.Duration(i)/time.Duration(c.leases))
				}
				came := w.w.clock.Now()
				time.Sleep(4 * third)
				synctest.Wait()
				most, batches := 0, 0
				for i := range 3 {
					most = max(most, w.commands(came+third*time.Duration(i)))
				}
				batches, _ = w.most(slot, 0)
				t.Logf("%d commands a third, %d batches in a moment, %v late at worst", most, batches, w.slack)
				if most > c.groups+c.leases/MaxBatch || most < min(c.groups, c.leases/MaxBatch) {
					t.Errorf("%d commands a third, for %d groups of %d leases", most, c.groups, c.leases)
				}
				w.wantAtMost("a moment", 4, slot, 0)
				w.wantTrust(keepsPlace * slot)
			})
		})
	}
}
