package waitqueue

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/kind"
)

func TestHandOffMakesTheHeadsAttemptAtOnce(t *testing.T) {
	r := newRig(t)
	w := r.waits(lease)
	if !r.handsOff() {
		t.Fatal("the message is of use")
	}
	r.under("it follows the unlock", w)
	if r.handed != w {
		t.Error("and does not say so")
	}
	r.granted(w)
	r.message()
	r.goesOn(unsubscribeDelay)
	r.quiet()
}

func TestOwnMessageOfAHandOffWakesNobody(t *testing.T) {
	r := newRig(t)
	first, second := r.waits(lease), r.joins(1)[0]
	r.handsOff()
	r.message()
	r.granted(first)
	r.under("its own message")
	r.message()
	r.under("another's", second)
}

func TestOwnMessageIsNotWaitedForForEver(t *testing.T) {
	r := newRig(t)
	first, second := r.waits(lease), r.joins(1)[0]
	r.handsOff()
	r.granted(first)
	r.messageAfter(ownMessageWait)
	r.under("it came so late that it may be anybody's", second)
}

// The server lacked the unlock's script, so the acquire ran before the unlock.
func TestHandOffThatWasRefusedMakesUpForItsMessage(t *testing.T) {
	r := newRig(t)
	w := r.waits(lease)
	r.handsOff()
	r.refused(w, lease)
	r.message()
	r.under("the message that was taken for its own", w)

	r = newRig(t)
	w = r.waits(lease)
	r.handsOff()
	r.message()
	r.refused(w, lease)
	r.under("the message had come before the refusal", w)
}

func TestHandOffThatFailedMakesUpForItsMessage(t *testing.T) {
	for name, fails := range map[string]func(*rig, *Waiter){
		"lost":     func(r *rig, w *Waiter) { r.opens(w); r.resolves(w) },
		"troubled": func(r *rig, w *Waiter) { r.troubled(w) },
		"rejected": func(r *rig, w *Waiter) { r.answered(w); r.does(func() { r.q.Rejected(w, errNet) }) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			w, next := r.waits(lease), r.joins(1)[0]
			r.handsOff()
			fails(r, w)
			for len(r.attempts) > 0 {
				r.refused(r.attempts[0], lease)
			}
			r.message()
			if len(r.attempts) != 1 {
				t.Fatal("the message that was taken for its own wakes nobody")
			}
			if a := r.attempts[0]; a != w && a != next {
				t.Fatal("it wakes a stranger")
			}
		})
	}
}

// The unlock was not answered, or ran after commands that were queued later.
func TestUnlockThatWentWrongMakesMessagesCountAgain(t *testing.T) {
	r := newRig(t)
	first, second := r.waits(lease), r.joins(1)[0]
	r.handsOff()
	r.does(r.q.ResetOwnMessages)
	r.granted(first)
	r.under("nothing was missed")
	r.message()
	r.under("it is no own message", second)

	r = newRig(t)
	first, second = r.waits(lease), r.joins(1)[0]
	r.handsOff()
	r.message()
	r.does(r.q.ResetOwnMessages)
	r.granted(first)
	r.under("it was taken for one", second)
}

func TestConfirmationMakesMessagesCountAgain(t *testing.T) {
	r := newRig(t)
	first, second := r.waits(lease), r.joins(1)[0]
	r.handsOff()
	r.confirmed()
	r.granted(first)
	r.under("confirmed", second)
	r.refused(second, lease)
	r.message()
	r.under("what was to come is gone", second)
}

func TestUnlockBehindATryBesideTheQueueIsHeardOf(t *testing.T) {
	r := newRig(t)
	w := r.waits(lease)
	r.handsOff()
	r.granted(w)
	r.tries(&Waiter{Shared: true})
	if r.handsOff() {
		t.Error("its message is taken for one that is of no use")
	}
}

func TestUnlockBehindAnAttemptOfTheQueueIsHeardOf(t *testing.T) {
	r := newRig(t)
	w := r.waits(lease)
	r.message()
	if r.handsOff() {
		t.Error("its message is taken for one that is of no use")
	}
	r.refused(w, lease)
	r.goesOn(ownMessageWait)
	r.under("no message came", w)
}

func TestLongRunOfHandOffsIsBrokenForOthers(t *testing.T) {
	r := newRig(t)
	ws := append([]*Waiter{r.waits(lease)}, r.joins(2*maxHandOffs)...)
	run := 0
	for r.handsOff() {
		r.granted(ws[run])
		r.message()
		if run++; run > maxHandOffs {
			t.Fatal("for ever")
		}
	}
	if run != maxHandOffs {
		t.Errorf("a run of %d", run)
	}
	r.under("others may")
	r.message()
	r.under("the message", ws[run])
	r.granted(ws[run])
	if !r.handsOff() {
		t.Error("the next run does not begin")
	}
}

