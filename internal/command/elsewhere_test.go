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

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/pipeline"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/internal/topology"
)

// The commands of a node that leaves go to the next one. None fails as if its client were closed.
func TestCommandsOfANodeThatLeftGoToTheNext(t *testing.T) {
	t.Parallel()
	g := startShared(t, 1, 63) // 256 slots of each are moved
	g.answered(g.do(kind.Never, "SET", g.key, "0"))
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

// A command that a leaving node has not written ends as not sent, not as closed.
func TestUnwrittenCommandOfANodeThatLeavesIsNotSent(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	n := topology.NewNode(topology.Settings{Timeout: timeout, Clock: clock.System()}, topology.NodeOptions{Dial: dialler(t, s)})
	done := make(chan *pipeline.Request, 1)
	ask := func() (*pipeline.Request, bool) {
		r := &pipeline.Request{Command: "PING", Done: pipeline.CompletionFunc(func(r *pipeline.Request) { done <- r })}
		return r, n.Pipe.Enqueue(r, 0)
	}
	if _, taken := ask(); !taken {
		t.Fatal("it takes nothing")
	}
	n.Abandon(timeout)
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

// The kill barrier of a lost command goes to the command's node, even if the slot has moved.
func TestKillBarrierGoesToTheServerThatTheBytesWentTo(t *testing.T) {
	t.Parallel()
	g := startCluster(t)
	list := strings.SplitAfter(g.key, "}")[0] + "list"
	r, h := g.do(kind.Never, "BLPOP", list, 0)
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

// A key to delete has moved to another server. No caller waits for the DEL.
func TestDiscardedKeyFollowsItsSlot(t *testing.T) {
	t.Parallel()
	g := startCluster(t)
	g.answered(g.do(kind.Never, "SET", g.key, "1"))
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

// While it is unknown which server has its slot, a command waits for a timeout.
func TestTableThatNeverComesIsNotSent(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "a timeout passes")
	top := topologytest.New("127.0.0.1:1", topology.Settings{Timeout: 200 * time.Millisecond, Clock: clock.System()})
	t.Cleanup(func() { top.Close(timeout) })
	x := executor(top, clock.System().Now)
	h := &handler{x: x, events: make(chan string, 10)}
	r := &command.Request{Handler: h}
	r.Command("PING")
	x.Enqueue(r)
	if !x.Unwritten(r) || x.Trouble(0) == nil {
		t.Error("nobody serves its slot, and it does not wait")
	}
	h.want(t, fmt.Sprintf("done %v", command.NotSent))
	if r.MayHaveRun() || command.IsClosed(r.Wire.Err) {
		t.Errorf("ended with %v", r.Wire.Err)
	}
}

// A former master refuses writes, and its address now leads to the next one.
func TestReadOnlyCommandGoesToTheServerThatTheAddressLeadsTo(t *testing.T) {
	t.Parallel()
	old, next := redistest.Start(t), redistest.Start(t)
	var at atomic.Pointer[redistest.Server]
	at.Store(old)
	pool := &redis.Pool{DialContext: func(ctx context.Context) (redis.Conn, error) {
		return redis.DialContext(ctx, "tcp", at.Load().Addr(), redis.DialReadTimeout(timeout), redis.DialWriteTimeout(timeout))
	}}
	t.Cleanup(func() { pool.Close() })
	top := topology.Borrowed(pool, topology.Settings{Timeout: timeout, Clock: clock.System()})
	t.Cleanup(func() { top.Close(timeout) })
	g := &clusterRig{T: t, x: executor(top, clock.System().Now), key: "n"}
	g.answered(g.do(kind.Never, "INCR", g.key))
	if _, err := old.Dial(t).Do("REPLICAOF", "127.0.0.1", 1); err != nil {
		t.Fatal(err)
	}
	at.Store(next)
	r := g.answered(g.do(kind.Never, "INCR", g.key))
	if r.Wire.Reply != int64(1) || !r.OutOfOrder {
		t.Errorf("got %v, out of order %t", r.Wire.Reply, r.OutOfOrder)
	}
	// A request that may be sent again is paused, so that others of its owner may go first.
	if _, err := next.Dial(t).Do("REPLICAOF", "127.0.0.1", 1); err != nil {
		t.Fatal(err)
	}
	third := redistest.Start(t)
	at.Store(third)
	r, h := g.do(kind.Always, "INCR", g.key)
	if told := g.ends(h); told == 0 || r.Wire.Err != nil || r.Wire.Reply != int64(1) {
		t.Errorf("got %v, %v; its handler was told %d times", r.Wire.Reply, r.Wire.Err, told)
	}
}
