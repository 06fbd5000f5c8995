package watchdog

import (
	"testing"
	"testing/synctest"
	"time"
)

// The goroutine wakes in time for a new lease, whatever it sleeps for.
func TestNewLeaseIsNoticedInTime(t *testing.T) {
	const soon = 50 * time.Millisecond // less than a sleep
	for name, c := range map[string]struct {
		begin func(w *world) *Lease
		check func(t *testing.T, w *world, l *Lease, due time.Duration)
	}{
		"its end": {
			func(w *world) *Lease {
				l := w.Register(w.holder)
				l.Live(w.clock.Now()+soon, Never, Never)
				return l
			},
			func(t *testing.T, w *world, l *Lease, due time.Duration) {
				wantLoss(t, w.holder, l, ErrExpired, due)
			},
		},
		"its alarm": {
			func(w *world) *Lease {
				l := w.Register(w.holder)
				l.SetAlarm(w.clock.Now() + soon)
				l.Live(Never, Never, Never)
				return l
			},
			func(t *testing.T, w *world, _ *Lease, due time.Duration) {
				wantTimes(t, "alarms", w.holder.rung(), due)
			},
		},
		"its renewal": {
			func(w *world) *Lease {
				l, now := w.Register(w.holder), w.clock.Now()
				l.Live(Trust(now, testTTL), now-third+soon, Never)
				return l
			},
			func(t *testing.T, w *world, _ *Lease, due time.Duration) {
				wantTimes(t, "renewals", w.server.times(), due)
			},
		},
		"an alarm that it is given": {
			func(w *world) *Lease {
				l := w.hold()
				l.SetAlarm(w.clock.Now() + soon)
				return l
			},
			func(t *testing.T, w *world, _ *Lease, due time.Duration) {
				wantTimes(t, "alarms", w.holder.rung(), due)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, always(renewed))
				other := w.hold()
				synctest.Wait() // until the goroutine sleeps
				due := w.clock.Now() + soon
				l := c.begin(w)
				for range 2 * MaxBatch {
					w.hold().Forget() // they join its batch
				}
				time.Sleep(2 * soon)
				synctest.Wait()
				c.check(t, w, l, due)
				other.Forget()
			})
		})
	}
}

func TestRenewNowRenewsNewLeases(t *testing.T) {
	for name, renewNow := range map[string]func(*Watchdog){
		"all":   (*Watchdog).RenewNow,
		"those": func(w *Watchdog) { w.RenewThose(func(Holder) bool { return true }) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, always(renewed))
				w.hold()
				synctest.Wait()
				time.Sleep(100 * time.Millisecond)
				for range 3 {
					w.hold()
				}
				renewNow(w.Watchdog)
				time.Sleep(100 * time.Millisecond)
				synctest.Wait()
				if calls := w.server.seen(); len(calls) != 1 || len(calls[0].batch) != 4 {
					t.Fatalf("renewed in %d batches, want four leases in one", len(calls))
				}
			})
		})
	}
}
