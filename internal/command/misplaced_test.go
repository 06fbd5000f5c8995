package command_test

import (
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
)

// eachOther makes each server believe that the other has the slot, so that they redirect a command to each other.
func (g *clusterRig) eachOther() {
	g.Helper()
	for i := range 2 {
		if _, err := g.c.Conn(i).Do("CLUSTER", "SETSLOT", g.slot, "NODE", g.c.ID(1-i)); err != nil {
			g.Fatal(err)
		}
	}
}

// A command that no server takes in time has not run, and may be taken later. Its caller, who waits anyway, must not
// take the last redirection for a refusal.
func TestCommandThatIsSentInCirclesPasses(t *testing.T) {
	t.Parallel()
	g := startCluster(t)
	g.eachOther()
	r, h := g.do(kind.Never, "INCR", g.key)
	g.ends(h)
	if !strings.Contains(r.Wire.Err.Error(), "did not settle in time which of them serves its slot: MOVED ") {
		t.Fatalf("it ended with %v", r.Wire.Err)
	}
	if r.Fate != command.Refused || r.MayHaveRun() || !r.Passing() || !r.Transient() || r.Moving() {
		t.Errorf("fate %v, may have run %t, passing %t, transient %t, moving %t", r.Fate, r.MayHaveRun(), r.Passing(), r.Transient(), r.Moving())
	}
}

// The command's slot is half moved for nearly all of its time, and settles at the last moment. That counts as a move
// of the slot, not as longer trouble.
func TestCommandWhoseSlotSettlesTooLateForItIsStillMoving(t *testing.T) {
	t.Parallel()
	g := startCluster(t)
	g.c.Begin(g.slot, 0, 1)
	before := g.top.Counts().Unsettled
	tag := "{" + strings.Trim(strings.SplitAfter(g.key, "}")[0], "{}") + "}"
	r, h := g.do(kind.Never, "DEL", tag+"a", tag+"b")
	g.becomes("it was answered TRYAGAIN", func() bool { return g.top.Counts().Unsettled > before })
	g.eachOther() // from now on it is redirected until its time is over
	g.ends(h)
	if r.Wire.Err == nil || !strings.Contains(r.Wire.Err.Error(), ": MOVED ") || r.Fate != command.Refused || !r.Transient() || !r.Moving() {
		t.Errorf("it ended with %v: fate %v, transient %t, moving %t", r.Wire.Err, r.Fate, r.Transient(), r.Moving())
	}
}

// A command that may be sent again is repeated until its limit, however long the servers redirect it.
func TestCommandThatIsSentInCirclesIsPaused(t *testing.T) {
	t.Parallel()
	g := startCluster(t)
	g.eachOther()
	ended := make(chan int)
	r := new(command.Request)
	r.Command("INCR", g.key)
	h := &handler{x: g.x, events: make(chan string, 10_000)}
	r.Handler, r.Resend, r.Slot = h, kind.Always, g.slot
	r.Until = clock.System().Now() + 4*timeout
	g.x.Enqueue(r)
	g.x.Flush()
	go func() { ended <- g.ends(h) }()
	time.Sleep(timeout + timeout/4) // longer than one command may take
	if _, err := g.c.Conn(1).Do("CLUSTER", "SETSLOT", g.slot, "NODE", g.c.ID(1)); err != nil {
		t.Error(err)
	}
	if told := <-ended; told == 0 || r.Wire.Err != nil || r.Wire.Reply != int64(1) {
		t.Errorf("got %v, %v; its handler was told %d times", r.Wire.Reply, r.Wire.Err, told)
	}
}

// A flush does not wait for commands of others to a server that hangs, even if its socket takes no more.
func TestServerThatStandsStillDelaysNoOther(t *testing.T) {
	t.Parallel()
	g := startTimed(t, time.Hour, 1, 1) // nothing here may wait for it
	g.c.Servers[1].Pause()
	defer g.c.Servers[1].Resume()
	big := strings.Repeat("x", 1<<20)
	for range 32 {
		r := &command.Request{Slot: 16383, Handler: command.DoneFunc(func(*command.Request) {})}
		r.Command("ECHO", big)
		g.x.Enqueue(r)
	}
	r := new(command.Request)
	r.Command("SET", g.key, "1")
	flushed := make(chan *handler, 1)
	go func() { flushed <- g.send(r, kind.Never) }()
	select {
	case h := <-flushed:
		g.answered(r, h)
	case <-time.After(10 * timeout):
		t.Error("the flush waits for the server that stands still")
	}
}
