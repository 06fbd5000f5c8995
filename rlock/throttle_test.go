package rlock

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
)

// refusedWaiter is a waiter that has all the time there is.
var refusedWaiter = &waiter{refused: true}

// newThrottledQueue is a queue on a clock that the test moves.
func newThrottledQueue() (*waitQueue, *time.Duration) {
	now := new(time.Duration)
	*now = time.Hour
	c := &Client{o: &settings{clock: clock.Func(func() time.Duration { return *now })}}
	return &waitQueue{n: &name{c: c}}, now
}

func TestTriesAreSpreadWhereMessagesCrowd(t *testing.T) {
	const beat = 100 * time.Microsecond
	q, now := newThrottledQueue()
	tries, messages := 0, 0
	for range 2000 {
		*now += beat
		messages++
		q.observeRelease()
		if put := q.delayUntil(refusedWaiter); put > *now+longestDelay {
			t.Fatalf("put off for %v", put-*now)
		} else if put == 0 {
			tries++
			q.delayedUntil = 0 // as an attempt does
		}
	}
	if tries == 0 || tries > messages/3 {
		t.Errorf("%d tries for %d messages", tries, messages)
	}
}

// A client on a busy machine sees that a try is due only when the next message has come. It is made then.
func TestMessageLeavesATryThatIsDue(t *testing.T) {
	q, now := newThrottledQueue()
	tries, messages := 0, 0
	for range 2000 {
		*now += 100 * time.Microsecond
		messages++
		if q.observeRelease(); q.delayUntil(refusedWaiter) > 0 {
			continue
		}
		q.delayedUntil = 0 // as an attempt does
		if messages > 1000 {
			tries++
		}
	}
	if tries < 1000/spreadIntervals {
		t.Errorf("%d tries for the last 1000 of %d messages", tries, messages)
	}
}

func TestMessageAfterAPauseIsFollowedAtOnce(t *testing.T) {
	q, now := newThrottledQueue()
	for range 100 {
		*now += 100 * time.Microsecond
		q.observeRelease()
	}
	for i := range 100 {
		*now += 2 * time.Millisecond
		q.observeRelease()
		if q.delayUntil(refusedWaiter) > 0 && i > 3 {
			t.Fatalf("message %d after the crowd has gone is put off", i)
		}
	}
}

func TestFirstMessagesAreFollowedAtOnce(t *testing.T) {
	q, now := newThrottledQueue()
	q.observeRelease()
	if q.delayUntil(refusedWaiter) > 0 {
		t.Fatal("the first message is put off")
	}
	*now += time.Second
	q.observeRelease()
	if q.delayUntil(refusedWaiter) > 0 {
		t.Fatal("the second message is put off")
	}
}

func TestWaiterWithoutAnswerOrTimeIsNotDelayed(t *testing.T) {
	q, now := newThrottledQueue()
	for range 100 {
		*now += 100 * time.Microsecond
		q.observeRelease()
	}
	q.delayedUntil = *now + time.Millisecond
	if q.delayUntil(refusedWaiter) != q.delayedUntil {
		t.Error("one that was told does not wait")
	}
	if w := (&waiter{n: q.n}); q.delayUntil(w) > 0 {
		t.Error("one that was never told waits")
	}
	if w := (&waiter{refused: true, until: *now + 500*time.Microsecond}); q.delayUntil(w) > 0 {
		t.Error("one whose wait elapses before waits")
	}
}

func TestPollIsSoon(t *testing.T) {
	for _, interval := range []time.Duration{0, 10 * time.Microsecond, 100 * time.Microsecond, quickInterval} {
		q, now := newThrottledQueue()
		q.interval, q.resubscribeAt = interval, *now+resubscribeAfter
		for range 1000 {
			q.wakePending, q.delayedUntil = false, 0
			q.pollWithin(pollIntervals)
			if !q.wakePending || q.delayedUntil < *now || q.delayedUntil > *now+min(pollIntervals*interval, longestPoll) {
				t.Fatalf("interval %v: wake-up pending %v, a try after %v", interval, q.wakePending, q.delayedUntil-*now)
			}
		}
	}
}

func TestFewClientsStayOnTheChannel(t *testing.T) {
	for listening, leaves := range map[int]bool{0: false, 2: false, manyClients - 1: false, manyClients: true, 100: true} {
		q, now := newThrottledQueue()
		q.n.fairShare = &fairShare{}
		q.n.fairShare.SetClients(listening)
		for range 100 {
			*now += 100 * time.Microsecond
			q.observeRelease()
		}
		if q.quickReleases < manyQuickReleases || q.crowded() != leaves {
			t.Errorf("%d listen: leaves %v after %d quick messages", listening, q.crowded(), q.quickReleases)
		}
	}
}