func TestTryOfItsOwnBeginsANewRun(t *testing.T) {
	r := newRig(t)
	ws := append([]*Waiter{r.waits(lease)}, r.joins(2*maxHandOffs)...)
	for range 10 {
		r.handsOff()
		r.granted(ws[0])
		r.message()
		ws = ws[1:]
	}
	r.message()
	r.granted(ws[0])
	ws = ws[1:]
	for n := range maxHandOffs {
		if !r.handsOff() {
			t.Fatalf("broken after %d", n)
		}
		r.granted(ws[0])
		r.message()
		ws = ws[1:]
	}
}

// If no message can come, the callers must not wait until a lease ends.
func TestAfterALongRunTheHeadTriesByItselfSoon(t *testing.T) {
	r := newRig(t)
	w := r.waits(lease)
	r.q.handOffs = maxHandOffs
	if r.handsOff() {
		t.Fatal("handed on")
	}
	r.goesOn(ownMessageWait - 1)
	r.under("the message may still come")
	r.goesOn(1)
	r.under("it did not", w)
}

func TestClientThatIsAheadDoesNotHandOn(t *testing.T) {
	r := newRig(t)
	w := r.waits(lease)
	share := r.ahead()
	share.Granted(r.now)
	if r.handsOff() {
		t.Fatal("handed on")
	}
	share.Released(r.now, true)
	r.message()
	r.under("it steps back")
	r.goesOn(20 * ms)
	r.under("until its patience is over", w)
}

func TestNothingIsHandedOnInTrouble(t *testing.T) {
	r := newRig(t)
	w := r.waits(lease)
	r.message()
	r.troubled(w)
	if r.handsOff() {
		t.Error("handed on")
	}
	r.under("it pauses")
	r.goesOn(clock.FirstPause)
	r.under("and tries", w)
}

// Nobody waits, and the next caller makes an attempt anyway.
func TestUnlockThatNobodyWaitsForLeavesNoMessageToWaitFor(t *testing.T) {
	r := newRig(t)
	w := r.waits(lease)
	r.handsOff()
	r.granted(w)
	r.message()
	if !r.handsOff() {
		t.Fatal("its message is of use")
	}
	r.message()
	next := r.joins(1)[0]
	r.under("at once", next)
}

// The head leaves before its attempt is taken up.
func TestHandOffToAHeadThatHasJustLeftIsTheNextOnes(t *testing.T) {
	r := newRig(t)
	first, second := r.waits(lease), r.joins(1)[0]
	r.does(func() {
		r.q.HandOff(r.now)
		r.q.Leave(first)
	})
	r.under("the next", second)
}

func TestHandOffAllocatesNothing(t *testing.T) {
	now := time.Hour
	q := New(timeout, func(n time.Duration) time.Duration { return n - 1 })
	run := func() {
		for a := q.Next(now); a.Do != Nothing; a = q.Next(now) {
		}
	}
	var first, second Waiter
	got := testing.AllocsPerRun(1000, func() {
		first, second = Waiter{}, Waiter{}
		for _, w := range []*Waiter{&first, &second} {
			q.Join(now, w, false)
			run()
		}
		q.Granted(now, &first, lease)
		run()
		q.Confirmed()
		run()
		q.Refused(now, &second, lease)
		run()
		q.HandOff(now)
		run()
		q.Granted(now, &second, lease)
		run()
		q.Message(now, 1)
		run()
		now += unsubscribeDelay
		q.Tick(now)
		run()
	})
	if got > 0 {
		t.Errorf("%v allocations", got)
	}
	if !first.Settled || !second.Settled || q.subscribed {
		t.Error("the loop does not do what it is for")
	}
}

// No message of the unlock makes up for an attempt that the server refused just before.
func TestReleaseWithoutAMessageMakesUpForAnAttemptUnderWay(t *testing.T) {
	for name, refusedFirst := range map[string]bool{"refused before the answer": true, "refused behind the answer": false} {
		t.Run(name, func(t *testing.T) {
			r := ruled(t, kind.Spin.Traits())
			w := r.joins(1)[0]
			if r.handsOff() {
				t.Error("it was handed on to an attempt that may run before it")
			}
			if refusedFirst {
				r.refused(w, 128*ms)
				r.under("it pauses")
			}
			r.does(r.q.Released)
			if !refusedFirst {
				r.refused(w, 128*ms)
			}
			r.under("it was refused before the unlock ran", w)
		})
	}
}

func TestReleaseWithoutAMessageLeavesRoomBehindManyHandOffs(t *testing.T) {
	r := ruled(t, kind.Spin.Traits())
	ws := r.joins(2)
	r.refused(ws[0], lease)
	r.q.handOffs = kind.Spin.Traits().HandOffs
	if r.handsOff() {
		t.Error("it was handed on")
	}
	r.does(r.q.Released)
	r.under("others may come first")
	r.goesOn(ownMessageWait)
	r.under("nobody came", ws[0])
}
