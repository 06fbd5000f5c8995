package command_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/pipeline"
	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/internal/topology"
	"github.com/rlock-go/redisson/internal/topologytest"
)

// clusterRig is an executor on two real servers that share the slots. The first
// has key's slot.
type clusterRig struct {
	*testing.T
	c    *topologytest.Cluster
	top  *topologytest.Several
	x    *command.Executor
	key  string
	slot uint16
}

func startCluster(t *testing.T) *clusterRig {
	t.Helper()
	c := topologytest.Start(t, 1, 1)
	top := topologytest.New(strings.TrimPrefix(c.URL(), topologytest.Scheme+"://"), topology.Settings{Timeout: timeout, Clock: clock.System()})
	t.Cleanup(func() { top.Close(timeout) })
	g := &clusterRig{T: t, c: c, top: top, x: executor(top)}
	for i := 0; ; i++ {
		g.key = fmt.Sprintf("{%d}lock", i)
		if g.slot = codec.Slot(g.key); g.slot < 8192 {
			break
		}
	}
	// The table is there: what is redirected from here on was moved by the test.
	g.answered(g.do(command.Never, "EXISTS", g.key))
	g.answered(g.doAt(16383, command.Never, "PING"))
	return g
}

func (g *clusterRig) send(r *command.Request, resend command.Resend) *handler {
	g.Helper()
	h := &handler{g.x, make(chan string, 10_000)}
	r.Handler, r.Resend, r.Slot = h, resend, g.slot
	if resend != command.Never {
		r.Until = clock.System().Now() + timeout
	}
	g.x.Enqueue(r)
	g.x.Flush()
	return h
}

func (g *clusterRig) do(resend command.Resend, name string, args ...any) (*command.Request, *handler) {
	g.Helper()
	r := new(command.Request)
	r.Command(name, args...)
	return r, g.send(r, resend)
}

// doAt is do for a request that is said to be of another slot.
func (g *clusterRig) doAt(slot uint16, resend command.Resend, name string, args ...any) (*command.Request, *handler) {
	g.Helper()
	was := g.slot
	defer func() { g.slot = was }()
	g.slot = slot
	return g.do(resend, name, args...)
}

func (g *clusterRig) script(c luasrc.Call) (*command.Request, *handler) {
	g.Helper()
	r := new(command.Request)
	r.Wire.Call(c)
	return r, g.send(r, command.Never)
}

// answered waits for the end, which must be an answer.
func (g *clusterRig) answered(r *command.Request, h *handler) *command.Request {
	g.Helper()
	g.ends(h)
	if r.Wire.Err != nil {
		g.Fatalf("it ended with %v", r.Wire.Err)
	}
	return r
}

// ends waits for the end and counts what was told before it.
func (g *clusterRig) ends(h *handler) (told int) {
	g.Helper()
	for {
		select {
		case event := <-h.events:
			if strings.HasPrefix(event, "done") || strings.HasPrefix(event, "given up") {
				return told
			}
			told++
		case <-time.After(10 * timeout):
			g.Fatal("it never ended")
		}
	}
}

// ran counts how often a server ran a command.
func (g *clusterRig) ran(server int, name string) int {
	g.Helper()
	return topologytest.Calls(g.T, g.c.Conn(server), name)
}

func (g *clusterRig) lock(owner string) luasrc.Call {
	return luasrc.Lock(nil, g.key, owner, 60_000)
}

func TestMovedCommandGoesToTheServerThatHasTheSlot(t *testing.T) {
	g := startCluster(t)
	g.answered(g.do(command.Never, "SET", g.key, "1"))
	g.c.Move(0, 1, g.slot)
	before := g.ran(1, "get")
	r, h := g.do(command.Never, "GET", g.key)
	if told := g.ends(h); told != 0 || r.Wire.Err != nil || string(r.Wire.Reply.([]byte)) != "1" {
		t.Fatalf("got %v, %v; its handler was told %d times before", r.Wire.Reply, r.Wire.Err, told)
	}
	if n := g.ran(1, "get") - before; n != 1 {
		t.Errorf("the new server ran it %d times", n)
	}
	// From now on the table knows. Which of the two told it does not matter.
	again := g.answered(g.do(command.Never, "GET", g.key))
	if again.OutOfOrder() {
		t.Error("the next one was redirected too")
	}
}

