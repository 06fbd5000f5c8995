package monitor_test

import (
	"crypto/sha1"
	"fmt"
	"slices"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/monitor"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

func must(t *testing.T, c redis.Conn, name string, args ...any) any {
	t.Helper()
	reply, err := c.Do(name, args...)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return reply
}

func TestMarkReturnsWhatStandsBetweenMarkers(t *testing.T) {
	server := redistest.Start(t)
	c := server.Dial(t)
	must(t, c, "SET", "before", "the tap")
	s := monitor.Tap(t, server.Addr())
	// The value has every byte, so that each escape of Redis is read.
	var all []byte
	for b := range 256 {
		all = append(all, byte(b))
	}
	must(t, c, "SET", "k", all)
	must(t, c, "SELECT", 3)
	must(t, c, "GET", "k")
	got := s.Mark()
	if len(got) != 3 || !slices.Equal(got[0].Args, []string{"SET", "k", string(all)}) || got[0].DB != 0 ||
		got[2].String() != "GET k" || got[2].DB != 3 || got[2].Lua() {
		t.Fatalf("saw %v", got)
	}
	if got[0].At.After(got[2].At) || got[0].At.IsZero() {
		t.Errorf("times %v, %v", got[0].At, got[2].At)
	}
	if again := s.Mark(); len(again) != 0 {
		t.Errorf("a second mark repeats %v", again)
	}
}

func TestUntilWaitsForAMarkerOfAnotherConnection(t *testing.T) {
	server := redistest.Start(t)
	s := monitor.Tap(t, server.URL())
	c := server.Dial(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 2000 {
			c.Send("SET", "k", i)
		}
		c.Send("ECHO", "the end")
		c.Send("SET", "k", "after")
		c.Do("")
	}()
	got := s.Until("the end")
	<-done
	if len(got) != 2000 || got[1999].String() != "SET k 1999" {
		t.Fatalf("%d lines", len(got))
	}
	if rest := s.Mark(); len(rest) != 1 || rest[0].String() != "SET k after" {
		t.Errorf("behind the marker %v", rest)
	}
}

func TestCallsJoinScriptsWithWhatTheyCall(t *testing.T) {
	server := redistest.Start(t)
	c := server.Dial(t)
	text := `redis.call('incr', KEYS[1]); redis.call('publish', KEYS[2], ARGV[1]); return ARGV[2]`
	sha := fmt.Sprintf("%x", sha1.Sum([]byte(text)))
	s := monitor.Tap(t, server.Addr())
	must(t, c, "EVAL", text, 2, "n", "ch{x}", "0", "a b")
	must(t, c, "EVALSHA", sha, 2, "n", "ch{x}", "1", "b")
	must(t, c, "PUBLISH", "plain", "m")
	calls := monitor.Calls(s.Mark())
	if len(calls) != 3 {
		t.Fatalf("calls %v", calls)
	}
	eval, evalsha := calls[0], calls[1]
	if eval.Script != text || evalsha.Script != sha || !slices.Equal(evalsha.Keys, []string{"n", "ch{x}"}) ||
		!slices.Equal(eval.Argv, []string{"0", "a b"}) {
		t.Errorf("scripts %+v, %+v", eval, evalsha)
	}
	for _, call := range calls[:2] {
		if len(call.Inside) != 2 || call.Inside[0].String() != "incr n" || !call.Inside[1].Lua() {
			t.Errorf("inside %v", call.Inside)
		}
	}
	if got := evalsha.Messages(); !slices.Equal(got, [][2]string{{"ch{x}", "1"}}) {
		t.Errorf("messages %v", got)
	}
	if got := calls[2].Messages(); !slices.Equal(got, [][2]string{{"plain", "m"}}) || calls[2].Keys != nil {
		t.Errorf("messages %v, keys %v", got, calls[2].Keys)
	}
}

func TestPasswordOfTheURLIsUsed(t *testing.T) {
	server := redistest.Start(t, "--requirepass", "s3cret")
	s := monitor.Tap(t, server.URL())
	must(t, server.Dial(t), "PING")
	if got := s.Mark(); !slices.ContainsFunc(got, func(l monitor.Line) bool { return l.Is("ping") }) {
		t.Errorf("saw %v", got)
	}
}
