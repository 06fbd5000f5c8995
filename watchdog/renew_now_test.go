package watchdog

import (
	"slices"
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

// Waiting retries are made at once as well. A lease that is not renewed stays so.
func TestRenewNowTriesAgainWhatFailedAndLeavesFixedLeasesAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, always(failed))
		l := w.hold()
		defer l.Forget()
		fixed := w.Register(w.holder)
		fixed.Live(Trust(w.clock.Now(), testTTL), Never, Never)
		defer fixed.Forget()
		time.Sleep(testTTL/3 + time.Millisecond)
		synctest.Wait()
		before := len(w.server.seen())
		if before != 1 {
			t.Fatalf("%d renewals, want the first, which failed", before)
		}
		w.RenewNow()
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		got := w.server.seen()[before:]
		if len(got) != 1 || !slices.Equal(got[0].batch, []*Lease{l}) {
			t.Errorf("got %d renewals, want one of the lease that is renewed", len(got))
		}
	})
}
