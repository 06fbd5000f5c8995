package waitqueue

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
)

var errRejected = errors.New("rejected")

// storm drives a queue with random events that its caller may report in the state that it is in.
type storm struct {
	*rig
	rng    *rand.Rand
	share  *FairShare
	alive  []*Waiter // joined, and not settled at the last check
	opened map[*Waiter]bool
	owed   bool // a wake-up was raised, and no attempt has followed
	held   bool // this client holds, as far as that matters
	log    []string
}

func (s *storm) lead() *Waiter {
	for _, w := range s.attempts {
		if w.queued {
			return w
		}
	}
	return nil
}

// joinsOne adds a waiter of a random kind.
func (s *storm) joinsOne() string {
	w := &Waiter{}
	if s.rng.IntN(4) == 0 {
		w.Shared = s.rng.IntN(3)
	}
	if s.rng.IntN(3) == 0 {
		w.Until = s.now + time.Duration(s.rng.Int64N(int64(time.Second)))
	}
	s.alive = append(s.alive, w)
	if w.OneTry = s.rng.IntN(6) == 0; w.OneTry || w.Shared != nil || s.q.Roomy() {
		s.tries(w)
		return "joins beside the queue"
	}
	s.does(func() { s.q.Join(s.now, w, s.held) })
	return "joins"
}

// answers ends an attempt that is under way, or opens it.
func (s *storm) answers() string {
	w := s.attempts[s.rng.IntN(len(s.attempts))]
	led := s.q.leading == w
	if s.opened[w] {
		delete(s.opened, w)
		s.resolves(w)
		return "resolved"
	}
	switch s.rng.IntN(12) {
	case 0, 1, 2:
		if s.share != nil {
			s.share.Granted(s.now)
		}
		s.held = !w.Settled
		s.granted(w)
		return "granted"
	case 3:
		s.owed = s.owed || led
		s.unsent(w)
		return "unsent"
	case 4:
		s.owed = s.owed || led
		s.answered(w)
		s.does(func() { s.q.Rejected(w, errRejected) })
		return "rejected"
	case 5:
		s.owed = s.owed && !led
		s.troubled(w)
		return "troubled"
	case 6:
		s.owed = s.owed && !led
		s.opened[w] = true
		s.opens(w)
		return "open"
	default:
		s.refused(w, time.Duration(s.rng.Int64N(int64(2*time.Second)))-time.Millisecond)
		return "refused"
	}
}

// releases makes an unlock of this client.
func (s *storm) releases() string {
	s.held = false
	s.handsOff()
	if s.share != nil {
		s.share.Released(s.now, s.q.Listening())
	}
	if s.rng.IntN(5) == 0 {
		s.owed = s.owed || s.q.ownMessages == 0
		s.does(s.q.ResetOwnMessages)
		return "releases, and it goes wrong"
	}
	return "releases"
}

// hears makes a random event of the channel.
func (s *storm) hears() string {
	switch n := s.rng.IntN(30); {
	case n == 0:
		s.does(func() { s.q.SubscriptionRefused(errRejected) })
		s.owed = false
		return "the subscription is refused"
	case n < 6 || !s.q.Listening():
		s.owed = true
		s.confirmed()
		return "confirmed"
	default:
		s.owed = s.owed || s.q.ownMessages == 0 || s.now >= s.q.ownMessagesUntil
		s.message()
		return "message"
	}
}

func (s *storm) step() string {
	switch n := s.rng.IntN(20); {
	case n < 3 || s.dropped: // without a queue no other event can be reported
		return s.joinsOne()
	case n < 9 && len(s.attempts) > 0:
		return s.answers()
	case n < 12 && s.subscribed:
		return s.hears()
	case n == 12:
		return s.releases()
	case n == 13 && len(s.alive) > 0:
		s.leaves(s.alive[s.rng.IntN(len(s.alive))])
		return "leaves"
	case n == 14:
		s.does(func() { s.q.LetThrough(s.rng.IntN(3)) })
		return "an owner holds"
	case n == 15:
		s.owed = true
		s.does(s.q.WakeHead)
		return "the head is woken"
	case n == 16 && s.rng.IntN(2) == 0:
		s.does(func() { s.q.GivesBack(s.now, time.Duration(s.rng.Int64N(int64(20*ms)))) })
		return "gives back in vain"
	case n == 16:
		s.owed = s.owed || !s.q.Listening()
		s.does(s.q.GivenBack)
		return "given back"
	default:
		s.goesOn(time.Duration(s.rng.ExpFloat64() * float64(5*ms)))
		return "time goes on"
	}
}

