package waitqueue

import (
	"testing"
	"time"
)

func TestWasteIsLimited(t *testing.T) {
	h := newHolder(2)
	h.takeTooMuch(t)
	began, wasted, n := h.now, time.Duration(0), 0
	for at := h.YieldUntil(h.now); at > 0; at = h.YieldUntil(h.now) {
		wasted += at - h.now
		h.wasteOne()
		if n++; n > 100 {
			t.Fatal("100 waits in vain in a row")
		}
	}
	if n < 3 {
		t.Errorf("gave up after %d waits in vain", n)
	}
	if most := mostBudget + (h.now-began)/allowance; wasted > most {
		t.Errorf("%v wasted, the budget was %v", wasted, most)
	}
	if h.Patience() <= firstPatience {
		t.Errorf("patience is %v after %d waits in vain", h.Patience(), n)
	}
	// In the long run the waste stays within its allowance.
	began, wasted = h.now, 0
	for h.now < began+20*time.Second {
		if at := h.YieldUntil(h.now); at > 0 {
			wasted += at - h.now
			h.now = at
		}
		h.take(true)
	}
	part := float64(wasted) / float64(h.now-began)
	if least, most := 0.8/allowance, 1.1/allowance; part < least || part > most {
		t.Errorf("wasted %.4f of the time, want between %.4f and %.4f", part, least, most)
	}
}

func TestPatienceGrowsByWasteAndShrinksByUse(t *testing.T) {
	h := newHolder(2)
	for range 40 {
		h.budget = mostBudget
		h.takeTooMuch(t)
		before := h.Patience()
		h.wasteOne()
		if got, want := h.Patience(), min(before+longer, mostPatience); got != want {
			t.Fatalf("patience went from %v to %v by a waste, want %v", before, got, want)
		}
	}
	if h.Patience() != mostPatience {
		t.Fatalf("patience is %v after 40 wastes, want %v", h.Patience(), mostPatience)
	}
	for range 200 {
		h.takeTooMuch(t)
		before := h.Patience()
		h.otherClient()
		if got, want := h.Patience(), max(before-shorter, leastPatience); got != want {
			t.Fatalf("patience went from %v to %v by use, want %v", before, got, want)
		}
		h.YieldUntil(h.now)
		h.otherClient()
	}
	if h.Patience() != leastPatience {
		t.Fatalf("patience is %v after 200 waits of use, want %v", h.Patience(), leastPatience)
	}
}

func TestUseGivesBudgetBack(t *testing.T) {
	for _, by := range []struct {
		name string
		do   func(*holder)
	}{
		{"a message", func(h *holder) { h.MessageReceived(h.now) }},
		{"a refusal", func(h *holder) { h.Refused(h.now) }},
	} {
		h := newHolder(2)
		h.takeTooMuch(t)
		h.budget = 10 * ms
		patience := h.Patience()
		by.do(h)
		if got, want := h.budget, 10*ms+patience/refund; got != want {
			t.Errorf("%s: a budget of %v, want %v", by.name, got, want)
		}
		by.do(h)
		if got, want := h.budget, 10*ms+patience/refund; got != want {
			t.Errorf("%s, the second for one wait: a budget of %v, want %v", by.name, got, want)
		}
	}
}

func TestAMessageWhenNobodyWaitsGivesNothingBack(t *testing.T) {
	h := newHolder(2)
	h.takeTooMuch(t)
	h.Granted(h.now) // by a call that does not wait
	h.Released(h.now, false)
	h.budget = 10 * ms
	h.otherClient()
	if h.budget != 10*ms || h.Patience() != firstPatience {
		t.Errorf("budget %v, patience %v", h.budget, h.Patience())
	}
}

func TestACallThatDoesNotWaitWastesNothing(t *testing.T) {
	h := newHolder(2)
	at := h.takeTooMuch(t)
	budget := h.budget
	h.now = at - us
	h.Granted(h.now)
	if h.budget != budget || h.Patience() != firstPatience {
		t.Errorf("budget %v, patience %v; they were %v and %v", h.budget, h.Patience(), budget, firstPatience)
	}
}

// A wait that began before the message of the client's own release, and that this message ends,
// has cost nothing.
func TestAWaitThatItsOwnReleaseEndsIsNoWaste(t *testing.T) {
	h := newHolder(2)
	h.takeTooMuch(t)
	h.ahead = h.bound() + 0.1
	h.yielding = false
	h.Granted(h.now)
	h.ahead = h.bound() + 0.1
	h.Released(h.now, true)
	if h.YieldUntil(h.now) == 0 {
		t.Fatal("no wait before the message")
	}
	budget, patience := h.budget, h.Patience()
	h.now += 300 * us
	h.MessageReceived(h.now)
	if at := h.YieldUntil(h.now); at != 0 {
		t.Fatalf("until %v after the message", at)
	}
	h.now += 10 * ms // a slow network
	h.Granted(h.now)
	if h.budget != budget || h.Patience() != patience {
		t.Errorf("budget %v, patience %v; they were %v and %v", h.budget, h.Patience(), budget, patience)
	}
}

// A client's own message says nothing about others, whether it comes before or after the answer.
// A second message does.
func TestOnlyAnotherClientsMessageMakesAWaitUseful(t *testing.T) {
	for _, r := range []struct {
		name    string
		release func(*holder)
	}{
		{"message after the answer", func(h *holder) { h.Released(h.now, true); h.YieldUntil(h.now); h.MessageReceived(h.now) }},
		{"message before the answer", func(h *holder) { h.MessageReceived(h.now); h.Released(h.now, true) }},
		{"no message", func(h *holder) { h.Released(h.now, false) }},
		{"one message was lost, then none", func(h *holder) {
			h.Released(h.now, true)
			h.Granted(h.now)
			h.Released(h.now, false)
		}},
		{"one message was lost", func(h *holder) {
			h.Released(h.now, true)
			h.Granted(h.now)
			h.Released(h.now, true)
			h.YieldUntil(h.now)
			h.MessageReceived(h.now)
		}},
	} {
		for _, foreign := range []bool{false, true} {
			h := newHolder(2)
			h.takeTooMuch(t)
			h.yielding = false
			h.Granted(h.now)
			h.now += ms
			r.release(h)
			if h.YieldUntil(h.now) == 0 {
				t.Fatalf("%s: no wait", r.name)
			}
			if foreign {
				h.MessageReceived(h.now)
			}
			h.now += 10 * ms
			h.Granted(h.now)
			if wasted := h.Patience() > firstPatience; wasted == foreign {
				t.Errorf("%s, then another client's %v: a patience of %v", r.name, foreign, h.Patience())
			}
		}
	}
}
