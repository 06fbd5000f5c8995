package command_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/internal/topology"
)

func TestMovedCommandGoesToTheServerThatHasTheSlot(t *testing.T) {
	t.Parallel()
	g := startCluster(t)
	g.answered(g.do(kind.Never, "SET", g.key, "1"))
	g.c.Move(0, 1, g.slot)
	before := g.ran(1, "get")
	r, h := g.do(kind.Never, "GET", g.key)
	if told := g.ends(h); told != 0 || r.Wire.Err != nil || string(r.Wire.Reply.([]byte)) != "1" {
		t.Fatalf("got %v, %v; its handler was told %d times before", r.Wire.Reply, r.Wire.Err, told)
	}
	if n := g.ran(1, "get") - before; n != 1 {
		t.Errorf("the new server ran it %d times", n)
	}
	// Now the table is up to date, whichever of the two servers told the client.
	again := g.answered(g.do(kind.Never, "GET", g.key))
	if again.OutOfOrder {
		t.Error("the next one was redirected too")
	}
}

// A node may answer for a slot that another one serves by now. The other one may lack what ran.
func TestAnswerOfANodeThatServesTheSlotNoMoreIsKnown(t *testing.T) {
	t.Parallel()
	g := startCluster(t)
	r := g.answered(g.do(kind.Never, "SET", g.key, "1"))
	if r.ServedElsewhere() {
		t.Error("nothing was moved")
	}
	g.c.Move(0, 1, g.slot)
	moved := g.answered(g.do(kind.Never, "GET", g.key))
	if !r.ServedElsewhere() || moved.ServedElsewhere() {
		t.Errorf("moved: %t of the one before, %t of the one that was redirected", r.ServedElsewhere(), moved.ServedElsewhere())
	}
}

func TestRedirectedCommandIsOutOfOrder(t *testing.T) {
	t.Parallel()
	g := startCluster(t)
	if r := g.answered(g.do(kind.Never, "SET", g.key, "1")); r.OutOfOrder {
		t.Error("nothing was moved, and it is said to have run out of order")
	}
	g.c.Begin(g.slot, 0, 1)
	g.c.MoveKeys(g.slot, 0, 1, 10)
	if r := g.answered(g.do(kind.Never, "GET", g.key)); !r.OutOfOrder {
		t.Error("it was redirected, and is said to have run in order")
	}
}

// The script's key is at the new server, which does not serve the slot yet and lacks the script.
func TestAskedCommandFollowsAskingAndItsScriptIsLoadedBefore(t *testing.T) {
	t.Parallel()
	g := startCluster(t)
	g.answered(g.script(g.lock("one")))
	g.c.Begin(g.slot, 0, 1)
	if n := g.c.MoveKeys(g.slot, 0, 1, 10); n != 1 {
		t.Fatalf("%d keys moved", n)
	}
	for range 3 {
		if r := g.answered(g.script(g.lock("one"))); r.Wire.Reply != nil {
			t.Fatalf("the lock is not the owner's: %v", r.Wire.Reply)
		}
	}
	if n := g.ran(1, "asking"); n != 3 {
		t.Errorf("%d ASKING for three scripts", n)
	}
	if n := g.ran(1, "script|load"); n != 1 {
		t.Errorf("%d scripts loaded, want one", n)
	}
	if n := g.ran(1, "evalsha"); n != 3 {
		t.Errorf("%d scripts at the new server, want three: none failed for want of the script", n)
	}
	if c := g.top.Counts(); c.Moved != 0 {
		t.Errorf("%+v: what was asked is not moved", c)
	}
	// Many commands at a time each have their ASKING directly before them.
	var all []*command.Request
	var ends []*handler
	for range 200 {
		r, h := g.script(g.lock("one"))
		all, ends = append(all, r), append(ends, h)
	}
	for i := range all {
		g.answered(all[i], ends[i])
	}
	g.c.End(g.slot, 0, 1)
	if n, err := redis.Int(g.c.Conn(1).Do("HGET", g.key, "one")); n != 204 || err != nil {
		t.Errorf("the owner has %d holds, %v; want 204", n, err)
	}
}

