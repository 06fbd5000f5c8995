package waitqueue

import (
	"testing"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/kind"
)

// ruled makes a rig whose queue follows rules.
func ruled(t *testing.T, rules *kind.Traits) *rig {
	r := newRig(t)
	r.q.Follow(rules, nil)
	return r
}

// settled adds n waiters, all of which wait: the first was refused again after the channel was confirmed.
func (r *rig) settled(n int) []*Waiter {
	r.t.Helper()
	ws := r.joins(n)
	for range 2 {
		for len(r.attempts) > 0 {
			r.refused(r.attempts[0], lease)
		}
		if r.subs == 1 && !r.q.Listening() {
			r.confirmed()
		}
	}
	r.under("all wait")
	return ws
}

func (r *rig) messageFor(n int) { r.does(func() { r.q.Message(r.now, n) }) }

func TestMessageWakesAsManyAsItIsWorth(t *testing.T) {
	for _, tc := range []struct{ n, attempts int }{{1, 1}, {2, 2}, {3, 3}, {9, 4}, {kind.All, 4}} {
		r := ruled(t, &kind.Traits{})
		ws := r.settled(4)
		r.messageFor(tc.n)
		r.under("the head looks", ws[0])
		r.granted(ws[0])
		r.under("as many as it is worth together", ws[1:tc.attempts]...)
		for _, w := range ws[1:tc.attempts] {
			r.granted(w)
		}
		r.under("no more than it is worth")
	}
}

func TestMessagesAddUpWhereManyMayHaveTheName(t *testing.T) {
	r := ruled(t, &kind.Traits{})
	ws := r.settled(5)
	r.messageFor(1)
	r.messageFor(2)
	r.messageFor(1)
	r.under("the first message", ws[0])
	r.granted(ws[0])
	r.under("the head looks for the others", ws[1])
	r.granted(ws[1])
	r.under("each message counts", ws[2], ws[3])
	r.granted(ws[3])
	r.granted(ws[2])
	r.under("the fifth was not woken")
}

func TestMessageWakesNoMoreThanMayHaveTheName(t *testing.T) {
	r := newRig(t)
	ws := r.settled(3)
	r.messageFor(kind.All)
	r.under("one may have it", ws[0])
	r.granted(ws[0])
	r.under("the others wait for its release")

	r = ruled(t, &kind.Traits{Width: 2})
	ws = r.settled(3)
	r.messageFor(kind.All)
	r.granted(ws[0])
	r.granted(ws[1])
	r.under("two may have it")
}

// comes adds a newcomer, queued or unqueued as its caller would add it.
func (r *rig) comes() *Waiter {
	r.t.Helper()
	if r.q.Roomy() {
		return r.tries(new(Waiter))
	}
	return r.joins(1)[0]
}

func TestNewcomersTryAtOnceUntilOneWasRefused(t *testing.T) {
	r := ruled(t, &kind.Traits{})
	a, b, c := r.comes(), r.comes(), r.comes()
	r.under("nobody waits for another's answer", a, b, c)
	r.granted(b)
	r.refused(a, lease)
	d := r.comes()
	r.under("one was refused", c)
	r.refused(c, lease)
	r.confirmed()
	r.under("the head looks", a)
	r.granted(a)
	r.under("its grant lets the others try together", d, c)
	e := r.comes()
	r.under("nobody waits any more", d, c, e)
	r.refused(d, lease)
	r.is(d, running, nil)
	for _, w := range []*Waiter{c, e} {
		r.granted(w)
	}
	r.leaves(d)
	r.quiet()
}

// A waiter that was once answered "taken" waits through an outage, even if it tries outside the queue.
func TestWhoTriesTogetherWithOthersKnowsThatItWasToldBefore(t *testing.T) {
	r := ruled(t, &kind.Traits{})
	ws := r.settled(2)
	r.messageFor(kind.All)
	r.granted(ws[0])
	r.under("the other", ws[1])
	r.troubled(ws[1])
	r.goesOn(clock.FirstPause)
	r.now += timeout
	r.troubled(ws[1])
	r.is(ws[1], running, nil)
	r.goesOn(clock.LastPause)
	r.granted(ws[1])
	r.quiet()
}

func TestRefusalEndsAWakeUpAndNotTheNextOne(t *testing.T) {
	r := ruled(t, &kind.Traits{})
	ws := r.settled(3)
	r.messageFor(2)
	r.messageFor(1) // during the head's attempt
	r.refused(ws[0], lease)
	r.under("the later message", ws[0])
	r.refused(ws[0], lease)
	r.under("no wake-up is left")
}

func TestRefusalPassesTheWakeUpOn(t *testing.T) {
	r := ruled(t, &kind.Traits{PassOn: true})
	ws := r.settled(4)
	r.messageFor(1)
	r.refused(ws[0], lease)
	r.under("who is behind may want less", ws[1])
	r.granted(ws[1])
	r.under("one attempt of it was granted")

	r.messageFor(2)
	r.refused(ws[0], lease)
	r.refused(ws[2], lease)
	r.under("the last", ws[3])
	r.refused(ws[3], lease)
	r.under("all were refused")

	r.messageFor(1)
	r.under("the next wake-up begins with the head", ws[0])

	r = ruled(t, &kind.Traits{PassOn: true})
	ws = r.settled(2)
	r.messageFor(2)
	r.refused(ws[0], lease)
	r.granted(ws[1])
	r.under("nobody is left who was not refused")
}

