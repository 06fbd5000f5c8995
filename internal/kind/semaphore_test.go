package kind

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/luasrc"
)

func TestSemaphoreAndLatchCalls(t *testing.T) {
	const sem, gate = "redisson_sc:{k}", "redisson_countdownlatch__channel__{k}"
	k := Semaphore(3)
	s, l := wanted(k, "k"), wanted(CountDownLatch, "k")
	receipt := Receipt(s.Names, s.Owner)
	begun := codec.Latch("k", "begun")
	acquire, undo, change, down := luasrc.SemaphoreAcquireScript, luasrc.SemaphoreUndoScript, luasrc.SemaphoreChangeScript, luasrc.CountDownScript
	for _, tc := range []struct {
		name   string
		call   Call
		resend Resend
		writes bool
		args   []any
	}{
		{"acquire", k.Acquire(nil, s), Never, true, []any{acquire.SHA1, 3, "k", receipt, begun, 3, 600_000, 0}},
		{"release", k.Release(nil, s), Always, true, []any{undo.SHA1, 3, "k", receipt, begun, sem, 1, "SPUBLISH", 3}},
		{"change", ChangeSemaphore(s, luasrc.SetFirst, 4, time.Second), Always, true, []any{change.SHA1, 3, "k", "l", begun, sem, 1, "SPUBLISH", int64(6), "first", 4, int64(1000), 0, nil}},
		{"count down", CountDown(l, luasrc.SetCount, 4), Always, true, []any{down.SHA1, 3, "k", "l", begun, gate, 1, "SPUBLISH", int64(6), "set", int64(4), 0, nil}},
		{"await", CountDownLatch.Acquire(nil, l), Reads, false, []any{"k"}},
		{"count", ReadNumber(l), Reads, false, []any{"k"}},
	} {
		if tc.call.Resend != tc.resend || tc.call.Writes != tc.writes || !slices.Equal(tc.call.Args, tc.args) {
			t.Errorf("%s: %+v, want %v", tc.name, tc.call, tc.args)
		}
	}
	if other := someone("p"); Receipt(s.Names, &other) == receipt || !strings.HasPrefix(receipt.(string), "redisson_unlock_latch:{k}:") || len(receipt.(string)) != len("redisson_unlock_latch:{k}:")+32 {
		t.Errorf("the receipt is %s", receipt)
	}
	if c, left, of := k.Ask(HoldCount, s), k.Leave(s), CountDownLatch.Leave(l); !left.Empty() || !of.Empty() || !c.Empty() {
		t.Error("something is undone that is not there")
	}
	if c := CountDownLatch.Channel(l.Names, l.Owner); c != gate {
		t.Errorf("it listens on %q", c)
	}
}

func TestSemaphoreAndLatchReplies(t *testing.T) {
	k := Semaphore(1)
	g, err := k.Granted(int64(1))
	check(t, "semaphore", "grant", g.OK, true, err)
	g, err = k.Granted(int64(0))
	check(t, "semaphore", "refusal", g, Grant{TTL: luasrc.NoTTL}, err)
	g, err = k.Granted(int64(1_764_451_234_567_890)) // known since then
	check(t, "semaphore", "grant of a known one", g.OK, true, err)
	for _, reply := range []any{nil, int64(-1), []byte("1")} {
		if g, err := k.Granted(reply); err == nil || g.OK {
			t.Errorf("%v is a grant: %+v, %v", reply, g, err)
		}
	}
	for reply, open := range map[any]bool{nil: true, "0": true, "-1": true, "1": false, "99": false} {
		if text, ok := reply.(string); ok {
			reply = []byte(text)
		}
		g, err := CountDownLatch.Granted(reply)
		check(t, "latch", "count", g.OK, open, err)
	}
	if g, err := CountDownLatch.Granted([]byte("many")); err == nil || g.OK {
		t.Errorf("a text is a count: %+v, %v", g, err)
	}
	for _, payload := range []string{"0", "1", "", "much"} { // after each of these it looks
		if n := CountDownLatch.Wake([]byte(payload)); n != 1 {
			t.Errorf("%q wakes %d", payload, n)
		}
	}
	for _, k := range []Kind{k, CountDownLatch} {
		if least, most := k.Pause(9, Grant{TTL: luasrc.NoTTL}); least < most/2 || most != time.Second {
			t.Errorf("a pause of %v to %v", least, most)
		}
	}
}
