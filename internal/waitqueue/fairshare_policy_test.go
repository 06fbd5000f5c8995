package waitqueue

import (
	"math/rand/v2"
	"testing"
	"time"
)

// refused is a head that was refused and has no time limit.
var refused = Head{Refused: true}

// latest stands for the random numbers, and always gives the greatest.
func latest(n time.Duration) time.Duration { return n - 1 }

// crowd drives a Policy through releases that follow each other.
type crowd struct {
	Policy
	now time.Duration
}

func newCrowd() *crowd { return &crowd{now: start} }

// hears reports n messages, each gap after the one before.
func (c *crowd) hears(n int, gap time.Duration) {
	for range n {
		c.now += gap
		c.Heard(c.now, false, rand.N[time.Duration])
	}
}

func TestTriesAreSpreadWhereMessagesCrowd(t *testing.T) {
	c := newCrowd()
	tries, messages := 0, 0
	for range 2000 {
		messages++
		c.hears(1, 100*us)
		if put := c.NotBefore(c.now, refused); put > c.now+longestDelay {
			t.Fatalf("put off for %v", put-c.now)
		} else if put == 0 {
			tries++
			c.delayedUntil = 0
		}
	}
	if tries == 0 || tries > messages/3 {
		t.Errorf("%d tries for %d messages", tries, messages)
	}
}

// On a busy machine a client may notice a due attempt only at the next message. Then it makes the attempt.
func TestMessageLeavesATryThatIsDue(t *testing.T) {
	c := newCrowd()
	tries, messages := 0, 0
	for range 2000 {
		messages++
		if c.hears(1, 100*us); c.NotBefore(c.now, refused) > 0 {
			continue
		}
		c.delayedUntil = 0
		if messages > 1000 {
			tries++
		}
	}
	if tries < 1000/spreadIntervals {
		t.Errorf("%d tries for the last 1000 of %d messages", tries, messages)
	}
}

func TestMessageAfterAPauseIsFollowedAtOnce(t *testing.T) {
	c := newCrowd()
	c.hears(100, 100*us)
	for i := range 100 {
		if c.hears(1, 2*ms); c.NotBefore(c.now, refused) > 0 && i > 3 {
			t.Fatalf("message %d after the crowd has gone is put off", i)
		}
	}
}

func TestFirstMessagesAreFollowedAtOnce(t *testing.T) {
	c := newCrowd()
	if c.hears(1, us); c.NotBefore(c.now, refused) > 0 {
		t.Fatal("the first message is put off")
	}
	if c.hears(1, time.Second); c.NotBefore(c.now, refused) > 0 {
		t.Fatal("the second message is put off")
	}
}

func TestWhoHasNoAnswerOrNoTimeIsNotDelayed(t *testing.T) {
	c := newCrowd()
	c.hears(100, 100*us)
	c.delayedUntil = 0
	c.Heard(c.now, false, latest)
	at := c.NotBefore(c.now, refused)
	if at <= c.now {
		t.Fatal("one that was told does not wait")
	}
	if c.NotBefore(c.now, Head{}) > 0 {
		t.Error("one that was never told waits")
	}
	if c.NotBefore(c.now, Head{Refused: true, Until: at}) > 0 {
		t.Error("one whose wait elapses by then waits")
	}
	if c.NotBefore(c.now, Head{Refused: true, Until: at + 1}) != at {
		t.Error("one whose wait elapses later does not wait")
	}
}

// A client's own message is no sign of a crowd.
func TestOwnMessagesDoNotThrottle(t *testing.T) {
	c := newCrowd()
	for range 100 {
		c.now += 100 * us
		c.Heard(c.now, true, latest)
	}
	if c.NotBefore(c.now, refused) > 0 || c.quickReleases > 0 {
		t.Error("own messages delay a try")
	}
}

func TestAPolledTryIsNotFarAway(t *testing.T) {
	for _, interval := range []time.Duration{0, 10 * us, 100 * us, quickInterval} {
		c := newCrowd()
		c.interval = interval
		for range 1000 {
			at := c.Poll(c.now, AfterRefusal, rand.N[time.Duration])
			if at < c.now || at > c.now+min(time.Duration(AfterRefusal)*interval, longestPoll) {
				t.Fatalf("interval %v: a try after %v", interval, at-c.now)
			}
			if at > c.now && c.NotBefore(c.now, refused) != at {
				t.Fatalf("interval %v: not put off until then", interval)
			}
		}
	}
}

