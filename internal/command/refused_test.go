package command_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
)

// full limits the server's memory; with 1 byte it refuses writes with OOM.
func (g *rig) full(t *testing.T, bytes int) {
	t.Helper()
	if _, err := g.s.Dial(t).Do("CONFIG", "SET", "maxmemory", bytes); err != nil {
		t.Fatal(err)
	}
}

func TestRefusalIsWaitedOut(t *testing.T) {
	t.Parallel()
	g := start(t)
	g.full(t, 1)
	r, h := g.send(kind.Always, clock.Never, "SET", "key", "x")
	h.want(t, "paused 20ms")
	h.want(t, "paused 40ms")
	h.want(t, "paused 80ms")
	g.full(t, 0)
	for event := ""; event != fmt.Sprintf("done %v", command.Answered); {
		select {
		case event = <-h.events:
		case <-time.After(10 * timeout):
			t.Fatalf("the last event was %q", event)
		}
	}
	if r.First != r.Wire.Sent {
		t.Error("a send that the server refused counts as one that may have run")
	}
}

func TestRefusalIsWaitedOutUntilTheLimit(t *testing.T) {
	t.Parallel()
	g := start(t)
	g.full(t, 1)
	r, h := g.send(kind.Always, clock.System().Now()+time.Hour, "SET", "key", "x")
	h.want(t, "paused 20ms")
	g.ahead.Store(int64(time.Hour))
	// The limit passes during a pause or during a send.
	for event := "paused"; event != fmt.Sprintf("done %v", command.Refused) && event != fmt.Sprintf("given up %v", command.Refused); {
		select {
		case event = <-h.events:
		case <-time.After(10 * timeout):
			t.Fatalf("the last event was %q", event)
		}
	}
	if r.MayHaveRun() || !r.Passing() || r.First != 0 {
		t.Errorf("may have run %v, passing %v, first %v", r.MayHaveRun(), r.Passing(), r.First)
	}
}

func TestRefusalIsFinalForWhatIsSentOnce(t *testing.T) {
	t.Parallel()
	g := start(t)
	g.full(t, 1)
	_, h := g.send(kind.Never, clock.Never, "SET", "key", "x")
	h.want(t, fmt.Sprintf("done %v", command.Refused))
}

func TestWhatMustNotRunTwiceIsSentAgainOnlyWhereItDidNotRun(t *testing.T) {
	t.Parallel()
	g := start(t)
	g.full(t, 1)
	_, h := g.send(kind.Unrun, clock.Never, "SET", "key", "x")
	h.want(t, "paused 20ms")
	g.full(t, 0)
	for event := ""; event != fmt.Sprintf("done %v", command.Answered); {
		select {
		case event = <-h.events:
		case <-time.After(10 * timeout):
			t.Fatalf("the last event was %q", event)
		}
	}
	_, h = g.send(kind.Unrun, clock.Never, "BLPOP", "list", 0)
	g.kill(t)
	h.want(t, "unanswered")
	h.want(t, fmt.Sprintf("done %v", command.Lost))
}

func TestReadOfAMissingPermissionIsFinal(t *testing.T) {
	t.Parallel()
	g := start(t)
	if _, err := g.s.Dial(t).Do("ACL", "SETUSER", "default", "-get"); err != nil {
		t.Fatal(err)
	}
	r, h := g.send(kind.Reads, clock.Never, "GET", "key")
	h.want(t, fmt.Sprintf("done %v", command.Refused))
	if r.MayHaveRun() {
		t.Errorf("%v is said to have run", r.Wire.Err)
	}
}