// The keys of one command are in two places. A command that is sent once waits inside the executor; one that may be
// sent again is paused.
func TestTryAgainIsWaitedOut(t *testing.T) {
	t.Parallel()
	g := startCluster(t)
	tag := "{" + strings.Trim(strings.SplitAfter(g.key, "}")[0], "{}") + "}"
	for _, resend := range []kind.Resend{kind.Never, kind.Always} {
		g.answered(g.do(kind.Never, "SET", tag+"a", "1"))
		g.answered(g.do(kind.Never, "SET", tag+"b", "1"))
		g.c.Begin(g.slot, 0, 1)
		if n := g.c.MoveKeys(g.slot, 0, 1, 1); n != 1 {
			t.Fatalf("%d keys moved", n)
		}
		before := g.top.Counts().Unsettled
		r, h := g.do(resend, "DEL", tag+"a", tag+"b")
		g.becomes("it was answered TRYAGAIN more than once", func() bool { return g.top.Counts().Unsettled-before > 2 })
		g.c.MoveKeys(g.slot, 0, 1, 10)
		g.c.End(g.slot, 0, 1)
		told := g.ends(h)
		if r.Wire.Err != nil || r.Wire.Reply != int64(2) {
			t.Fatalf("got %v, %v", r.Wire.Reply, r.Wire.Err)
		}
		if never := resend == kind.Never; never != (told == 0) {
			t.Errorf("resend %d: its handler was told %d times", resend, told)
		}
		g.c.Move(1, 0, g.slot)
	}
}

func TestWhatDoesNotSettleIsRefusedAtTheTimeout(t *testing.T) {
	t.Parallel()
	g := startCluster(t)
	tag := strings.SplitAfter(g.key, "}")[0]
	g.answered(g.do(kind.Never, "SET", tag+"a", "1"))
	g.answered(g.do(kind.Never, "SET", tag+"b", "1"))
	g.c.Begin(g.slot, 0, 1)
	g.c.MoveKeys(g.slot, 0, 1, 1)
	began := time.Now()
	r, h := g.do(kind.Never, "DEL", tag+"a", tag+"b")
	g.ends(h)
	if d := time.Since(began); r.Fate != command.Refused || r.MayHaveRun() || !r.Passing() || d < timeout/2 {
		t.Errorf("after %v: fate %v, %v; may have run %t", d, r.Fate, r.Wire.Err, r.MayHaveRun())
	}
}

// stepped is an executor whose clock stands still between pauses. The nth pause would last d from now; it ends when
// ends says.
func stepped(top topology.Topology, ends func(n int64, now, d time.Duration) time.Duration) (x *command.Executor, began time.Duration) {
	var now, pauses atomic.Int64
	began = clock.System().Now()
	now.Store(int64(began))
	x = command.New(top, command.Options{
		Timeout: timeout, Now: func() time.Duration { return time.Duration(now.Load()) }, Closing: func() bool { return false },
		Go: func(fn func()) { go fn() },
		After: func(d time.Duration, fn func()) {
			n := pauses.Add(1)
			go func() {
				now.Store(int64(ends(n, time.Duration(now.Load()), d)))
				fn()
				x.Flush()
			}()
		},
	})
	return x, began
}

// A send whose answer comes too late would turn "nothing ran" into an unknown outcome.
func TestWhatCouldNotBeAnsweredInTimeIsNotSentAgain(t *testing.T) {
	t.Parallel()
	g := startCluster(t)
	tag := strings.SplitAfter(g.key, "}")[0]
	g.answered(g.do(kind.Never, "SET", tag+"a", "1"))
	g.answered(g.do(kind.Never, "SET", tag+"b", "1"))
	g.c.Begin(g.slot, 0, 1)
	g.c.MoveKeys(g.slot, 0, 1, 1)
	g.x, _ = stepped(g.top, func(_ int64, _, _ time.Duration) time.Duration { // the pause takes longer
		return clock.System().Now() + timeout - timeout/20
	})
	r, h := g.do(kind.Never, "DEL", tag+"a", tag+"b")
	g.ends(h)
	if n := topologytest.Errors(t, g.c.Conn(0), "TRYAGAIN"); n != 1 || r.Fate != command.Refused {
		t.Errorf("sent %d times; fate %v, %v", n, r.Fate, r.Wire.Err)
	}
}