func TestFewClientsStayOnTheChannel(t *testing.T) {
	for listening, leaves := range map[int]bool{0: false, 2: false, manyClients - 1: false, manyClients: true, 100: true} {
		c := newCrowd()
		share := new(FairShare)
		share.SetClients(listening)
		c.Share = share
		c.hears(100, 100*us)
		if c.quickReleases < manyQuickReleases || c.Crowded() != leaves {
			t.Errorf("%d listen: leaves %v after %d quick messages", listening, c.Crowded(), c.quickReleases)
		}
	}
}

// If holds are longer than that, refusing clients takes little time.
func TestLongHoldsAreNoReasonToLeaveTheChannel(t *testing.T) {
	c := newCrowd()
	share := new(FairShare)
	share.SetClients(100)
	c.Share = share
	c.hears(100, 100*us)
	share.Granted(c.now)
	share.Released(c.now+shortHold, false)
	if c.Crowded() {
		t.Error("leaves")
	}
}

func TestWhoLeftACrowdedChannelComesBackAndCountsAnew(t *testing.T) {
	c := newCrowd()
	share := new(FairShare)
	share.SetClients(100)
	c.Share = share
	c.hears(100, 100*us)
	c.Left(c.now)
	if !c.Away(c.now) || !c.Away(c.resubscribeAt-1) || c.Away(c.resubscribeAt) {
		t.Errorf("away until %v, left at %v", c.resubscribeAt, c.now)
	}
	c.now = c.resubscribeAt
	c.resubscribeAt, c.quickReleases, c.lastRelease = 0, 0, 0 // it subscribes again
	if c.resubscribeAt != 0 || c.Crowded() {
		t.Error("it leaves again at once")
	}
	if c.hears(manyQuickReleases-1, 100*us); c.Crowded() {
		t.Error("it leaves before it has heard enough")
	}
	if c.hears(1, 100*us); !c.Crowded() {
		t.Error("it stays")
	}
}

// far returns a policy whose client is far ahead of its share, with holds of 1 ms.
func far(t *testing.T) (*Policy, time.Duration, time.Duration) {
	t.Helper()
	h := newHolder(2)
	at := h.takeTooMuch(t)
	p := new(Policy)
	p.Share = &h.FairShare
	return p, h.now, at
}

func TestSharedOwnersAndThoseInAHurryDoNotYield(t *testing.T) {
	p, now, at := far(t)
	patience := p.Share.Patience()
	for _, r := range []struct {
		name string
		Head
		yields bool
	}{
		{"one with time", Head{}, true},
		{"one with time, told", Head{Refused: true}, true},
		{"a shared owner", Head{Shared: true}, false},
		{"one with little time", Head{Until: now + 2*patience - 1}, false},
		{"one with time enough", Head{Until: now + 2*patience}, true},
	} {
		if got := p.NotBefore(now, r.Head); got != 0 && got != at || got == at != r.yields {
			t.Errorf("%s: not before %v, yields is %v", r.name, got, r.yields)
		}
	}
}

func TestNobodyYieldsWhereHoldsAreShort(t *testing.T) {
	p, now, _ := far(t)
	p.Share.hold = shortHold - 1
	if at := p.NotBefore(now, Head{}); at != 0 {
		t.Errorf("not before %v", at)
	}
}

func TestWithoutAFairShareNobodyYields(t *testing.T) {
	p, now, _ := far(t)
	p.Share = nil
	p.Share.Arrived(now)
	p.Share.Refused(now)
	p.Heard(now, false, latest)
	if at := p.NotBefore(now, Head{}); at != 0 {
		t.Errorf("not before %v", at)
	}
}

// Once no waiter is left, the queue forgets the crowd but not the share.
func TestResetKeepsTheFairShare(t *testing.T) {
	p, now, at := far(t)
	for range 100 {
		p.Heard(now, false, latest)
	}
	p.Left(now)
	p.throttle = throttle{}
	if p.throttle != (throttle{}) {
		t.Errorf("left is %+v", p.throttle)
	}
	if p.Share == nil || at == 0 {
		t.Error("the fair share is gone")
	}
}
