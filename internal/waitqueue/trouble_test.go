package waitqueue

import (
	"errors"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
)

func TestTroubleIsFollowedByGrowingPauses(t *testing.T) {
	for name, begin := range map[string]func(*rig) *Waiter{
		"in the queue": func(r *rig) *Waiter {
			w := r.waits(lease)
			r.message()
			return w
		},
		"beside it": func(r *rig) *Waiter { return r.tries(&Waiter{Shared: true}) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			w := begin(r)
			for _, pause := range []time.Duration{20 * ms, 40 * ms, 80 * ms, 160 * ms, 320 * ms, 500 * ms, 500 * ms} {
				r.troubled(w)
				r.goesOn(pause - 1)
				r.under("it pauses")
				r.goesOn(1)
				r.under("it tries", w)
			}
			r.refused(w, lease)
			r.message()
			if len(r.attempts) == 0 {
				r.confirmed()
			}
			r.troubled(w)
			r.goesOn(20 * ms)
			r.under("an answer ends trouble", w)
		})
	}
}

func TestMessageDoesNotShortenAPause(t *testing.T) {
	r := newRig(t)
	w := r.waits(lease)
	r.message()
	r.message() // the second message is kept
	r.troubled(w)
	r.under("it pauses")
}

func TestWhoWasNeverAnsweredGivesUpAfterTheTimeout(t *testing.T) {
	for name, begin := range map[string]func(*rig) *Waiter{
		"in the queue": func(r *rig) *Waiter { return r.joins(1)[0] },
		"beside it":    func(r *rig) *Waiter { return r.tries(&Waiter{OneTry: true}) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			w := begin(r)
			for began := r.now; !w.Settled; {
				if r.now-began > timeout+time.Second {
					t.Fatal("never")
				}
				if len(r.attempts) > 0 {
					r.troubled(w)
				}
				if w.Settled && r.now-began < timeout {
					t.Fatalf("after %v", r.now-began)
				}
				r.goesOn(ms)
			}
			r.is(w, Unreachable, errNet)
			r.quiet()
		})
	}
}

func TestWhoWasToldWaitsOnThroughTrouble(t *testing.T) {
	r := newRig(t)
	w, behind := r.waits(lease), r.joins(1)[0]
	as := r.tries(&Waiter{Shared: true})
	r.refused(as, lease)
	r.does(func() { r.q.LetThrough(true) })
	r.message()
	for end := r.now + 10*timeout; r.now < end; r.goesOn(10 * ms) {
		for len(r.attempts) > 0 {
			r.troubled(r.attempts[0])
		}
	}
	r.is(w, running, nil)
	r.is(as, running, nil)
	r.is(behind, Unreachable, errNet) // it joined after the last answer
}

// A waiter that joins during an outage has its own timeout.
func TestPatienceCountsFromJoining(t *testing.T) {
	r := newRig(t)
	first := r.joins(1)[0]
	r.troubled(first)
	r.goesOn(timeout / 2)
	r.attempts = nil // its reply is still to come
	late := r.joins(1)[0]
	r.goesOn(timeout/2 + timeout/4)
	r.is(first, Unreachable, errNet)
	r.is(late, running, nil)
	r.goesOn(timeout / 2)
	r.is(late, Unreachable, errNet)
}

func TestLostAttemptKeepsItsPlaceUntilItIsResolved(t *testing.T) {
	r := newRig(t)
	first, second := r.waits(lease), r.joins(1)[0]
	r.message()
	r.opens(first)
	r.message()
	r.leaves(first)
	r.goesOn(timeout / 2)
	r.under("nothing else is tried", first)
	r.resolves(first)
	r.under("then the next", second)
}

func TestLostAttemptIsMadeAgainAfterAPause(t *testing.T) {
	r := newRig(t)
	w := r.waits(lease)
	r.message()
	r.opens(w)
	r.resolves(w)
	r.under("it pauses")
	r.goesOn(clock.FirstPause)
	r.under("it tries", w)
}

func TestLostTryBesideTheQueueIsMadeAgainWhenItIsResolved(t *testing.T) {
	r := newRig(t)
	w := r.tries(&Waiter{Shared: true})
	r.opens(w)
	r.goesOn(timeout - 1)
	r.under("it is open", w)
	r.resolves(w)
	r.under("at once", w)
	r.goesOn(1)
	r.is(w, running, nil) // the timeout of its first attempt is over
}

func TestLostTryBesideTheQueueGivesUpWhileItIsOpen(t *testing.T) {
	r := newRig(t)
	w := r.tries(&Waiter{OneTry: true})
	r.opens(w)
	r.goesOn(timeout)
	r.is(w, Unreachable, errNet)
	r.resolves(w)
	r.quiet()
}

func TestAnswerThatPassesIsOutlastedWhileItsAttemptIsOpen(t *testing.T) {
	for name, begin := range map[string]func(*rig) *Waiter{
		"in the queue": func(r *rig) *Waiter { return r.joins(1)[0] },
		"beside it":    func(r *rig) *Waiter { return r.tries(&Waiter{Shared: true}) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			w := begin(r)
			r.does(func() { r.q.Open(r.now, w, errNet, r.now, true) })
			r.goesOn(10 * timeout)
			r.is(w, running, nil)
		})
	}
	r := newRig(t)
	w := r.tries(&Waiter{OneTry: true})
	r.does(func() { r.q.Open(r.now, w, errNet, r.now, true) })
	r.goesOn(timeout)
	r.is(w, Unreachable, errNet)
}

