package redisconn

import (
	"testing"
	"time"
)

func TestPausesDoubleUpToTheLast(t *testing.T) {
	for range 100 {
		b := Backoff{First: 10 * time.Millisecond, Last: 60 * time.Millisecond}
		for i, most := range []time.Duration{10, 20, 40, 60, 60} {
			most *= time.Millisecond
			if d := b.Next(); d < most/2 || d > most {
				t.Fatalf("pause %d is %v, want half of %v or more, and no more than that", i, d, most)
			}
		}
		b.Reset()
		if d := b.Next(); d > b.First {
			t.Fatalf("after a connection that was of use the pause is %v", d)
		}
	}
}

func TestPausesDiffer(t *testing.T) {
	seen := map[time.Duration]bool{}
	for range 100 {
		b := Backoff{First: time.Second, Last: time.Second}
		seen[b.Next()] = true
	}
	if len(seen) < 50 {
		t.Errorf("%d different pauses of 100: clients return in step", len(seen))
	}
}

func TestDeadConnectionsOfAPoolAreCounted(t *testing.T) {
	l := NewLink(nil, time.Second, Backoff{First: time.Second, Last: time.Second})
	for i := range 16 {
		if !l.Failed(true) || l.Pause != 0 {
			t.Fatalf("after %d dead connections the next is taken for the server's trouble", i)
		}
	}
	if l.Failed(true) || l.Pause == 0 {
		t.Error("a pool may lend dead connections for ever")
	}
	l.Worked()
	if !l.Failed(true) {
		t.Error("dead connections are counted beyond one that was of use")
	}
}
