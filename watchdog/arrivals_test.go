package watchdog

import (
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// waiting are the arrivals, in their order.
func (w *world) waiting() (all []*Lease) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range w.arrivals {
		if l != nil {
			all = append(all, l)
		}
	}
	return all
}

// queued counts the leases that have places in the queues.
func (w *world) queued() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.due.n + len(w.retry.items) + len(w.ends.items)
}

func TestLeaseThatIsForgottenSoonIsNeverQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, always(renewed))
		w.hold()
		synctest.Wait() // the goroutine has looked
		for range 10 * maxArrivals {
			w.hold().Forget()
			if n := w.queued(); n != 1 {
				t.Fatalf("%d are queued", n)
			}
		}
		if left := w.waiting(); left != nil {
			t.Fatalf("%d wait", len(left))
		}
	})
}

// Against a plain slice, in random order.
func TestArrivalsKeepTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, always(renewed))
		w.hold()
		synctest.Wait()
		rnd := rand.New(rand.NewPCG(7, 8))
		var want []*Lease
		for range 5_000 {
			if len(want) > 0 && rnd.IntN(2) == 0 {
				i := rnd.IntN(len(want))
				want[i].Forget()
				want = slices.Delete(want, i, i+1)
			} else {
				want = append(want, w.hold())
			}
			got := w.waiting()
			if settled := len(want) - len(got); settled < 0 || !slices.Equal(got, want[settled:]) {
				t.Fatalf("%d wait, of %d", len(got), len(want))
			}
			wantLive(t, w.Watchdog, len(want)+1)
		}
		for _, l := range want {
			l.Forget()
		}
		if n := w.queued(); n != 1 || w.waiting() != nil {
			t.Fatalf("%d are queued, %d wait", n, len(w.waiting()))
		}
	})
}

// The goroutine looks in time for an arrival, whatever it slept for.
func TestArrivalIsNoticedInTime(t *testing.T) {
	const soon = 50 * time.Millisecond // less than MaxSleep
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
				synctest.Wait() // it sleeps
				due := w.clock.Now() + soon
				l := c.begin(w)
				for range maxArrivals / 2 {
					w.hold().Forget() // they share the list
				}
				time.Sleep(2 * soon)
				synctest.Wait()
				c.check(t, w, l, due)
				other.Forget()
			})
		})
	}
}

func TestRenewNowRenewsArrivals(t *testing.T) {
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