// Here a caller waits: until it is answered, nothing may be sent that can't be answered by then.
func TestWhatCouldNotBeAnsweredBeforeItsCallerIsToldWaits(t *testing.T) {
	t.Parallel()
	g := startCluster(t)
	tag := strings.SplitAfter(g.key, "}")[0]
	g.answered(g.do(kind.Never, "SET", tag+"a", "1"))
	g.answered(g.do(kind.Never, "SET", tag+"b", "1"))
	g.c.Begin(g.slot, 0, 1)
	g.c.MoveKeys(g.slot, 0, 1, 1)
	var told time.Duration
	again, counted := make(chan bool), make(chan bool)
	x, began := stepped(g.top, func(n int64, now, d time.Duration) time.Duration {
		switch n {
		case 1:
			return told - timeout/20 // the pause takes longer
		case 2:
			again <- true
			<-counted
		}
		return now + d
	})
	g.x, told = x, began+timeout/2
	r := new(command.Request)
	r.Command("DEL", tag+"a", tag+"b")
	r.ResultAt = told
	h := g.send(r, kind.Never)
	<-again
	if n := topologytest.Errors(t, g.c.Conn(0), "TRYAGAIN"); n != 1 {
		t.Errorf("sent %d times before its caller is told", n)
	}
	close(counted)
	g.ends(h)
	if n := topologytest.Errors(t, g.c.Conn(0), "TRYAGAIN"); n < 2 {
		t.Errorf("sent %d times", n)
	}
}

// For a while no server has the slot.
func TestClusterDownIsWaitedOut(t *testing.T) {
	t.Parallel()
	g := startCluster(t)
	for server := range 2 {
		if _, err := g.c.Conn(server).Do("CONFIG", "SET", "cluster-require-full-coverage", "no"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := g.c.Conn(0).Do("CLUSTER", "DELSLOTS", g.slot); err != nil {
		t.Fatal(err)
	}
	r, h := g.do(kind.Never, "SET", g.key, "1")
	g.becomes("it was answered CLUSTERDOWN", func() bool { return g.top.Counts().Unsettled > 0 })
	if _, err := g.c.Conn(0).Do("CLUSTER", "ADDSLOTS", g.slot); err != nil {
		t.Fatal(err)
	}
	g.answered(r, h)
}

// A command that waits inside the executor was not written, and can be taken back.
func TestParkedCommandIsTakenBack(t *testing.T) {
	t.Parallel()
	g := startCluster(t)
	tag := strings.SplitAfter(g.key, "}")[0]
	g.answered(g.do(kind.Never, "SET", tag+"a", "1"))
	g.answered(g.do(kind.Never, "SET", tag+"b", "1"))
	g.c.Begin(g.slot, 0, 1)
	g.c.MoveKeys(g.slot, 0, 1, 1)
	r, h := g.do(kind.Never, "DEL", tag+"a", tag+"b")
	g.becomes("it was taken back", func() bool { return g.x.Cancel(r) })
	g.c.MoveKeys(g.slot, 0, 1, 10)
	g.c.End(g.slot, 0, 1)
	// This takes far longer than any pause.
	for range 30 {
		g.answered(g.do(kind.Never, "EXISTS", tag+"a"))
		time.Sleep(20 * time.Millisecond)
	}
	if len(h.events) != 0 {
		t.Errorf("it was taken back, and then told %s", <-h.events)
	}
	if n := g.answered(g.do(kind.Never, "EXISTS", tag+"a", tag+"b")).Wire.Reply; n != int64(2) {
		t.Errorf("%v of the two keys are left", n)
	}
}

// If not all locks of a batch are at one server, the batch is refused, and its caller sends each lock alone.
func TestSeveralLocksAreNotRedirected(t *testing.T) {
	t.Parallel()
	g := startCluster(t)
	g.answered(g.do(kind.Never, "SET", g.key, "1"))
	g.c.Begin(g.slot, 0, 1)
	g.c.MoveKeys(g.slot, 0, 1, 10)
	r := &command.Request{Several: true}
	r.Command("EXISTS", g.key, g.key)
	h := g.send(r, kind.Never)
	g.ends(h)
	if r.Fate != command.Refused || !r.Scattered() || r.MayHaveRun() {
		t.Errorf("fate %v, scattered %t: %v", r.Fate, r.Scattered(), r.Wire.Err)
	}
}

// A caller reads where its request went while another goroutine redirects it. The race detector reports a conflict.
// The key is the other server's, so that the request is redirected whatever the client knows.
func TestWhereARequestWentIsAskedWhileItIsRedirected(t *testing.T) {
	t.Parallel()
	g := startCluster(t)
	key := "b"
	for g.c.Has(0, codec.Slot(key)) {
		key += "b"
	}
	r := new(command.Request)
	r.Command("SET", key, "1")
	h := &handler{x: g.x, events: make(chan string, 10_000)}
	r.Handler, r.Slot = h, g.slot
	g.x.Enqueue(r)
	go g.x.Flush()
	for len(h.events) == 0 {
		if r.WentAside {
			t.Fatal("there is one connection")
		}
	}
	if g.ends(h); !r.OutOfOrder || r.Wire.Err != nil {
		t.Errorf("out of order: %v, %v", r.OutOfOrder, r.Wire.Err)
	}
}
