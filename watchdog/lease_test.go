package watchdog

import (
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"
)

func TestH1TrustIsAPercentLessThanTheLease(t *testing.T) {
	for _, c := range []struct{ sent, ttl, want time.Duration }{
		{0, 30 * time.Second, 29700 * time.Millisecond},
		{5 * time.Second, time.Second, 5990 * time.Millisecond},
		{0, time.Millisecond, 990 * time.Microsecond},
		{0, 101, 99}, // the margin is rounded up
		{0, 1, 0},
		{7, 0, 7},
		{7, -5, 7},
		{1, Never, Never},
		{Never, time.Second, Never},
		{Never - 10, time.Hour, Never},
		{0, Never - 1, Never - 1 - (Never/100 + 1)},
		{time.Duration(math.MinInt64), time.Second, math.MinInt64 + 990*time.Millisecond},
	} {
		if got := Trust(c.sent, c.ttl); got != c.want {
			t.Errorf("Trust(%d, %d) is %d, want %d", c.sent, c.ttl, got, c.want)
		}
	}
}

func TestH5PendingLeaseIsNeverRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, always(renewed))
		l := w.Register(w.holder)
		l.setExpiry(time.Second)
		l.Lower(time.Second)
		l.SetAlarm(time.Second)
		w.hold() // so that the goroutine runs and has work
		time.Sleep(25 * time.Second)
		synctest.Wait()
		for _, c := range w.server.seen() {
			for _, renewed := range c.batch {
				if renewed == l {
					t.Fatal("a pending lease was renewed")
				}
			}
		}
		if n := len(w.holder.lost()) + len(w.holder.rung()); n != 0 || l.Expiry() != Never {
			t.Fatalf("pending lease: told %d times, expiry %v", n, l.Expiry())
		}
		wantLive(t, w.Watchdog, 1)

		now := w.clock.Now()
		if !l.Live(Trust(now, testTTL), now, Never) {
			t.Fatal("not live")
		}
		synctest.Wait()
		wantTimes(t, "alarm", w.holder.rung(), now) // was due while pending
		wantLive(t, w.Watchdog, 2)
		l.Forget()
		wantLive(t, w.Watchdog, 1)
	})
}

func TestH3LossIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.holder.onLost = func(l *Lease) {
			// The lease is already forgotten, so all of these do nothing.
			if l.Live(Never, 0, Never) {
				t.Error("a lost lease came back")
			}
			l.SetAlarm(0)
			l.setExpiry(0)
			l.Lower(-1)
			l.Forget()
		}
		l := w.Register(w.holder)
		if l.Holder() != Holder(w.holder) {
			t.Fatal("another holder")
		}
		l.Live(5*time.Second, Never, Never)
		time.Sleep(time.Minute)
		synctest.Wait()
		wantLoss(t, w.holder, l, ErrExpired, 5*time.Second)
		wantLive(t, w.Watchdog, 0)
		if len(w.holder.rung()) != 0 || len(w.server.seen()) != 0 {
			t.Fatalf("alarms %v, renewals %v", w.holder.rung(), w.server.times())
		}
	})
}

func TestH3GrantThatIsOverWhenItComesIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		time.Sleep(10 * time.Second)
		l := w.Register(w.holder)
		l.Live(9*time.Second, 0, Never)
		synctest.Wait()
		wantLoss(t, w.holder, l, ErrExpired, 10*time.Second)
	})
}

func TestH5ForgottenLeaseIsNeitherRenewedNorTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, always(renewed))
		l := w.hold()
		l.SetAlarm(3 * time.Second)
		never := w.Register(w.holder)
		l.Forget()
		l.Forget()
		never.Forget()
		if l.Live(time.Hour, 0, Never) || never.Live(time.Hour, 0, Never) {
			t.Fatal("a forgotten lease came back")
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(w.holder.lost())+len(w.holder.rung())+len(w.server.seen()) != 0 {
			t.Fatalf("told %v, %v; renewed %v", w.holder.lost(), w.holder.rung(), w.server.times())
		}
		wantLive(t, w.Watchdog, 0)
	})
}

func TestH5ForgottenLeaseIsNotInABatchOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var healthy atomic.Bool
		w := newWorld(t, func(c call) {
			for i := range c.batch {
				a := Answer{Result: Renewed, Sent: c.at, TTL: testTTL}
				if !healthy.Load() {
					a = failed
				}
				c.answer(i, a)
			}
		})
		gone, retrying, other := w.hold(), w.hold(), w.hold()
		gone.Forget()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		retrying.Forget()
		healthy.Store(true)
		time.Sleep(20 * time.Second)
		synctest.Wait()
		for i, c := range w.server.seen() {
			for _, l := range c.batch {
				if l == gone || l == retrying && i > 0 {
					t.Fatalf("batch %d renews a forgotten lease", i)
				}
			}
		}
		if len(w.server.seen()) < 3 || len(w.holder.lost()) != 0 {
			t.Fatalf("renewed at %v, told %v", w.server.times(), w.holder.lost())
		}
		other.Forget()
	})
}

func TestExpiryMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		l := w.Register(w.holder)
		l.Live(20*time.Second, Never, Never)
		l.Lower(25 * time.Second)
		if l.Expiry() != 20*time.Second {
			t.Fatalf("Lower raised to %v", l.Expiry())
		}
		l.Lower(10 * time.Second)
		l.setExpiry(15 * time.Second)
		time.Sleep(14 * time.Second)
		if !l.Live(18*time.Second, Never, Never) {
			t.Fatal("not live")
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		wantLoss(t, w.holder, l, ErrExpired, 18*time.Second)
	})
}

func TestAlarmComesOnceAndCanBeSetAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		l := w.Register(w.holder)
		l.Live(20*time.Second, Never, Never)
		first := true
		w.holder.onBell = func(l *Lease) {
			if first {
				first = false
				l.SetAlarm(7 * time.Second)
			}
		}
		l.SetAlarm(9 * time.Second)
		l.SetAlarm(3 * time.Second)
		time.Sleep(15 * time.Second)
		synctest.Wait()
		wantTimes(t, "alarm", w.holder.rung(), 3*time.Second, 7*time.Second)
		l.SetAlarm(16 * time.Second)
		l.SetAlarm(Never)
		l.SetAlarm(21 * time.Second) // after the end
		time.Sleep(time.Minute)
		synctest.Wait()
		wantTimes(t, "alarm", w.holder.rung(), 3*time.Second, 7*time.Second)
		wantLoss(t, w.holder, l, ErrExpired, 20*time.Second)
	})
}

// A holder whose alarm is always due must not keep others from their renewal.
func TestRestlessAlarmStarvesNobody(t *testing.T) {
	c := &manualClock{}
	s := &server{clock: c, reply: always(renewed)}
	w := New(s.renew, Options{TTL: testTTL, Clock: c})
	w.maxSleep = 5 * time.Millisecond
	defer w.Close()
	restless := &holder{clock: c, onBell: func(l *Lease) { l.SetAlarm(0) }}
	r := w.Register(restless)
	r.Live(Never, Never, Never)
	l := w.Register(&holder{clock: c})
	l.Live(Trust(0, testTTL), 0, Never)
	r.SetAlarm(0)
	c.advance(11 * time.Second)
	eventually(t, "renewal", func() bool { return len(s.seen()) == 1 })
	r.Forget()
}

func TestH5ForgetDuringACrowdOfLossesIsHeeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		var leases []*Lease
		for range 10 {
			leases = append(leases, w.Register(w.holder))
		}
		w.holder.onLost = func(*Lease) {
			for _, l := range leases {
				l.Forget()
			}
		}
		for _, l := range leases {
			l.Live(time.Second, Never, Never)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if n := len(w.holder.lost()); n != 1 {
			t.Fatalf("%d were told, want only the first", n)
		}
	})
}

// A batch is in the heap by its next instant only. A later alarm or renewal of its leases must
// not be forgotten.
func TestAlarmAndRenewalKeepTheirTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, always(renewed))
		l := w.hold()
		again := []time.Duration{15 * time.Second, 25 * time.Second}
		w.holder.onBell = func(l *Lease) {
			if len(again) > 0 {
				l.SetAlarm(again[0])
				again = again[1:]
			}
		}
		l.SetAlarm(3 * time.Second)
		time.Sleep(35 * time.Second)
		synctest.Wait()
		wantTimes(t, "alarm", w.holder.rung(), 3*time.Second, 15*time.Second, 25*time.Second)
		wantTimes(t, "renewed", w.server.times(), 10*time.Second, 20*time.Second, 30*time.Second)
	})
}

func TestAlarmComesWhileARenewalIsUnanswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		l := w.hold()
		l.SetAlarm(12 * time.Second)
		time.Sleep(40 * time.Second)
		synctest.Wait()
		wantTimes(t, "alarm", w.holder.rung(), 12*time.Second)
		wantLoss(t, w.holder, l, ErrExpired, testTTL*99/100)
	})
}

func TestLeaseIsRegisteredOnceInTheCallersMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, always(renewed))
		var l Lease
		w.RegisterAt(&l, w.holder)
		wantLive(t, w.Watchdog, 0)
		l.Live(Trust(0, testTTL), 0, Never)
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if l.Expiry() != Trust(10*time.Second, testTTL) {
			t.Fatalf("expiry %v", l.Expiry())
		}
		l.Forget()
		defer func() {
			if recover() == nil {
				t.Fatal("registered twice")
			}
		}()
		w.RegisterAt(&l, w.holder)
	})
}

// A client may have a hundred thousand leases.
func TestLeaseIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(Lease{}); size > 64 {
		t.Fatalf("a lease has %d bytes", size)
	}
}

// Apart from its own memory, a live lease takes one item of one batch.
func TestLiveLeaseNeedsOneItem(t *testing.T) {
	w := New(func([]*Lease, func(int, Answer)) {}, Options{Clock: &dial{}})
	w.running = true
	for range 50_000 {
		w.Register(nobody{}).Live(Trust(0, testTTL), 0, Never)
	}
	room := cap(w.batches)
	for _, b := range w.batches {
		room += cap(b.leases)
	}
	if room > 50_000*5/4 {
		t.Fatalf("room for %d", room)
	}
}
