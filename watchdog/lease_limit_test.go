package watchdog

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestRenewalStopsAfterItsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, always(renewed))
		l := w.Register(w.holder)
		l.Live(Trust(0, testTTL), 0, 25*time.Second)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		wantTimes(t, "renewed", w.server.times(), 10*time.Second, 20*time.Second)
		wantLoss(t, w.holder, l, ErrExpired, Trust(20*time.Second, testTTL))
	})
}

func TestRetriesStopAfterTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, always(failed))
		l := w.Register(w.holder)
		l.Live(Trust(0, testTTL), 0, 15*time.Second)
		time.Sleep(time.Minute)
		synctest.Wait()
		ts := w.server.times()
		if last := ts[len(ts)-1]; last > 15*time.Second || last < 13*time.Second {
			t.Fatalf("last tried at %v, want just before 15 s", last)
		}
		wantLoss(t, w.holder, l, ErrExpired, Trust(0, testTTL))
	})
}

func TestLimitKeepsALeaseOutOfAnEarlyBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, always(renewed))
		other := w.hold()
		time.Sleep(2 * time.Second)
		l := w.Register(w.holder)
		l.Live(Trust(2*time.Second, testTTL), 2*time.Second, 11*time.Second) // due at 12 s
		time.Sleep(time.Minute)
		synctest.Wait()
		wantLoss(t, w.holder, l, ErrExpired, Trust(2*time.Second, testTTL))
		other.Forget()
	})
}

func TestLimitThatPassedInSuspendIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &manualClock{}
		s := &server{clock: c, reply: always(renewed)}
		w := New(s.renew, Options{TTL: testTTL, Clock: c})
		defer w.Close()
		w.Register(&holder{clock: c}).Live(Trust(0, testTTL), 0, 12*time.Second)
		c.advance(13 * time.Second)
		time.Sleep(time.Second)
		synctest.Wait()
		if len(s.seen()) != 0 {
			t.Fatalf("renewed at %v", s.times())
		}
	})
}