func TestToldReentrySurvivesAnOutage(t *testing.T) {
	r := newRig(t)
	w := r.tries(&Waiter{Shared: true})
	r.refused(w, lease)
	r.does(func() { r.q.LetThrough(true) })
	r.opens(w)
	r.goesOn(10 * timeout)
	r.is(w, running, nil)
	r.resolves(w)
	r.under("it tries", w)
}

func TestRejectionEndsOneWaitAndTheNextLooksAtOnce(t *testing.T) {
	r := newRig(t)
	first, second := r.waits(lease), r.joins(1)[0]
	r.message()
	wrong := errors.New("WRONGTYPE")
	r.answered(first)
	r.does(func() { r.q.Rejected(first, wrong) })
	r.is(first, Failed, wrong)
	r.under("the next", second)
}

func TestFailedWaitLeavesItsAttemptToItsEnd(t *testing.T) {
	r := newRig(t)
	first, second := r.joins(1)[0], r.joins(1)[0]
	why := errors.New("closed")
	r.does(func() { r.q.Fail(first, why) })
	r.is(first, Failed, why)
	r.under("its attempt", first)
	r.resolves(first)
	r.goesOn(time.Minute)
	r.under("the next", second)
}

// Facts has what a caller needs to word the end of its wait.
func TestFactsOfAWait(t *testing.T) {
	r := newRig(t)
	head, behind := r.joins(1)[0], r.joins(1)[0]
	for _, w := range []*Waiter{head, behind} {
		if f := r.q.Facts(w); f != (Facts{InFlight: true}) {
			t.Errorf("behind an unanswered head: %+v", f)
		}
	}
	r.refused(head, lease)
	if f := r.q.Facts(behind); f != (Facts{Refused: true, Known: true}) {
		t.Errorf("after an answer to the queue: %+v", f)
	}
	late := r.joins(1)[0]
	if f := r.q.Facts(late); f != (Facts{Known: true}) {
		t.Errorf("joined after the answer: %+v", f)
	}
	r.message()
	r.confirmed()
	r.troubled(head)
	if f := r.q.Facts(late); f != (Facts{Trouble: errNet}) {
		t.Errorf("trouble came since: %+v", f)
	}
	beside := r.tries(&Waiter{Shared: true})
	if f := r.q.Facts(beside); f != (Facts{}) {
		t.Errorf("beside the queue: %+v", f)
	}
	r.troubled(beside)
	if f := r.q.Facts(beside); f != (Facts{Trouble: errNet}) {
		t.Errorf("beside the queue, in trouble: %+v", f)
	}
	r.leaves(head)
	if f := r.q.Facts(head); !f.Refused || f.Trouble == nil {
		t.Errorf("just ended: %+v", f)
	}
}

func TestAnswerEndsTheTroubleOfATryBesideTheQueue(t *testing.T) {
	r := newRig(t)
	r.waits(lease)
	as := r.tries(&Waiter{Shared: true})
	r.troubled(as)
	r.goesOn(clock.FirstPause)
	r.refused(as, lease)
	r.does(func() { r.q.LetThrough(true) })
	r.troubled(as)
	r.goesOn(clock.FirstPause)
	r.under("the pauses begin anew", as)
}

// Each unqueued waiter has its own time, and one timer serves all.
func TestTriesBesideTheQueueEachHaveTheirTime(t *testing.T) {
	r := newRig(t)
	first, second := r.tries(&Waiter{Shared: true}), r.tries(&Waiter{Shared: true})
	r.troubled(first)
	r.goesOn(clock.FirstPause / 2)
	r.troubled(second)
	r.goesOn(clock.FirstPause / 2)
	r.under("the first", first)
	r.goesOn(clock.FirstPause / 2)
	r.under("the second", first, second)
	first, second = r.tries(&Waiter{OneTry: true}), r.tries(&Waiter{OneTry: true})
	r.opens(first)
	r.goesOn(timeout / 2)
	r.opens(second)
	r.goesOn(timeout / 2)
	r.is(first, Unreachable, errNet)
	r.is(second, running, nil)
	r.goesOn(timeout / 2)
	r.is(second, Unreachable, errNet)
}

// The next attempt would come after the timeout, and could take as long again.
func TestPauseOfATryBesideTheQueueEndsWithItsPatience(t *testing.T) {
	r := newRig(t)
	w := r.tries(&Waiter{OneTry: true})
	began := r.now
	for !w.Settled && r.now < began+2*timeout {
		for len(r.attempts) > 0 {
			r.troubled(w)
		}
		r.goesOn(ms)
	}
	r.is(w, Unreachable, errNet)
	if took := r.now - began; took < timeout || took > timeout+ms {
		t.Errorf("it gave up after %v, want %v", took, timeout)
	}
	r.quiet()
}
