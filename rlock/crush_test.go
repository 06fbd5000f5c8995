package rlock

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
)

// told is a waiter that has all the time there is.
var told = &waiter{told: true}

// crushed is a line on a clock that the test moves.
func crushed() (*line, *time.Duration) {
	now := new(time.Duration)
	*now = time.Hour
	c := &Client{o: &settings{clock: clock.Func(func() time.Duration { return *now })}}
	return &line{n: &name{c: c}}, now
}

func TestTriesAreSpreadWhereMessagesCrowd(t *testing.T) {
	const beat = 100 * time.Microsecond
	ln, now := crushed()
	tries, messages := 0, 0
	for range 2000 {
		*now += beat
		messages++
		ln.rush()
		if put := ln.dodges(told); put > *now+longestDodge {
			t.Fatalf("put off for %v", put-*now)
		} else if put == 0 {
			tries++
			ln.start = 0 // as an attempt does
		}
	}
	if tries == 0 || tries > messages/3 {
		t.Errorf("%d tries for %d messages", tries, messages)
	}
}

// A client on a busy machine sees that a try is due only when the next message has come. It is made then.
func TestMessageLeavesATryThatIsDue(t *testing.T) {
	ln, now := crushed()
	tries, messages := 0, 0
	for range 2000 {
		*now += 100 * time.Microsecond
		messages++
		if ln.rush(); ln.dodges(told) > 0 {
			continue
		}
		ln.start = 0 // as an attempt does
		if messages > 1000 {
			tries++
		}
	}
	if tries < 1000/beats {
		t.Errorf("%d tries for the last 1000 of %d messages", tries, messages)
	}
}

func TestMessageAfterAPauseIsFollowedAtOnce(t *testing.T) {
	ln, now := crushed()
	for range 100 {
		*now += 100 * time.Microsecond
		ln.rush()
	}
	for i := range 100 {
		*now += 2 * time.Millisecond
		ln.rush()
		if ln.dodges(told) > 0 && i > 3 {
			t.Fatalf("message %d after the crowd has gone is put off", i)
		}
	}
}

func TestFirstMessagesAreFollowedAtOnce(t *testing.T) {
	ln, now := crushed()
	ln.rush()
	if ln.dodges(told) > 0 {
		t.Fatal("the first message is put off")
	}
	*now += time.Second
	ln.rush()
	if ln.dodges(told) > 0 {
		t.Fatal("the second message is put off")
	}
}

func TestWhoHasNoAnswerOrNoTimeDoesNotDodge(t *testing.T) {
	ln, now := crushed()
	for range 100 {
		*now += 100 * time.Microsecond
		ln.rush()
	}
	ln.start = *now + time.Millisecond
	if ln.dodges(told) != ln.start {
		t.Error("one that was told does not wait")
	}
	if w := (&waiter{n: ln.n}); ln.dodges(w) > 0 {
		t.Error("one that was never told waits")
	}
	if w := (&waiter{told: true, until: *now + 500*time.Microsecond}); ln.dodges(w) > 0 {
		t.Error("one whose wait elapses before waits")
	}
}

func TestABlindTryIsNotFarAway(t *testing.T) {
	for _, beat := range []time.Duration{0, 10 * time.Microsecond, 100 * time.Microsecond, quickBeat} {
		ln, now := crushed()
		ln.beat, ln.back = beat, *now+absence
		for range 1000 {
			ln.flag, ln.start = false, 0
			ln.blindly(fewBeats)
			if !ln.flag || ln.start < *now || ln.start > *now+min(fewBeats*beat, longestBlind) {
				t.Fatalf("beat %v: flag %v, a try after %v", beat, ln.flag, ln.start-*now)
			}
		}
	}
}

func TestFewClientsStayOnTheChannel(t *testing.T) {
	for listening, leaves := range map[int]bool{0: false, 2: false, manyClients - 1: false, manyClients: true, 100: true} {
		ln, now := crushed()
		ln.n.turn = &turn{}
		ln.n.turn.Clients(listening)
		for range 100 {
			*now += 100 * time.Microsecond
			ln.rush()
		}
		if ln.quick < manyQuick || ln.crowded() != leaves {
			t.Errorf("%d listen: leaves %v after %d quick messages", listening, ln.crowded(), ln.quick)
		}
	}
}