func TestRedirectedCommandIsOutOfOrder(t *testing.T) {
	g := startCluster(t)
	if r := g.answered(g.do(command.Never, "SET", g.key, "1")); r.OutOfOrder() {
		t.Error("nothing was moved, and it is said to have run out of order")
	}
	g.c.Begin(g.slot, 0, 1)
	g.c.MoveKeys(g.slot, 0, 1, 10)
	if r := g.answered(g.do(command.Never, "GET", g.key)); !r.OutOfOrder() {
		t.Error("it was redirected, and is said to have run in order")
	}
}

// A script's key is at the new server, which neither has the slot nor knows the
// script.
func TestAskedCommandFollowsAskingAndItsScriptIsLoadedBefore(t *testing.T) {
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
	// Many at the same time: each has its ASKING directly before it.
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

// The keys of one command are in two places. What is sent once waits inside the
// executor; what is paused anyway is paused.
func TestTryAgainIsWaitedOut(t *testing.T) {
	g := startCluster(t)
	tag := "{" + strings.Trim(strings.SplitAfter(g.key, "}")[0], "{}") + "}"
	for _, resend := range []command.Resend{command.Never, command.Always} {
		g.answered(g.do(command.Never, "SET", tag+"a", "1"))
		g.answered(g.do(command.Never, "SET", tag+"b", "1"))
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
		if never := resend == command.Never; never != (told == 0) {
			t.Errorf("resend %d: its handler was told %d times", resend, told)
		}
		g.c.Move(1, 0, g.slot)
	}
}

func TestWhatDoesNotSettleIsRefusedAtTheTimeout(t *testing.T) {
	g := startCluster(t)
	tag := strings.SplitAfter(g.key, "}")[0]
	g.answered(g.do(command.Never, "SET", tag+"a", "1"))
	g.answered(g.do(command.Never, "SET", tag+"b", "1"))
	g.c.Begin(g.slot, 0, 1)
	g.c.MoveKeys(g.slot, 0, 1, 1)
	began := time.Now()
	r, h := g.do(command.Never, "DEL", tag+"a", tag+"b")
	g.ends(h)
	if d := time.Since(began); r.Fate != command.Refused || r.MayHaveRun() || !r.Passing() || d < timeout/2 || d > 3*timeout {
		t.Errorf("after %v: fate %v, %v; may have run %t", d, r.Fate, r.Wire.Err, r.MayHaveRun())
	}
}

// Nobody has the slot for a while.
func TestClusterDownIsWaitedOut(t *testing.T) {
	g := startCluster(t)
	for server := range 2 {
		if _, err := g.c.Conn(server).Do("CONFIG", "SET", "cluster-require-full-coverage", "no"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := g.c.Conn(0).Do("CLUSTER", "DELSLOTS", g.slot); err != nil {
		t.Fatal(err)
	}
	r, h := g.do(command.Never, "SET", g.key, "1")
	g.becomes("it was answered CLUSTERDOWN", func() bool { return g.top.Counts().Unsettled > 0 })
	if _, err := g.c.Conn(0).Do("CLUSTER", "ADDSLOTS", g.slot); err != nil {
		t.Fatal(err)
	}
	g.answered(r, h)
}

func (g *clusterRig) becomes(what string, state func() bool) {
	g.Helper()
	for end := time.Now().Add(10 * timeout); !state(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			g.Fatalf("never: %s", what)
		}
	}
}

// What waits inside the executor was not written, and can be taken back.
func TestParkedCommandIsTakenBack(t *testing.T) {
	g := startCluster(t)
	tag := strings.SplitAfter(g.key, "}")[0]
	g.answered(g.do(command.Never, "SET", tag+"a", "1"))
	g.answered(g.do(command.Never, "SET", tag+"b", "1"))
	g.c.Begin(g.slot, 0, 1)
	g.c.MoveKeys(g.slot, 0, 1, 1)
	r, h := g.do(command.Never, "DEL", tag+"a", tag+"b")
	g.becomes("it was taken back", func() bool { return g.x.Cancel(r) })
	g.c.MoveKeys(g.slot, 0, 1, 10)
	g.c.End(g.slot, 0, 1)
	// Far longer than any pause.
	for range 30 {
		g.answered(g.do(command.Never, "EXISTS", tag+"a"))
		time.Sleep(20 * time.Millisecond)
	}
	if len(h.events) != 0 {
		t.Errorf("it was taken back, and then told %s", <-h.events)
	}
	if n := g.answered(g.do(command.Never, "EXISTS", tag+"a", tag+"b")).Wire.Reply; n != int64(2) {
		t.Errorf("%v of the two keys are left", n)
	}
}

// A batch of locks that are not all there is its maker's, who sends each alone.
func TestSeveralLocksAreNotRedirected(t *testing.T) {
	g := startCluster(t)
	g.answered(g.do(command.Never, "SET", g.key, "1"))
	g.c.Begin(g.slot, 0, 1)
	g.c.MoveKeys(g.slot, 0, 1, 10)
	r := &command.Request{Several: true}
	r.Command("EXISTS", g.key, g.key)
	h := g.send(r, command.Never)
	g.ends(h)
	if r.Fate != command.Refused || !r.Scattered() || r.MayHaveRun() {
		t.Errorf("fate %v, scattered %t: %v", r.Fate, r.Scattered(), r.Wire.Err)
	}
}

// The commands of a node that leaves go to the next one. None is told that its
// client is closed.
func TestCommandsOfANodeThatLeftGoToTheNext(t *testing.T) {
	g := startCluster(t)
	g.answered(g.do(command.Never, "SET", g.key, "0"))
	stop := make(chan struct{})
	type count struct{ sent, failed int }
	counted := make(chan count)
	go func() {
		var n count
		for {
			select {
			case <-stop:
				counted <- n
				return
			default:
			}
			done := make(chan *command.Request, 1)
			r := &command.Request{Slot: g.slot, Handler: command.DoneFunc(func(r *command.Request) { done <- r })}
			r.Command("INCR", g.key)
			g.x.Enqueue(r)
			g.x.Flush()
			n.sent++
			if r := <-done; r.Wire.Err != nil {
				n.failed++
				t.Errorf("fate %v: %v", r.Fate, r.Wire.Err)
			}
		}
	}()
	g.c.Leave(0, 1)
	g.becomes("the node has left", func() bool { return g.top.Counts().Left == 1 })
	if _, err := g.c.Conn(1).Do("PING"); err != nil {
		t.Fatal(err)
	}
	close(stop)
	n := <-counted
	if got, err := redis.Int(g.c.Conn(1).Do("GET", g.key)); got != n.sent || err != nil || n.sent < 10 {
		t.Errorf("%d of %d ran, %v", got, n.sent, err)
	}
}

// What a node has not written when it leaves is not sent, and not closed.
func TestUnwrittenCommandOfANodeThatLeavesIsNotSent(t *testing.T) {
	s := redistest.Start(t)
	n := topology.NewNode(topology.NodeOptions{Timeout: timeout, Clock: clock.System(), Dial: dialler(t, s)})
	done := make(chan *pipeline.Request, 1)
	ask := func() (*pipeline.Request, bool) {
		r := &pipeline.Request{Command: "PING", Done: pipeline.CompletionFunc(func(r *pipeline.Request) { done <- r })}
		return r, n.Pipe.Enqueue(r)
	}
	if _, taken := ask(); !taken {
		t.Fatal("it takes nothing")
	}
	n.Leave(timeout)
	select {
	case r := <-done:
		if !errors.Is(r.Err, pipeline.ErrGone) || command.IsClosed(r.Err) {
			t.Errorf("got %v", r.Err)
		}
	default:
		t.Error("it has no end")
	}
	if r, taken := ask(); taken || !errors.Is(r.Err, pipeline.ErrGone) || command.IsClosed(r.Err) {
		t.Errorf("it left, and takes a command: %t, %v", taken, r.Err)
	}
}

// The barrier of a lost command is its node's, wherever the slot is by then.
func TestKillBarrierGoesToTheServerThatTheBytesWentTo(t *testing.T) {
	g := startCluster(t)
	list := strings.SplitAfter(g.key, "}")[0] + "list"
	r, h := g.do(command.Never, "BLPOP", list, 0)
	g.c.Servers[0].AwaitBlocked(t)
	before := [2]int{g.ran(0, "client|kill"), g.ran(1, "client|kill")}
	if n, err := redis.Int(g.c.Servers[0].Dial(t).Do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")); n == 0 || err != nil {
		t.Fatalf("killed %d, %v", n, err)
	}
	h.want(t, "unanswered")
	h.want(t, fmt.Sprintf("done %v", command.Lost))
	if r.MayArrive {
		t.Error("its bytes are said to be on their way")
	}
	first := topologytest.Calls(t, g.c.Servers[0].Dial(t), "client|kill") - before[0]
	if second := g.ran(1, "client|kill") - before[1]; first < 2 || second != 0 {
		t.Errorf("%d CLIENT KILL at its server, the test's among them, %d at the other", first, second)
	}
}

// A key to delete, which no caller waits for, is at another server by now.
func TestDiscardedKeyFollowsItsSlot(t *testing.T) {
	g := startCluster(t)
	g.answered(g.do(command.Never, "SET", g.key, "1"))
	g.c.Begin(g.slot, 0, 1)
	g.c.MoveKeys(g.slot, 0, 1, 10)
	before := topologytest.Errors(t, g.c.Conn(0), "ASK")
	g.x.Discard(g.slot, g.key)
	g.becomes("its DEL was answered ASK", func() bool { return topologytest.Errors(t, g.c.Conn(0), "ASK") > before })
	g.c.End(g.slot, 0, 1)
	g.becomes("it is deleted", func() bool {
		n, err := redis.Int(g.c.Conn(1).Do("EXISTS", g.key))
		return n == 0 && err == nil
	})
}

// While nobody knows who serves its slot, a command waits for a timeout.
func TestTableThatNeverComesIsNotSent(t *testing.T) {
	top := topologytest.New("127.0.0.1:1", topology.Settings{Timeout: 200 * time.Millisecond, Clock: clock.System()})
	t.Cleanup(func() { top.Close(timeout) })
	x := executor(top)
	h := &handler{x, make(chan string, 10)}
	r := &command.Request{Handler: h}
	r.Command("PING")
	x.Enqueue(r)
	if !x.Waiting(r) || x.Trouble(0) == nil {
		t.Error("nobody serves its slot, and it does not wait")
	}
	h.want(t, fmt.Sprintf("done %v", command.NotSent))
	if r.MayHaveRun() || command.IsClosed(r.Wire.Err) {
		t.Errorf("ended with %v", r.Wire.Err)
	}
}

// A former master refuses writes; the address leads to the next one by now.
func TestReadOnlyCommandGoesToTheServerThatTheAddressLeadsTo(t *testing.T) {
	old, next := redistest.Start(t), redistest.Start(t)
	var at atomic.Pointer[redistest.Server]
	at.Store(old)
	pool := &redis.Pool{DialContext: func(ctx context.Context) (redis.Conn, error) {
		return redis.DialContext(ctx, "tcp", at.Load().Addr(), redis.DialReadTimeout(timeout), redis.DialWriteTimeout(timeout))
	}}
	t.Cleanup(func() { pool.Close() })
	top := topology.Borrowed(pool, topology.Settings{Timeout: timeout, Clock: clock.System()})
	t.Cleanup(func() { top.Close(timeout) })
	g := &clusterRig{T: t, x: executor(top), key: "n"}
	g.answered(g.do(command.Never, "INCR", g.key))
	if _, err := old.Dial(t).Do("REPLICAOF", "127.0.0.1", 1); err != nil {
		t.Fatal(err)
	}
	at.Store(next)
	r := g.answered(g.do(command.Never, "INCR", g.key))
	if r.Wire.Reply != int64(1) || !r.OutOfOrder() {
		t.Errorf("got %v, out of order %t", r.Wire.Reply, r.OutOfOrder())
	}
	// What is paused anyway is paused: others of its owner may go first.
	if _, err := next.Dial(t).Do("REPLICAOF", "127.0.0.1", 1); err != nil {
		t.Fatal(err)
	}
	third := redistest.Start(t)
	at.Store(third)
	r, h := g.do(command.Always, "INCR", g.key)
	if told := g.ends(h); told == 0 || r.Wire.Err != nil || r.Wire.Reply != int64(1) {
		t.Errorf("got %v, %v; its handler was told %d times", r.Wire.Reply, r.Wire.Err, told)
	}
}