// holds checks what must be true between events.
func (s *storm) holds() {
	s.t.Helper()
	s.alive = slices.DeleteFunc(s.alive, func(w *Waiter) bool { return w.Settled })
	led := 0
	for _, w := range s.attempts {
		if w.queued {
			led++
		}
	}
	lead := s.lead()
	if led > 1 || s.q.leading != lead {
		s.t.Fatalf("%d attempts of the queue are under way", led)
	}
	if s.timer != s.q.timerAt {
		s.t.Fatalf("the timer is at %v, the queue believes in %v", s.timer, s.q.timerAt)
	}
	if s.subscribed != s.q.subscribed {
		s.t.Fatal("the subscription is another than the queue believes in")
	}
	if s.owed = s.owed && s.q.Len() > 0; s.owed && lead == nil && (s.timer == 0 || s.timer > max(s.now+12*ms, s.q.heldOff)) {
		s.t.Fatalf("a wake-up is lost: %d pending, not before %v, timer %v from now, %d wait", s.q.wakes, s.q.notBefore-s.now, s.timer-s.now, s.q.Len())
	}
	if s.q.Len() > 0 && lead == nil && s.timer == 0 {
		s.t.Fatal("they wait for nothing")
	}
	for _, w := range s.alive {
		if !w.queued && !w.trying && (s.timer == 0 || s.timer > w.dueAt) {
			s.t.Fatal("one beside the queue waits for nothing")
		}
		if w.queued && w.OneTry {
			s.t.Fatal("one that wants one attempt queues")
		}
	}
	if s.q.Len() == 0 && s.q.unqueued.size == 0 && lead == nil && !s.dropped && (s.timer == 0 || s.timer > s.now+unsubscribeDelay) {
		s.t.Fatal("nobody is left, and the queue is")
	}
}

// ends answers all attempts and checks that nothing is left.
func (s *storm) ends() {
	s.t.Helper()
	for n := 0; len(s.alive) > 0 || len(s.attempts) > 0; n++ {
		if n > 10_000 {
			s.t.Fatalf("%d are never served", len(s.alive))
		}
		if len(s.attempts) == 0 {
			s.goesOn(longestWait)
		}
		for _, w := range slices.Clone(s.attempts) {
			if s.opened[w] {
				delete(s.opened, w)
				s.resolves(w)
			} else {
				s.granted(w)
			}
		}
		s.holds()
	}
	s.goesOn(unsubscribeDelay)
	s.quiet()
}

// TestRandomEventsKeepTheRules shows that after any sequence of events at most one attempt of the queue is under way,
// no wake-up is lost, every waiter is settled once, and nothing is left when all waiters are gone.
func TestRandomEventsKeepTheRules(t *testing.T) {
	seeds := uint64(3000)
	if testing.Short() {
		seeds = 300
	}
	counts := map[string]int{}
	for seed := range seeds {
		s := &storm{rig: newRig(t), rng: rand.New(rand.NewPCG(seed, 1)), opened: map[*Waiter]bool{}}
		s.q = New(timeout, func(n time.Duration) time.Duration { return time.Duration(s.rng.Int64N(int64(n))) })
		s.dropped = true
		s.led = func() { s.owed = false }
		switch {
		case seed%4 == 1:
			s.q.Follow(new(kind.Traits), nil) // any number of owners may have the name
		case seed%2 == 0:
			s.share = new(FairShare)
			s.share.SetClients(int(seed % 20))
			s.q.Use(s.share)
		}
		t.Cleanup(func() {
			if t.Failed() && len(s.log) > 0 {
				t.Logf("seed %d: %q", seed, s.log[max(len(s.log)-30, 0):])
			}
		})
		for range 200 {
			s.log = append(s.log, s.step())
			counts[s.log[len(s.log)-1]]++
			s.holds()
		}
		s.ends()
		s.log = nil
	}
	for _, what := range []string{"joins", "granted", "refused", "unsent", "rejected", "troubled", "open", "resolved", "message", "releases",
		"releases, and it goes wrong", "gives back in vain", "the subscription is refused", "an owner holds"} {
		if counts[what] < int(seeds) {
			t.Errorf("%q happened %d times only", what, counts[what])
		}
	}
}
