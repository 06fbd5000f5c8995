package waitqueue

import (
	"math/rand/v2"
	"testing"
	"time"
)

// start is when a FairShare's test begins: its clock has run for long.
const start = time.Hour

// holder drives a FairShare through whole acquisitions of 1 ms.
type holder struct {
	FairShare
	now time.Duration
}

func newHolder(clients int) *holder {
	h := &holder{now: start}
	h.SetClients(clients)
	h.SetClients(clients)
	return h
}

// take is an acquisition and its release. If the client listens, the release's message follows
// the answer.
func (h *holder) take(listens bool) {
	h.Granted(h.now)
	h.now += ms
	h.Released(h.now, listens)
	if listens {
		h.now += 100 * us
		h.MessageReceived(h.now)
	}
}

// takeTooMuch acquires until the FairShare says to wait. It returns the end of that wait.
func (h *holder) takeTooMuch(t *testing.T) time.Duration {
	t.Helper()
	for range 100 {
		if at := h.YieldUntil(h.now); at > 0 {
			return at
		}
		h.take(true)
	}
	t.Fatal("100 acquisitions in a row and no wait")
	return 0
}

// otherClient is another client's release.
func (h *holder) otherClient() {
	h.now += ms
	h.MessageReceived(h.now)
}

// wasteOne waits in vain, if a wait is due.
func (h *holder) wasteOne() bool {
	at := h.YieldUntil(h.now)
	if at == 0 {
		return false
	}
	h.now = at
	h.take(true)
	return true
}

func TestNobodyElseNoWait(t *testing.T) {
	for _, clients := range []int{0, 1} {
		h := newHolder(clients)
		for range 200 {
			h.take(true)
			if at := h.YieldUntil(h.now); at != 0 {
				t.Fatalf("%d clients: a wait until %v", clients, at)
			}
		}
	}
}

func TestWhoTakesTooMuchWaitsForItsPatience(t *testing.T) {
	for _, clients := range []int{2, 3, 5} {
		h := newHolder(clients)
		at := h.takeTooMuch(t)
		if want := h.now + firstPatience; at != want {
			t.Errorf("%d clients: until %v, want %v, its patience after the message", clients, at, want)
		}
		if got := h.YieldUntil(at - 1); got != at {
			t.Errorf("%d clients: %v just before, want %v still", clients, got, at)
		}
		if got := h.YieldUntil(at); got != 0 {
			t.Errorf("%d clients: %v when the patience is over, want 0", clients, got)
		}
	}
}

func TestAFairShareIsNeverTooMuch(t *testing.T) {
	for _, clients := range []int{2, 3, 5} {
		h := newHolder(clients)
		for range 300 {
			h.take(true)
			for range clients - 1 {
				h.otherClient()
			}
			if at := h.YieldUntil(h.now); at != 0 {
				t.Fatalf("%d clients: a wait until %v", clients, at)
			}
		}
	}
}

func TestReleasesAloneCountForWhoDoesNotListen(t *testing.T) {
	listening, deaf := newHolder(2), newHolder(2)
	listening.takeTooMuch(t)
	for range 100 {
		if deaf.YieldUntil(deaf.now) > 0 {
			break
		}
		deaf.take(false)
	}
	if listening.ahead != deaf.ahead {
		t.Errorf("%v ahead without listening, %v with", deaf.ahead, listening.ahead)
	}
}

func TestOthersReleasesEndTheWait(t *testing.T) {
	h := newHolder(2)
	before := h.takeTooMuch(t)
	h.otherClient()
	if at := h.YieldUntil(h.now); at != 0 && at <= before {
		t.Errorf("until %v after another release, want later than %v, or at once", at, before)
	}
	for range 2 * mostBeyond {
		h.otherClient()
	}
	if at := h.YieldUntil(h.now); at != 0 {
		t.Errorf("until %v although others have caught up", at)
	}
}

func TestALongRunIsNotPaidBackForEver(t *testing.T) {
	h := newHolder(2)
	h.budget, h.filledAt = 0, h.now // no budget to wait with
	for range 500 {
		h.filledAt = h.now
		h.take(true)
	}
	h.budget = mostBudget
	for n := 0; h.YieldUntil(h.now) > 0; n++ {
		if n > 2*(mostBeyond+1) {
			t.Fatalf("still waiting after %d releases of others", n)
		}
		h.otherClient()
	}
}

