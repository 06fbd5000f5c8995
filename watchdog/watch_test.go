package watchdog

import (
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// watchedWorld is a world with looks. Their answers come after delay and say reads.
func watchedWorld(t *testing.T, reads bool, delay time.Duration) (w *world, looks func() []time.Duration) {
	w = newWorld(t, nil)
	var seen []time.Duration
	began := w.clock.Now()
	w.server.reply = always(Answer{Result: Renewed, TTL: testTTL, Read: reads})
	w.Watchdog = New(w.server.renew, Options{TTL: testTTL, Clock: w.clock, Look: func(batch []*Lease, answer func(int, bool)) {
		seen = append(seen, w.clock.Now()-began)
		go func() {
			time.Sleep(delay)
			for i := range batch {
				answer(i, reads)
			}
		}()
	}})
	t.Cleanup(w.Watchdog.Close)
	return w, func() []time.Duration {
		synctest.Wait()
		return slices.Clone(seen)
	}
}

// A lease's key is read when the lease is one to two seconds old, whenever it began.
func TestYoungLeaseIsLookedAtWithinTwoSeconds(t *testing.T) {
	const step = 100 * time.Millisecond
	for after := step; after <= 2*time.Second; after += step {
		synctest.Test(t, func(t *testing.T) {
			w, looks := watchedWorld(t, true, 0)
			w.hold() // starts the rounds of looks
			time.Sleep(after)
			began, before := after, len(looks())
			w.hold()
			time.Sleep(2 * time.Second)
			seen := looks()[before:]
			if len(seen) == 0 || seen[len(seen)-1]-began < time.Second {
				t.Errorf("one that begins %v later: looks at %v", after, seen)
			}
		})
	}
}

func TestLeaseIsLookedAtByTheTable(t *testing.T) {
	const ms = time.Millisecond
	type event struct {
		at time.Duration
		do func(*Lease)
	}
	changed, wrote := (*Lease).Changed, (*Lease).Wrote
	others := func(l *Lease) { l.watchdog.LookThose(func(h Holder) bool { return h == l.holder }, true) }
	listens := func(l *Lease) { l.watchdog.LookThose(func(h Holder) bool { return h == l.holder }, false) }
	nobody := func(l *Lease) { l.watchdog.LookThose(func(Holder) bool { return false }, true) }
	broke := func(l *Lease) { l.watchdog.RenewNow() }
	extend := func(l *Lease) { newTerms(l, Never, Never) }
	shorten := func(l *Lease) { l.Lower(l.Expiry() - 1) }
	many := func(l *Lease) {
		for range 900 {
			l.Changed()
			time.Sleep(ms)
		}
	}
	for name, row := range map[string]struct {
		events []event
		delay  time.Duration
		fixed  bool
		unread bool
		want   []time.Duration // times of all looks up to 8.5 s, for a fixed lease up to 25
	}{
		"once, when it is 0.9 s old":                                  {want: []time.Duration{900 * ms}},
		"not if it ends before":                                       {events: []event{{899 * ms, (*Lease).Forget}}},
		"again and again if it can't be read, till a renewal is near": {unread: true, want: each(900*ms, 8100*ms, 900*ms)},
		"twice for a change":                                          {events: []event{{3500 * ms, changed}}, want: []time.Duration{900 * ms, 3500 * ms, 3600 * ms}},
		"also when it is young":                                       {events: []event{{100 * ms, changed}}, want: []time.Duration{100 * ms, 200 * ms}},
		"once for a change of all":                                    {events: []event{{3500 * ms, others}}, want: []time.Duration{900 * ms, 3500 * ms}},
		"in time if nobody told until now":                            {events: []event{{3500 * ms, listens}}, want: []time.Duration{900 * ms, 3600 * ms}},
		"at once if it is old, and nobody told until now":             {unread: true, events: []event{{1200 * ms, listens}}, want: append([]time.Duration{900 * ms, 1200 * ms}, each(1800*ms, 8100*ms, 900*ms)...)},
		"not for others' change":                                      {events: []event{{3500 * ms, nobody}}, want: []time.Duration{900 * ms}},
		"after its owner wrote":                                       {events: []event{{3500 * ms, wrote}}, want: []time.Duration{900 * ms, 3600 * ms}},
		"after its owner got other terms":                             {events: []event{{3500 * ms, extend}}, want: []time.Duration{900 * ms, 3600 * ms}},
		"after its owner may have got less":                           {events: []event{{3500 * ms, shorten}}, want: []time.Duration{900 * ms, 3600 * ms}},
		"though its owner writes all the time":                        {events: []event{{3500 * ms, wrote}, {3590 * ms, wrote}}, want: []time.Duration{900 * ms, 3600 * ms}},
		"again if its owner wrote meanwhile":                          {events: []event{{920 * ms, wrote}}, delay: 50 * ms, want: []time.Duration{900 * ms, 1050 * ms}},
		"again if it changed meanwhile":                               {events: []event{{920 * ms, changed}}, delay: 50 * ms, want: []time.Duration{900 * ms, 1050 * ms, 1200 * ms}},
		"again if it changed while it rests":                          {events: []event{{970 * ms, changed}}, want: []time.Duration{900 * ms, 1000 * ms, 1100 * ms}},
		"ten times a second if it always changes":                     {events: []event{{1500 * ms, many}}, want: append([]time.Duration{900 * ms}, each(1500*ms, 2500*ms, 100*ms)...)},
		"not if it is renewed at once":                                {events: []event{{3500 * ms, broke}}, want: each(900*ms, 900*ms, ms)},
		"not if its server may be another, since that renews it":      {events: []event{{3500 * ms, broke}}, fixed: true, want: []time.Duration{900 * ms, 10800 * ms, 21600 * ms}},
		"each third if it is not renewed":                             {fixed: true, want: []time.Duration{900 * ms, 10800 * ms, 21600 * ms}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, looks := watchedWorld(t, !row.unread, row.delay)
				l, until := w.hold(), 8500*time.Millisecond
				if row.fixed {
					newTerms(l, Never, Never)
					until = 25 * time.Second
				}
				began := w.clock.Now()
				for _, e := range row.events {
					time.Sleep(e.at - (w.clock.Now() - began))
					e.do(l)
				}
				time.Sleep(until - (w.clock.Now() - began))
				if got := looks(); !slices.Equal(got, row.want) {
					t.Errorf("looks at %v, want %v", got, row.want)
				}
				l.Forget()
			})
		})
	}
}

