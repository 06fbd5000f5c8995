package watchdog

import (
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

const (
	third = testTTL / 3
	slot  = third / slotsPerThird
)

// rhythm counts the renewals that a server saw, without keeping the batches.
type rhythm struct {
	t      *testing.T
	w      *world
	reply  func(call)
	times  []time.Duration
	leases int // renewed, in all
	last   map[*Lease]time.Duration
	// slack is by how much trust fell short of two thirds of the TTL at a renewal, at worst.
	slack time.Duration
}

func newRhythm(t *testing.T, reply func(call)) *rhythm {
	r := &rhythm{t: t, reply: reply, last: make(map[*Lease]time.Duration)}
	r.w = newWorld(t, nil)
	r.w.Watchdog.renewBatch = r.renew
	return r
}

func (r *rhythm) renew(batch []*Lease, answer func(int, Answer)) {
	now := r.w.clock.Now()
	r.times = append(r.times, now)
	r.leases += len(batch)
	for _, l := range batch {
		r.slack = max(r.slack, Trust(now, testTTL)-third-l.Expiry())
		r.last[l] = now
	}
	r.reply(call{now, batch, answer})
}

// most returns the greatest number of batches in any stretch of a length, counted from an instant
// on.
func (r *rhythm) most(length, from time.Duration) (n int, at time.Duration) {
	first, _ := slices.BinarySearch(r.times, from)
	for i, j := first, first; i < len(r.times); i++ {
		for j < len(r.times) && r.times[j] < r.times[i]+length {
			j++
		}
		if j-i > n {
			n, at = j-i, r.times[i]
		}
	}
	return n, at
}

func (r *rhythm) wantAtMost(what string, most int, length, from time.Duration) {
	r.t.Helper()
	if n, at := r.most(length, from); n > most {
		r.t.Errorf("%s: %d batches within %v from %v on, want at most %d", what, n, length, at, most)
	}
}

// wantTrust checks that two thirds of the TTL, less late, were trusted at each renewal.
func (r *rhythm) wantTrust(late time.Duration) {
	r.t.Helper()
	if r.slack > late {
		r.t.Errorf("a renewal came %v late", r.slack)
	}
	if lost := r.w.holder.lost(); len(lost) > 0 {
		r.t.Errorf("%d were lost", len(lost))
	}
}

// acquire holds n more leases, spread over a time.
func (r *rhythm) acquire(n int, over time.Duration) (all []*Lease) {
	for i := range n {
		if pause := over*time.Duration(i+1)/time.Duration(n) - over*time.Duration(i)/time.Duration(n); pause > 0 {
			time.Sleep(pause)
		}
		all = append(all, r.w.hold())
	}
	return all
}

// A crowd is renewed at an even pace, in whatever order its leases began. Any third has at most
// one batch more than it takes to hold all leases. No moment has many, and none is late.
func TestCrowdIsRenewedAtAnEvenPace(t *testing.T) {
	for _, c := range []struct {
		name   string
		leases int
		over   time.Duration
		reply  func(call)
		most   int // batches within the length of a slot
	}{
		{"all at once", 110_000, 0, always(renewed), 3},
		{"within a second, answers delayed", 50_000, time.Second, delayed, 3},
		{"within two thirds", 30_000, 2 * third, always(renewed), 3},
		{"more than slots", 130_000, 2 * time.Second, always(renewed), 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRhythm(t, c.reply)
				r.acquire(c.leases, c.over)
				time.Sleep(3 * third)
				synctest.Wait()
				if r.leases < 3*c.leases-c.leases/100 {
					t.Errorf("%d renewals in three thirds", r.leases)
				}
				if r.times[0] < third/16 {
					t.Errorf("renewed %v after the acquire", r.times[0])
				}
				r.wantAtMost("a tick", c.leases/MaxBatch+1, third, 0)
				r.wantAtMost("a moment", c.most, slot, 0)
				r.wantTrust(50 * time.Millisecond)
			})
		})
	}
}

// The pace stays even while leases come and go.
func TestPaceSurvivesComingAndGoing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRhythm(t, always(renewed))
		const n = 20_000
		rnd := rand.New(rand.NewPCG(3, 4))
		leases := r.acquire(n, 100*time.Millisecond)
		for began := r.w.clock.Now(); r.w.clock.Now() < began+5*third; {
			time.Sleep(time.Millisecond)
			i := rnd.IntN(n)
			leases[i].Forget()
			leases[i] = r.w.hold()
		}
		// Then half of them end at once.
		half := r.w.clock.Now()
		for _, l := range leases[:n/2] {
			l.Forget()
		}
		time.Sleep(3 * third)
		synctest.Wait()
		r.wantAtMost("a tick", n/MaxBatch*11/10, third, 0)
		r.wantAtMost("a tick of half of them", n/2/MaxBatch+1, third, half+third)
		r.wantAtMost("a moment", 3, slot, 0)
		r.wantTrust(MaxBatch * time.Nanosecond)
	})
}