func TestWakeUpThatIsPassedOnSkipsWhoLeaves(t *testing.T) {
	r := ruled(t, &kind.Traits{PassOn: true})
	ws := r.settled(4)
	r.messageFor(1)
	r.leaves(ws[1])
	r.refused(ws[0], lease)
	r.under("it skips who left", ws[2])
	r.leaves(ws[2])
	r.refused(ws[2], lease)
	r.under("whose attempt went on", ws[3])
	last := r.joins(1)[0]
	r.refused(ws[3], lease)
	r.under("who came meanwhile", last)
	r.unsent(last)
	r.under("what was not sent begins again", ws[0])
}

// A waiter that comes behind a refused one waits with it. When the refused one gives up, the other may want less.
func TestWhoWantsLessTriesWhenTheHeadLeaves(t *testing.T) {
	for _, row := range []struct {
		size  int
		tries bool
	}{{1, true}, {2, true}, {3, false}, {4, false}} {
		r := ruled(t, &kind.Traits{PassOn: true})
		head := r.settled(1)[0]
		head.Size = 3
		next := r.joins(1)[0]
		next.Size = row.size
		r.under("it came after the refusal")
		if r.leaves(head); row.tries {
			r.under("it wants less", next)
		} else {
			r.under("it would be refused too")
		}
	}

	r := ruled(t, &kind.Traits{PassOn: true})
	ws := r.settled(3)
	ws[0].Size, ws[1].Size, ws[2].Size = 2, 3, 1
	r.leaves(ws[1])
	r.under("the head did not leave")
}

func TestPassedOnWakeUpBeginsAgainWhenAnotherComes(t *testing.T) {
	r := ruled(t, &kind.Traits{PassOn: true})
	ws := r.settled(3)
	r.messageFor(1)
	r.refused(ws[0], lease)
	r.messageFor(1)
	r.refused(ws[1], lease)
	r.under("more may be free now", ws[0])
}

func TestTroubleEndsAWakeUpOfMany(t *testing.T) {
	r := ruled(t, &kind.Traits{PassOn: true})
	ws := r.settled(3)
	r.messageFor(2)
	r.refused(ws[0], lease)
	r.troubled(ws[1])
	r.under("it pauses")
	r.goesOn(clock.FirstPause)
	r.under("the head", ws[0])
}

func TestOneGrantOpensAGate(t *testing.T) {
	r := ruled(t, &kind.Traits{Gate: true})
	ws := r.settled(3)
	beside := r.tries(new(Waiter))
	r.message()
	r.granted(ws[0])
	for _, w := range ws {
		r.is(w, Granted, nil)
	}
	r.is(beside, running, nil)
	r.granted(beside)
	r.quiet()
}

func TestGateIsOpenedByWhoTriesBesideTheQueue(t *testing.T) {
	r := ruled(t, &kind.Traits{Gate: true})
	ws := r.settled(2)
	r.granted(r.tries(new(Waiter)))
	r.under("the head looks", ws[0])
	r.granted(ws[0])
	r.is(ws[0], Granted, nil)
	r.is(ws[1], Granted, nil)
}

func TestGateIsOpenedForThoseWhoCameBeforeTheQuestion(t *testing.T) {
	r := ruled(t, &kind.Traits{Gate: true})
	ws := r.settled(2)
	r.message()
	late := r.joins(2)
	r.granted(ws[0])
	r.is(ws[1], Granted, nil)
	r.is(late[0], running, nil)
	r.under("one looks for the others", late[0])
	r.refused(late[0], lease)
	r.is(late[1], running, nil)
	r.message()
	r.granted(late[0])
	r.is(late[1], Granted, nil)
}

func TestQueueWithoutAChannelPausesAndNeverSubscribes(t *testing.T) {
	r := ruled(t, &kind.Traits{Width: 1, Silent: true})
	ws := r.joins(2)
	for range 5 {
		r.refused(ws[0], 4*ms)
		r.under("it pauses")
		r.goesOn(4*ms - 1)
		r.under("it still does")
		r.goesOn(1)
	}
	r.granted(ws[0])
	r.leaves(ws[1])
	r.quiet()
	if r.subs > 0 {
		t.Errorf("%d subscriptions", r.subs)
	}
}

func TestWithoutHandOffOnlyTheMessageWakes(t *testing.T) {
	r := ruled(t, &kind.Traits{Width: 1})
	w := r.settled(1)[0]
	if r.handsOff() {
		t.Error("its message would be ignored")
	}
	r.under("nothing follows the unlock")
	r.message()
	r.under("the message wakes", w)
}

// Each release of a crowd within this client publishes a message, so messages come as fast as the server answers.
// Where an unlock hands nothing on, a delayed attempt would leave the name free meanwhile.
func TestQuickMessagesPutNothingOffWhereNothingIsHandedOn(t *testing.T) {
	r := ruled(t, kind.Semaphore(1).Traits())
	ws := r.settled(200)
	for i, w := range ws {
		r.messageAfter(50 * us)
		if len(r.attempts) != 1 {
			t.Fatalf("message %d: %d attempts are under way", i+1, len(r.attempts))
		}
		r.granted(w)
	}
}

// No message wakes a spin lock's waiter. So this client hands its release on, a few times in a row.
func TestSpinLockIsHandedOnWithoutAMessage(t *testing.T) {
	rules := kind.Spin.Traits()
	r := ruled(t, rules)
	ws := r.joins(2 * rules.HandOffs)
	r.refused(ws[0], 0)
	for _, w := range ws[:rules.HandOffs] {
		r.handsOff()
		r.under("the next follows", w)
		r.granted(w)
	}
	r.handsOff()
	r.under("others may")
}