func TestWhoHadNothingIsNotOwedForEver(t *testing.T) {
	h := newHolder(2)
	for range 500 {
		h.otherClient()
	}
	n := 0
	for ; h.YieldUntil(h.now) == 0 && n < 100; n++ {
		h.take(true)
	}
	// Each acquisition puts it ahead by about one half.
	if most := 2 + int((mostBehind+h.bound())/0.45); n > most {
		t.Errorf("%d in a row after having had nothing, want at most %d", n, most)
	}
}

// A hold longer than the patience must not make it look as if this client had waited for others
// after its release.
func TestAskedFromInsideItIsAboutTheReleaseToCome(t *testing.T) {
	h := newHolder(2)
	h.now = h.takeTooMuch(t)
	h.Granted(h.now)
	h.now += 100 * ms
	if got, want := h.YieldUntil(h.now), h.now+h.Patience(); got != want {
		t.Errorf("before a release after 100 ms: %v, want %v", got, want)
	}
}

// The coming release takes off its share: no wait begins that it would end at once.
func TestAskedFromInsideItCountsTheReleaseToCome(t *testing.T) {
	h := newHolder(2)
	h.takeTooMuch(t)
	h.Granted(h.now)
	h.ahead = h.bound() + 0.4 // with two clients, one's share is more than one half
	if at := h.YieldUntil(h.now); at != 0 {
		t.Errorf("until %v, and at once after the release", at)
	}
	h.ahead = h.bound() + 1
	if at := h.YieldUntil(h.now); at == 0 {
		t.Error("at once, and a wait after the release")
	}
}

func TestAHoldLostWithoutAWordPutsNobodyOffForEver(t *testing.T) {
	h := newHolder(2)
	h.now = h.takeTooMuch(t)
	h.Granted(h.now)
	h.now += 100 * ms
	at := h.YieldUntil(h.now)
	if at == 0 {
		t.Fatal("no wait")
	}
	if got := h.YieldUntil(at); got != 0 {
		t.Errorf("asked again when the patience is over: %v, want 0", got)
	}
}

func TestAbsenceIsCourtesy(t *testing.T) {
	for _, r := range []struct {
		name   string
		away   time.Duration
		inside bool
		waits  bool
	}{
		{"long away", firstPatience + 1, false, false},
		{"not long away", firstPatience, false, true},
		{"inside all the time", time.Second, true, true},
	} {
		h := newHolder(2)
		h.takeTooMuch(t)
		if r.inside {
			h.Granted(h.now)
		}
		h.now = h.releasedAt + r.away
		h.Arrived(h.now)
		h.freeAt = h.now // a release just now
		if got := h.YieldUntil(h.now) > 0; got != r.waits {
			t.Errorf("%s: waits is %v, want %v", r.name, got, r.waits)
		}
	}
}

// TestUntilIsNearAndEnds shows that after any sequence of events a wait is no longer than the
// patience, and that an attempt may be made at its end.
func TestUntilIsNearAndEnds(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 2))
		var share FairShare
		now := start
		waits := 0
		for range 300 {
			now += time.Duration(rng.Int64N(int64(5 * ms)))
			switch rng.IntN(7) {
			case 0:
				share.Arrived(now)
			case 1, 2:
				share.Granted(now)
			case 3:
				share.Refused(now)
			case 4:
				share.Released(now, rng.IntN(2) == 0)
			case 5:
				share.MessageReceived(now)
			case 6:
				share.SetClients(rng.IntN(5))
			}
			if p := share.Patience(); p < leastPatience || p > mostPatience {
				t.Fatalf("seed %d: a patience of %v", seed, p)
			}
			at := share.YieldUntil(now)
			if at == 0 {
				continue
			}
			waits++
			if at <= now || at > now+share.Patience() {
				t.Fatalf("seed %d: until %v, %v from now, with a patience of %v", seed, at, at-now, share.Patience())
			}
			probe := share
			if again := probe.YieldUntil(at); again != 0 {
				t.Fatalf("seed %d: at the end of the wait: until %v", seed, again)
			}
		}
		if waits == 0 {
			t.Fatalf("seed %d: no wait", seed)
		}
	}
}
