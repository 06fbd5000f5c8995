package waitqueue

import (
	"testing"
	"time"
)

// asks returns when the FairShare asks for a count within d. Each count is answered with clients.
func (h *holder) asks(d time.Duration, clients int) []time.Duration {
	var at []time.Duration
	for end := h.now + d; h.now < end; h.now += ms {
		if h.CountDue(h.now) {
			at = append(at, h.now)
			h.SetClients(clients)
		}
	}
	return at
}

func newPressed() *holder {
	h := &holder{now: start}
	h.take(false)
	h.take(false)
	return h
}

func TestAskingPausesDoubleWhileAlone(t *testing.T) {
	h := newPressed()
	at := h.asks(20*time.Second, 1)
	if len(at) < 8 || at[0] != start+2*ms {
		t.Fatalf("asked at %v", at)
	}
	pause := leastPause
	for i := range at[1:] {
		if got := at[i+1] - at[i]; got != pause {
			t.Fatalf("pause %d was %v, want %v", i, got, pause)
		}
		pause = min(2*pause, mostPause)
	}
}

func TestAskingIsSteadyWhileNotAlone(t *testing.T) {
	h := newPressed()
	at := h.asks(5*time.Second, 2)
	for i := range at[1:] {
		if got := at[i+1] - at[i]; got != leastPause {
			t.Fatalf("pause %d was %v, want %v", i, got, leastPause)
		}
	}
}

func TestASignOfOthersMakesItAskSoon(t *testing.T) {
	for _, r := range []struct {
		name string
		do   func(*holder)
		soon bool
	}{
		{"another client's message", func(h *holder) { h.MessageReceived(h.now) }, true},
		{"a refusal", func(h *holder) { h.Refused(h.now) }, true},
		{"its own message", func(h *holder) { h.take(true) }, false},
		{"its own message before the answer", func(h *holder) { h.Granted(h.now); h.MessageReceived(h.now); h.Released(h.now, true) }, false},
		{"a refusal while it is inside itself", func(h *holder) { h.Granted(h.now); h.Refused(h.now); h.Released(h.now, false) }, false},
	} {
		h := newPressed()
		at := h.asks(10*time.Second, 1)
		last := at[len(at)-1]
		h.now = last + 200*ms
		h.freeAt = h.now // a release, so that others still seem to want the lock
		r.do(h)
		if got := h.CountDue(h.now); got != r.soon {
			t.Errorf("%s: asks soon is %v, want %v", r.name, got, r.soon)
		}
	}
}

func TestWhoLeavesTheLockAloneDoesNotAsk(t *testing.T) {
	h := &holder{now: start}
	for range 100 {
		h.take(false)
		if h.CountDue(h.now) {
			t.Fatal("asked")
		}
		h.now += firstPatience + ms
	}
	h.take(false)
	h.take(false)
	if !h.CountDue(h.now) {
		t.Error("did not ask after two acquisitions in a row")
	}
}

func TestWhoWaitedOutOfCourtesyGoesOnAsking(t *testing.T) {
	h := newHolder(2)
	h.asks(ms, 2)
	h.now = h.takeTooMuch(t) + 2*longer
	h.take(true)
	h.now += leastPause
	if !h.CountDue(h.now) {
		t.Error("did not ask")
	}
}

func TestAClientIsMissedAtTheSecondCount(t *testing.T) {
	var share FairShare
	for i, r := range []struct{ count, clients int }{{1, 1}, {3, 3}, {2, 3}, {1, 2}, {2, 2}, {1, 2}, {1, 1}, {0, 1}} {
		share.SetClients(r.count)
		if share.clients != r.clients {
			t.Fatalf("count %d, %d: %d clients, want %d", i, r.count, share.clients, r.clients)
		}
	}
}
