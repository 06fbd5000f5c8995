package watchdog

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestH2LiveLeaseIsRenewedEachThird(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, always(renewed))
		l := w.hold()
		time.Sleep(35 * time.Second)
		synctest.Wait()
		wantTimes(t, "renewed", w.server.times(), 10*time.Second, 20*time.Second, 30*time.Second)
		if want := Trust(30*time.Second, testTTL); l.Expiry() != want {
			t.Fatalf("expiry %v, want %v", l.Expiry(), want)
		}
	})
}

func TestH1TrustCountsFromTheSend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(c call) {
			// It is queued for 1 s, then under way for 3 s.
			time.AfterFunc(4*time.Second, func() {
				c.answer(0, Answer{Result: Renewed, Sent: c.at + time.Second, TTL: testTTL})
			})
		})
		l := w.hold()
		time.Sleep(22 * time.Second)
		synctest.Wait()
		if want := 11*time.Second + testTTL*99/100; l.Expiry() != want {
			t.Fatalf("expiry %v, want %v", l.Expiry(), want)
		}
		wantTimes(t, "renewed", w.server.times(), 10*time.Second, 21*time.Second)
	})
}

func TestH6AnswerSetsTheTTLThatWasPassed(t *testing.T) {
	for _, ttl := range []time.Duration{10 * time.Second, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, always(Answer{Result: Renewed, TTL: ttl}))
			l := w.hold()
			time.Sleep(10 * time.Second)
			synctest.Wait()
			if want := Trust(10*time.Second, ttl); l.Expiry() != want {
				t.Fatalf("expiry %v, want %v", l.Expiry(), want)
			}
		})
	}
}

func TestH2FailedRenewalIsRetriedWhileTrustLasts(t *testing.T) {
	for _, result := range []Result{Failed, Busy, Result(77)} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, always(Answer{Result: result}))
			l := w.hold()
			time.Sleep(time.Minute)
			synctest.Wait()
			end := testTTL * 99 / 100
			ts := w.server.times()
			for i := 1; i < len(ts); i++ {
				if gap := ts[i] - ts[i-1]; gap < time.Second || gap > 1250*time.Millisecond {
					t.Fatalf("retried after %v, want 1 s to 1.25 s", gap)
				}
			}
			if last := ts[len(ts)-1]; ts[0] != 10*time.Second || last >= end || last < end-1250*time.Millisecond {
				t.Fatalf("tried from %v to %v, want from 10 s to just before %v", ts[0], last, end)
			}
			wantLoss(t, w.holder, l, ErrExpired, end)
		})
	}
}

func TestH2RetryThatSucceedsReturnsToThirds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		w := newWorld(t, func(c call) {
			if tries++; tries <= 3 {
				always(failed)(c)
				return
			}
			always(renewed)(c)
		})
		w.hold()
		time.Sleep(25 * time.Second)
		synctest.Wait()
		ts := w.server.times()
		if len(ts) != 5 || ts[4]-ts[3] != 10*time.Second {
			t.Fatalf("renewed at %v, want three failures, a success and one 10 s later", ts)
		}
		if len(w.holder.lost()) != 0 {
			t.Fatalf("lost: %v", w.holder.lost())
		}
	})
}

func TestH2OneRenewalInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		l := w.hold()
		time.Sleep(15 * time.Second)
		newTerms(l, 0, Never) // due again by these terms, but still unanswered
		l.setExpiry(20 * time.Second)
		time.Sleep(4 * time.Second)
		synctest.Wait()
		wantTimes(t, "renewed", w.server.times(), 10*time.Second)
	})
}

func TestH3ExpiryWhileInFlightIsALossAndTheLateAnswerIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		l := w.hold()
		time.Sleep(40 * time.Second)
		synctest.Wait()
		end := testTTL * 99 / 100
		wantLoss(t, w.holder, l, ErrExpired, end)
		w.server.seen()[0].answer(0, Answer{Result: Renewed, Sent: w.clock.Now(), TTL: testTTL})
		w.server.seen()[0].answer(0, Answer{Result: NotOwned})
		synctest.Wait()
		wantLoss(t, w.holder, l, ErrExpired, end)
		if l.Expiry() != end {
			t.Fatalf("expiry moved to %v", l.Expiry())
		}
		wantLive(t, w.Watchdog, 0)
	})
}

func TestH2NotOwnedIsToldAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(c call) {
			time.AfterFunc(time.Second, func() { c.answer(0, Answer{Result: NotOwned}) })
		})
		l := w.hold()
		time.Sleep(time.Minute)
		synctest.Wait()
		wantLoss(t, w.holder, l, ErrNotOwned, 11*time.Second)
		wantTimes(t, "renewed", w.server.times(), 10*time.Second)
		if l.Expiry() > 11*time.Second {
			t.Fatalf("still trusted until %v", l.Expiry())
		}
		wantLive(t, w.Watchdog, 0)
	})
}