// each returns the instants of a regular series.
func each(from, to, step time.Duration) (all []time.Duration) {
	for at := from; at <= to; at += step {
		all = append(all, at)
	}
	return all
}

// A renewal may read the key that it has written, so that no look is needed. If it could not read it, or if the key
// was written after it, a look follows.
func TestRenewalReadsToo(t *testing.T) {
	for _, read := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			w, looks := watchedWorld(t, true, 0)
			var silent atomic.Bool
			w.server.reply = func(c call) {
				if !silent.Load() {
					always(Answer{Result: Renewed, TTL: testTTL, Read: read})(c)
				}
			}
			l := w.hold()
			time.Sleep(testTTL / 2)
			synctest.Wait()
			if n, want := len(looks()), map[bool]int{true: 1, false: 2}[read]; n != want || len(w.server.seen()) != 1 {
				t.Errorf("read %v: %d looks, want %d; %d renewals", read, n, want, len(w.server.seen()))
			}
			silent.Store(true)
			time.Sleep(testTTL / 3)
			before := len(looks())
			seen := w.server.seen()
			l.Wrote()
			seen[1].answer(0, Answer{Result: Renewed, TTL: testTTL, Sent: seen[1].at, Read: true})
			time.Sleep(time.Second)
			if n := len(looks()) - before; n != 1 {
				t.Errorf("read %v: %d looks after a write meanwhile, want 1", read, n)
			}
			l.Forget()
		})
	}
}

// All keys changed while a renewal was under way, which may have read the key before. A look can't read it meanwhile, and another
// one follows the renewal.
func TestChangeDuringARenewalIsLookedAtBehindIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, looks := watchedWorld(t, false, 0)
		w.server.reply = func(call) {}
		l := w.hold()
		time.Sleep(testTTL/3 + time.Millisecond)
		w.LookThose(func(Holder) bool { return true }, true)
		before := len(looks())
		seen := w.server.seen()
		seen[0].answer(0, Answer{Result: Renewed, TTL: testTTL, Sent: seen[0].at, Read: true})
		time.Sleep(10 * time.Millisecond)
		if n := len(looks()) - before; n != 1 {
			t.Errorf("%d looks behind the renewal, want 1", n)
		}
		l.Forget()
	})
}

// Looks at a crowd are paced as renewals are, and delay no renewal.
func TestLooksArePacedAndDelayNoRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many = 4000
		var plain [2][]time.Duration
		for i := range plain {
			w, looks := watchedWorld(t, true, time.Millisecond)
			if i == 0 {
				w.Watchdog = New(w.server.renew, Options{TTL: testTTL, Clock: w.clock})
				t.Cleanup(w.Watchdog.Close)
			}
			began := w.clock.Now()
			var leases []*Lease
			for range many {
				leases = append(leases, w.hold())
			}
			time.Sleep(5 * time.Second)
			w.LookThose(func(Holder) bool { return true }, true)
			time.Sleep(testTTL - 6*time.Second)
			for _, at := range w.server.times() {
				plain[i] = append(plain[i], at-began)
			}
			if at := looks(); i == 1 {
				if n := 2 * many / MaxBatch; len(at) < n || len(at) > n+2 {
					t.Errorf("%d looks, want %d", len(at), n)
				}
				for j, k := range at[1:] {
					if gap := k - at[j]; gap < time.Millisecond {
						t.Fatalf("looks are %v apart", gap)
					}
				}
			}
			for _, l := range leases {
				l.Forget()
			}
		}
		if !slices.Equal(plain[0], plain[1]) {
			t.Errorf("%d renewals, without looks %d, at other times", len(plain[1]), len(plain[0]))
		}
	})
}

func TestIdleIsCalledOnceNothingIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, always(renewed))
		idle := 0
		w.Watchdog = New(w.server.renew, Options{TTL: testTTL, Clock: w.clock, Idle: func() { idle++ }})
		t.Cleanup(w.Watchdog.Close)
		l := w.hold()
		time.Sleep(testTTL)
		synctest.Wait()
		if idle != 0 {
			t.Error("while a lease is live")
		}
		l.Forget()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if idle != 1 {
			t.Errorf("it was called %d times", idle)
		}
	})
}
