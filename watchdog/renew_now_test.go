package watchdog

import (
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A thousand leases, acquired over five seconds, are renewed at once, in their order and at the watchdog's pace, and
// every third from then on.
func TestRenewNowRenewsAllInTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, always(renewed))
		var leases []*Lease
		const many = 1000
		for range many {
			leases = append(leases, w.hold())
			time.Sleep(5 * time.Millisecond)
		}
		began := w.clock.Now()
		if n := len(w.server.seen()); n > 0 {
			t.Fatalf("%d batches before anything was due", n)
		}
		w.RenewNow()
		time.Sleep(time.Second)
		synctest.Wait()
		var order []*Lease
		for _, c := range w.server.seen() {
			order = append(order, c.batch...)
		}
		if !slices.Equal(order, leases) {
			t.Errorf("%d leases were renewed, not the %d in the order in which they came", len(order), many)
		}
		batches := len(w.server.seen())
		if first, last := w.server.times()[0], w.server.times()[batches-1]; first-began > 10*time.Millisecond || last == first {
			t.Errorf("%d batches from %v to %v after the call", batches, first-began, last-began)
		}
		if took := w.server.times()[batches-1] - w.server.times()[0]; took < time.Duration(batches-2)*slot/2 {
			t.Errorf("%d batches within %v, want them at twice the even pace at most", batches, took)
		}
		time.Sleep(testTTL)
		synctest.Wait()
		if n := len(w.server.seen()) - batches; n < 2*many/MaxBatch || n > 3*2*many/MaxBatch {
			t.Errorf("%d batches in three thirds since", n)
		}
		for _, l := range leases {
			l.Forget()
		}
		if lost := w.holder.lost(); len(lost) > 0 {
			t.Errorf("%d leases were lost", len(lost))
		}
	})
}

// Waiting retries are made at once as well. A lease that is not renewed by its terms is renewed once, however often that fails.
func TestRenewNowTriesAgainWhatFailedAndAssertsWhatRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var answers atomic.Pointer[Answer]
		answers.Store(&failed)
		w := newWorld(t, func(c call) { always(*answers.Load())(c) })
		l := w.hold()
		defer l.Forget()
		fixed := w.Register(w.holder)
		fixed.Live(Trust(w.clock.Now(), 10*testTTL), Never, Never)
		defer fixed.Forget()
		time.Sleep(testTTL/3 + time.Millisecond)
		synctest.Wait()
		seen := len(w.server.seen())
		if seen != 1 {
			t.Fatalf("%d renewals, want the first, which failed", seen)
		}
		renewals := func(during time.Duration) (n map[*Lease]int) {
			time.Sleep(during)
			synctest.Wait()
			n = map[*Lease]int{}
			for _, c := range w.server.seen()[seen:] {
				for _, l := range c.batch {
					n[l]++
				}
			}
			seen = len(w.server.seen())
			return n
		}
		w.RenewNow()
		if n := renewals(10 * time.Millisecond); n[l] != 1 || n[fixed] == 0 {
			t.Errorf("one is renewed %d times at once, what rests %d times", n[l], n[fixed])
		}
		if n := renewals(testTTL / 4); n[fixed] < 2 {
			t.Errorf("what rests is tried %d times while that fails", n[fixed])
		}
		answers.Store(&Answer{Result: Renewed, TTL: 10 * testTTL})
		if n := renewals(testTTL / 4); n[fixed] != 1 {
			t.Errorf("what rests is renewed %d times once that succeeds", n[fixed])
		}
		if n := renewals(2 * testTTL); n[l] < 4 || n[fixed] > 0 {
			t.Errorf("one is renewed %d times from then on, what rests %d times", n[l], n[fixed])
		}
	})
}

// The answer to a renewal that is under way may come from the server before.
func TestRenewNowAssertsAgainWhatIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(c call) {
			time.AfterFunc(time.Second, func() { always(Answer{Result: Renewed, TTL: 10 * testTTL})(c) })
		})
		fixed := w.Register(w.holder)
		fixed.Live(Trust(w.clock.Now(), 10*testTTL), Never, Never)
		defer fixed.Forget()
		for _, want := range []int{1, 1, 2} {
			w.RenewNow()
			time.Sleep(time.Second / 4)
			if want == 2 {
				time.Sleep(testTTL)
			}
			synctest.Wait()
			if n := len(w.server.seen()); n != want {
				t.Fatalf("%d renewals, want %d", n, want)
			}
		}
	})
}