func TestH5AnswerForForgottenLeaseIsIgnored(t *testing.T) {
	for _, r := range []Result{Failed, Renewed, NotOwned, Busy} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, nil)
			old := w.hold()
			time.Sleep(11 * time.Second)
			synctest.Wait()
			old.Forget()
			next := w.hold() // the same owner again: a new generation
			before := old.Expiry()
			w.server.seen()[0].answer(0, Answer{Result: r, Sent: 10 * time.Second, TTL: time.Hour})
			time.Sleep(5 * time.Second)
			synctest.Wait()
			if old.Expiry() != before || next.Expiry() != Trust(11*time.Second, testTTL) {
				t.Fatalf("expiries moved to %v and %v", old.Expiry(), next.Expiry())
			}
			if len(w.holder.lost()) != 0 {
				t.Fatalf("told %v", w.holder.lost())
			}
			wantLive(t, w.Watchdog, 1)
			wantTimes(t, "renewed", w.server.times(), 10*time.Second)
		})
	}
}

func TestH5AnswerForAnEarlierRenewalIsIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		l := w.hold()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		first := w.server.seen()[0]
		first.answer(0, Answer{Result: Renewed, Sent: 10 * time.Second, TTL: testTTL})
		first.answer(0, Answer{Result: NotOwned}) // twice, with none in flight
		time.Sleep(11 * time.Second)
		synctest.Wait()
		first.answer(0, Answer{Result: NotOwned}) // and with the next in flight
		if len(w.holder.lost()) != 0 {
			t.Fatalf("told %v", w.holder.lost())
		}
		w.server.seen()[1].answer(0, Answer{Result: Renewed, Sent: 20 * time.Second, TTL: testTTL})
		if want := Trust(20*time.Second, testTTL); l.Expiry() != want {
			t.Fatalf("expiry %v, want %v", l.Expiry(), want)
		}
	})
}

func TestRenewalIsOnTimeThoughTheGoroutineSleptLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, always(renewed))
		w.hold()
		time.Sleep(9100 * time.Millisecond)
		synctest.Wait()
		newTerms(w.hold(), -500*time.Millisecond, Never) // due at 9.5 s, asleep until 10 s
		time.Sleep(500 * time.Millisecond)
		synctest.Wait()
		wantTimes(t, "renewed", w.server.times(), 9500*time.Millisecond)
	})
}

func TestH2MovedExpiryDoesNotAdvanceARetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, always(failed))
		l := w.hold()
		time.Sleep(10500 * time.Millisecond)
		synctest.Wait()
		l.setExpiry(13 * time.Second)
		time.Sleep(time.Minute)
		synctest.Wait()
		ts := w.server.times()
		if len(ts) < 2 || ts[1] < 11*time.Second {
			t.Fatalf("tried at %v, want the second a second after the first", ts)
		}
	})
}

func TestNewTermsStopAndResumeRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, always(renewed))
		l := w.hold()
		newTerms(l, Never, Never)
		time.Sleep(15 * time.Second)
		synctest.Wait()
		wantTimes(t, "renewed", w.server.times())
		newTerms(l, 6*time.Second, Never)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		wantTimes(t, "renewed", w.server.times(), 16*time.Second)
	})
}

func TestRenewUntilLeavesTheNextRenewalWhereItIs(t *testing.T) {
	for until, want := range map[time.Duration][]time.Duration{
		0:                nil,
		9 * time.Second:  nil,
		10 * time.Second: {10 * time.Second},
		25 * time.Second: {10 * time.Second, 20 * time.Second},
	} {
		for _, lease := range []time.Duration{testTTL, time.Hour} { // what a command last set may be longer
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, always(renewed))
				l := w.hold()
				l.Live(Trust(0, lease), 0, Never)
				time.Sleep(5 * time.Second)
				l.RenewUntil(until)
				time.Sleep(24 * time.Second)
				synctest.Wait()
				wantTimes(t, "renewed", w.server.times(), want...)
			})
		}
	}
}

// Nothing was to be renewed, and the lease is longer than the watchdog's.
func TestRenewUntilRenewsALongerLeaseWithinAThird(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, always(renewed))
		l := w.hold()
		l.Live(Trust(0, time.Hour), 0, 0)
		time.Sleep(5 * time.Second)
		l.RenewUntil(Never)
		time.Sleep(12 * time.Second)
		synctest.Wait()
		wantTimes(t, "renewed", w.server.times(), 15*time.Second)
	})
}

func TestRenewalThatEndsWhileInFlightTakesTheAnswerAndNoMore(t *testing.T) {
	for _, a := range []Answer{{Result: Renewed, Sent: 10 * time.Second, TTL: testTTL}, failed} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, nil)
			l := w.hold()
			time.Sleep(11 * time.Second)
			synctest.Wait()
			newTerms(l, Never, Never)
			w.server.seen()[0].answer(0, a)
			want := Trust(0, testTTL)
			if a.Result == Renewed {
				want = Trust(10*time.Second, testTTL)
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			wantTimes(t, "renewed", w.server.times(), 10*time.Second)
			wantLoss(t, w.holder, l, ErrExpired, want)
		})
	}
}

func TestH5LoweredLeaseIsRenewedBeforeItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, always(renewed))
		l := w.hold()
		time.Sleep(time.Second)
		l.Lower(8 * time.Second)
		time.Sleep(20 * time.Second)
		synctest.Wait()
		wantTimes(t, "renewed", w.server.times(), 3*time.Second, 13*time.Second)
		if len(w.holder.lost()) != 0 {
			t.Fatalf("told %v", w.holder.lost())
		}
	})
}
