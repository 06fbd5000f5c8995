package waitqueue

import (
	"testing"
	"time"
)

func TestHeadThatIsPutOffListensMeanwhile(t *testing.T) {
	r := newRig(t)
	r.ahead()
	w := r.joins(1)[0]
	r.under("it steps back")
	if !r.subscribed {
		t.Error("it does not listen")
	}
	r.goesOn(20 * ms)
	r.under("its patience is over", w)
}

// The attempts are spread over the messages of a crowd, even after many messages.
func TestQueueTriesAtFewOfACrowdsMessages(t *testing.T) {
	r := newRig(t)
	w, tries := r.waits(lease), 0
	const messages = 2000
	for range messages {
		r.goesOn(100 * us)
		for r.message(); len(r.attempts) > 0; tries++ {
			r.refused(w, lease)
		}
	}
	if tries < messages/200 || tries > messages/10 {
		t.Errorf("%d tries for %d messages", tries, messages)
	}
}

// A client that was away for a while has left room for others by its absence.
func TestPolicyIsToldWhoArrives(t *testing.T) {
	r := newRig(t)
	r.ahead()
	r.goesOn(time.Second)
	w := r.joins(1)[0]
	r.refused(w, lease)
	r.message()
	r.under("another's release", w)
}

// A refusal is a sign of other clients, so they are counted soon.
func TestPolicyIsToldOfRefusals(t *testing.T) {
	for _, refused := range []bool{true, false} {
		r := newRig(t)
		share := new(FairShare)
		for range 20 {
			share.SetClients(1)
		}
		r.q.Use(share)
		for range 2 {
			share.Granted(r.now)
			share.Released(r.now, false)
		}
		if !share.CountDue(r.now) {
			t.Fatal("the clients are never counted")
		}
		share.CountFailed()
		w := r.joins(1)[0]
		if refused {
			r.refused(w, lease)
		}
		if soon := share.CountDue(r.now + 100*ms); soon != refused {
			t.Errorf("refused %v, counted soon %v", refused, soon)
		}
	}
}

// A dropped queue is reused for another name.
func TestDroppedQueueIsAsNew(t *testing.T) {
	r := newRig(t)
	w := crowded(r)
	r.does(func() { r.q.HandOff(r.now) })
	for len(r.attempts) > 0 {
		r.granted(w)
	}
	r.goesOn(unsubscribeDelay)
	r.quiet()
	want := New(timeout, nil)
	got := r.q
	got.random, got.answers = nil, 0
	got.Use(nil)
	if got.policy != want.policy || got.handOff != want.handOff || got.trouble != want.trouble ||
		got.wakes != 0 || got.expiryDeadline != 0 || got.notBefore != 0 || got.unsubscribeAt != 0 || got.confirmed || len(got.dues) > 0 {
		t.Errorf("%+v", got)
	}
}