// A few leases are renewed when they are due, not before.
func TestFewAreRenewedOnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, always(renewed))
		for range MaxBatch {
			w.hold()
		}
		time.Sleep(25 * time.Second)
		synctest.Wait()
		wantTimes(t, "batches", w.server.times(), third, 2*third)
	})
}

// A small crowd is renewed no earlier than its size requires.
func TestSmallCrowdIsHardlyEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRhythm(t, always(renewed))
		r.acquire(10*MaxBatch, 0)
		time.Sleep(third)
		synctest.Wait()
		if n := len(r.times); n != 10 || r.times[0] < third-10*slot {
			t.Fatalf("renewed at %v, want ten batches just before %v", r.times, third)
		}
		r.wantAtMost("a moment", 2, slot, 0)
	})
}

// Many failures make leases due together. A third later they are spread again.
func TestH2RetriesAreNotPacedAndTheCrowdAfterThemIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 20_000
		var up atomic.Bool
		failing := make(map[*Lease]time.Duration)
		r := newRhythm(t, nil)
		r.reply = func(c call) {
			for i, l := range c.batch {
				if before, ok := failing[l]; ok && c.at > before+1250*time.Millisecond {
					t.Fatalf("retried after %v", c.at-before)
				}
				if up.Load() {
					delete(failing, l)
					c.answer(i, Answer{Result: Renewed, Sent: c.at, TTL: testTTL})
				} else {
					failing[l] = c.at
					c.answer(i, failed)
				}
			}
		}
		r.acquire(n, time.Second)
		time.Sleep(third)
		up.Store(true)
		healed := r.w.clock.Now()
		time.Sleep(4 * third)
		synctest.Wait()
		if len(failing) > 0 || len(r.w.holder.lost()) > 0 {
			t.Fatalf("%d fail still, %d were lost", len(failing), len(r.w.holder.lost()))
		}
		after := healed + 1500*time.Millisecond
		r.wantAtMost("a tick", n/MaxBatch+1, third, after)
		// The times of the retries are random, and so is each batch's time within its slot.
		r.wantAtMost("a moment", 2, slot, after)
	})
}

// Renewals that are late because the process stood still are paced, unless they are very late.
func TestH2OverdueRenewals(t *testing.T) {
	const n = 10_000
	// The clock advances by whole milliseconds, as a timer may, which must not slow the pace.
	const pace = n / MaxBatch * slot / 2
	for _, c := range []struct {
		stood time.Duration // beyond the time of the last renewal
		least time.Duration // that the work takes
		most  time.Duration
	}{
		{0, pace * 9 / 10, pace * 11 / 10},
		{third / 5, pace / 10, pace * 11 / 10},
		{third / 2, 0, 0},
		{testTTL - third - time.Second, 0, 0},
	} {
		t.Run(c.stood.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &manualClock{}
				s := &server{clock: m, reply: always(renewed)}
				h := &holder{clock: m}
				w := New(s.renew, Options{TTL: testTTL, Clock: m})
				w.maxSleep = time.Millisecond
				defer w.Close()
				for range n {
					w.Register(h).Live(Trust(0, testTTL), 0, Never)
				}
				synctest.Wait()
				m.advance(third + c.stood)
				began := m.Now()
				for len(s.seen()) < n/MaxBatch {
					time.Sleep(time.Millisecond)
					synctest.Wait()
					if len(s.seen()) < n/MaxBatch {
						m.advance(time.Millisecond)
					}
				}
				if took := m.Now() - began; took < c.least || took > c.most || len(h.lost()) > 0 {
					t.Fatalf("it took %v, want %v to %v; %d were lost", took, c.least, c.most, len(h.lost()))
				}
			})
		})
	}
}

// Leases that are due together after a standstill are spread again a third later.
func TestCrowdOfAStandstillIsSpreadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &manualClock{}
		r := &rhythm{t: t, reply: always(renewed), last: make(map[*Lease]time.Duration)}
		s := &server{clock: m}
		h := &holder{clock: m}
		r.w = &world{New(r.renew, Options{TTL: testTTL, Clock: m}), nil, s, h}
		r.w.clock, r.w.maxSleep = m, time.Millisecond
		defer r.w.Close()
		const n = 5_000
		for range n {
			r.w.Register(h).Live(Trust(0, testTTL), 0, Never)
		}
		synctest.Wait()
		m.advance(2 * third)
		stood := m.Now()
		for m.Now() < stood+5*third/2 {
			time.Sleep(time.Millisecond)
			synctest.Wait()
			m.advance(2 * time.Millisecond)
		}
		if r.leases < 3*n || len(h.lost()) > 0 {
			t.Fatalf("%d renewals, %d lost", r.leases, len(h.lost()))
		}
		r.wantAtMost("a while", 12, 10*slot, stood+time.Second)
		r.wantAtMost("a tick", n/MaxBatch+1, third, stood+time.Second)
	})
}
