package command_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/internal/testkit/leakcheck"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/internal/topology"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

// timeout is longer than the machine may stall in the middle of a test.
const timeout = 2 * time.Second

// handler records its calls, and sends again each request that may be.
type handler struct {
	x      *command.Executor
	events chan string
	stands chan struct{} // if not nil, it stands still after each event until this is closed
}

func (h *handler) tell(event string) {
	h.events <- event
	if h.stands != nil {
		<-h.stands
	}
}

func (h *handler) Answered(r *command.Request) { h.tell(fmt.Sprintf("done %v", r.Fate)) }

func (h *handler) Rest(r *command.Request) {
	for {
		switch fate := h.x.Await(r); {
		case fate == command.TakenBack:
			return
		case fate == command.Lost && r.Resend != kind.Reads:
			h.tell("unanswered")
			if h.x.Barrier(r); r.Resend != kind.Always {
				h.Answered(r)
				return
			}
			h.tell("paused 0s")
		case r.Again > 0:
			h.tell(fmt.Sprintf("paused %v", r.Again))
			time.Sleep(r.Again)
		default:
			h.Answered(r)
			return
		}
		if !h.x.Enqueue(r) {
			h.tell(fmt.Sprintf("given up %v", r.Fate))
			return
		}
		h.x.Flush()
	}
}

// want takes the next event.
func (h *handler) want(t *testing.T, want string) {
	t.Helper()
	select {
	case got := <-h.events:
		if got != want {
			t.Fatalf("told %q, want %q", got, want)
		}
	case <-time.After(10 * timeout):
		t.Fatalf("not told %q", want)
	}
}

type rig struct {
	s     *redistest.Server
	top   topology.Topology
	x     *command.Executor
	ahead atomic.Int64 // nanoseconds by which the executor's clock is ahead of the system's
}

func (g *rig) now() time.Duration { return clock.System().Now() + time.Duration(g.ahead.Load()) }

func start(t *testing.T) *rig {
	t.Helper()
	s := redistest.Start(t)
	top, err := topology.Open(s.URL(), topology.Settings{Timeout: timeout, Clock: clock.System()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { top.Close(timeout) })
	g := &rig{s: s, top: top}
	g.x = executor(top, g.now)
	return g
}

func dialler(t *testing.T, s *redistest.Server) func(context.Context) (redis.Conn, error) {
	t.Helper()
	target, err := redisconn.ParseURL(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	return func(ctx context.Context) (redis.Conn, error) { return target.Dial(ctx, timeout) }
}

func executor(top topology.Topology, now func() time.Duration) *command.Executor {
	var x *command.Executor
	x = command.New(top, command.Options{
		Timeout: timeout, Now: now, Closing: func() bool { return false },
		Go: func(fn func()) { go fn() },
		After: func(d time.Duration, fn func()) {
			time.AfterFunc(d, func() {
				fn()
				x.Flush()
			})
		},
	})
	return x
}

// send queues a command and flushes.
func (g *rig) send(resend kind.Resend, until time.Duration, name string, args ...any) (*command.Request, *handler) {
	h := &handler{x: g.x, events: make(chan string, 1000)}
	r := &command.Request{Handler: h, Resend: resend, Until: until}
	r.Command(name, args...)
	g.x.Enqueue(r)
	g.x.Flush()
	return r, h
}

// kill makes the server end the executor's connection while a command blocks on it.
func (g *rig) kill(t *testing.T) {
	t.Helper()
	g.s.AwaitBlocked(t)
	if n, err := redis.Int(g.s.Dial(t).Do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")); n == 0 || err != nil {
		t.Fatalf("killed %d, %v", n, err)
	}
}

func TestLostRequestHasItsFateBehindTheBarrier(t *testing.T) {
	t.Parallel()
	g := start(t)
	r, h := g.send(kind.Never, 0, "BLPOP", "list", 0)
	g.kill(t)
	h.want(t, "unanswered")
	h.want(t, fmt.Sprintf("done %v", command.Lost))
	if r.MayArrive || !r.MayHaveRun() || !command.IsLost(r.Wire.Err) || r.First != r.Wire.Sent {
		t.Errorf("may arrive %v, may have run %v, first %v, sent %v: %v", r.MayArrive, r.MayHaveRun(), r.First, r.Wire.Sent, r.Wire.Err)
	}
}

func TestLostRequestMayArriveWhereKillIsRefused(t *testing.T) {
	t.Parallel()
	g := start(t)
	c := g.s.Dial(t)
	if _, err := c.Do("ACL", "SETUSER", "default", "-client|kill"); err != nil {
		t.Fatal(err)
	}
	r, h := g.send(kind.Never, 0, "BLPOP", "list", 0)
	g.s.AwaitBlocked(t)
	if _, err := c.Do("ACL", "SETUSER", "admin", "on", "nopass", "+@all"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Do("AUTH", "admin", ""); err != nil {
		t.Fatal(err)
	}
	if n, err := redis.Int(c.Do("CLIENT", "KILL", "USER", "default")); n == 0 || err != nil {
		t.Fatalf("killed %d, %v", n, err)
	}
	h.want(t, "unanswered")
	h.want(t, fmt.Sprintf("done %v", command.Lost))
	if !r.MayArrive {
		t.Error("a command whose connection could not be killed is said to be dead")
	}
}

func TestIdempotentRequestIsSentAgainBehindTheBarrier(t *testing.T) {
	t.Parallel()
	g := start(t)
	r, h := g.send(kind.Always, clock.Never, "BLPOP", "list", 0)
	g.kill(t)
	h.want(t, "unanswered")
	h.want(t, "paused 0s")
	g.s.AwaitBlocked(t)
	if _, err := g.s.Dial(t).Do("RPUSH", "list", "x"); err != nil {
		t.Fatal(err)
	}
	h.want(t, fmt.Sprintf("done %v", command.Answered))
	if r.First == 0 || r.First >= r.Wire.Sent || r.Wire.Err != nil || r.Wire.Reply == nil {
		t.Errorf("first %v, sent %v, reply %v, error %v", r.First, r.Wire.Sent, r.Wire.Reply, r.Wire.Err)
	}
}

func TestIdempotentRequestIsNotSentAgainAfterItsLimit(t *testing.T) {
	t.Parallel()
	g := start(t)
	r, h := g.send(kind.Always, 1, "BLPOP", "list", 0)
	g.kill(t)
	h.want(t, "unanswered")
	h.want(t, "paused 0s")
	h.want(t, fmt.Sprintf("given up %v", command.Lost))
	if !command.IsLost(r.Wire.Err) || r.First != r.Wire.Sent {
		t.Errorf("first %v, sent %v: %v", r.First, r.Wire.Sent, r.Wire.Err)
	}
}

// What is sent again may wait behind a WAIT, and be written too late to be known from its first send.
func TestOnlyARepetitionIsNotWrittenAfterItsLimit(t *testing.T) {
	t.Parallel()
	g := start(t)
	r := &command.Request{Until: g.now()}
	r.Command("INCR", "n")
	for _, want := range []command.Fate{command.Answered, command.NotSent} {
		if fate := g.x.Do(r); fate != want {
			t.Errorf("%v, want %v: %v", fate, want, r.Wire.Err)
		}
	}
}

func TestDoSendsAgainWhatMayBe(t *testing.T) {
	t.Parallel()
	for resend, want := range map[kind.Resend]command.Fate{
		kind.Never: command.Lost, kind.Unrun: command.Lost, kind.Reads: command.Answered, kind.Always: command.Answered,
	} {
		g := start(t)
		r := &command.Request{Resend: resend, Until: clock.Never}
		r.Command("BLPOP", "list", 0)
		fate := make(chan command.Fate, 1)
		go func() { fate <- g.x.Do(r) }()
		g.kill(t)
		if want == command.Answered {
			g.s.AwaitBlocked(t)
			if _, err := g.s.Dial(t).Do("RPUSH", "list", "x"); err != nil {
				t.Fatal(err)
			}
		}
		select {
		case got := <-fate:
			if got != want || got != r.Fate {
				t.Errorf("resend %v: %v, %v", resend, got, r.Fate)
			}
		case <-time.After(10 * timeout):
			t.Fatalf("resend %v: it never ended", resend)
		}
	}
}

// A request that has certainly not run is given up earlier than one that may have.
func TestDoGivesUpWhatHasNotRun(t *testing.T) {
	t.Parallel()
	g := start(t)
	g.full(t, 1)
	r := &command.Request{Resend: kind.Always, Until: clock.Never, Unrun: clock.System().Now() + time.Hour}
	r.Command("SET", "key", "x")
	fate := make(chan command.Fate)
	go func() { fate <- g.x.Do(r) }()
	conn := g.s.Dial(t)
	redistest.Becomes(t, "it is refused a second time", func() bool { return topologytest.Errors(t, conn, "OOM") >= 2 })
	g.ahead.Store(int64(time.Hour))
	if got := <-fate; got != command.Refused || r.First != 0 || g.x.Delay(r) == nil {
		t.Errorf("%v, first %v, %v", got, r.First, g.x.Delay(r))
	}
}

// A wait ends when its caller leaves or takes the request back, even between two sends.
func TestWaitEndsWhenItsCallerLeaves(t *testing.T) {
	t.Parallel()
	g := start(t)
	left := make(chan struct{})
	r := &command.Request{Left: left}
	r.Command("BLPOP", "list", 0)
	fate := make(chan command.Fate, 1)
	go func() { fate <- g.x.Do(r) }()
	g.s.AwaitBlocked(t)
	close(left)
	if got := <-fate; got != command.Open {
		t.Errorf("it left, and got %v", got)
	}
	g.full(t, 1)
	back := &command.Request{Resend: kind.Always, Until: clock.Never}
	back.Command("SET", "key", "x")
	g.x.Enqueue(back)
	g.x.Flush()
	go func() { fate <- g.x.Finish(back) }()
	redistest.Becomes(t, "it can be taken back", func() bool { return g.x.Cancel(back) })
	if got := <-fate; got != command.TakenBack || g.x.Cancel(back) {
		t.Errorf("it was taken back, and got %v", got)
	}
}

func TestReadIsSentAgainWithoutABarrier(t *testing.T) {
	t.Parallel()
	g := start(t)
	_, h := g.send(kind.Reads, clock.Never, "BLPOP", "list", 0)
	g.kill(t)
	h.want(t, "paused 20ms")
	g.s.AwaitBlocked(t)
	if _, err := g.s.Dial(t).Do("RPUSH", "list", "x"); err != nil {
		t.Fatal(err)
	}
	h.want(t, fmt.Sprintf("done %v", command.Answered))
}

func TestWhatMeetsAClosedPipelineIsClosed(t *testing.T) {
	t.Parallel()
	g := start(t)
	g.top.Close(0)
	r := &command.Request{Handler: &handler{x: g.x, events: make(chan string, 1)}}
	r.Command("PING")
	if g.x.Enqueue(r) || r.Fate != command.Closed {
		t.Errorf("fate %v", r.Fate)
	}
}

func TestWhatWasNotWrittenIsTakenBack(t *testing.T) {
	t.Parallel()
	g := start(t)
	h := &handler{x: g.x, events: make(chan string, 1)}
	r := &command.Request{Handler: h}
	r.Command("PING")
	g.x.Enqueue(r)
	if !g.x.Unwritten(r) || !g.x.Cancel(r) || g.x.Unwritten(r) || g.x.Cancel(r) {
		t.Error("a request that was not written could not be taken back, or was twice")
	}
	_, other := g.send(kind.Never, 0, "PING")
	other.want(t, fmt.Sprintf("done %v", command.Answered))
	if len(h.events) > 0 {
		t.Errorf("told %q of a request that was taken back", <-h.events)
	}
}

// Between two sends a request is in no queue, yet nothing of it is under way.
func TestWhatIsAboutToBeQueuedAgainIsNotUnderWay(t *testing.T) {
	t.Parallel()
	g := start(t)
	g.full(t, 1)
	h := &handler{x: g.x, events: make(chan string), stands: make(chan struct{})}
	r := &command.Request{Handler: h, Resend: kind.Always, Until: clock.Never}
	r.Command("SET", "key", "x")
	g.x.Enqueue(r)
	g.x.Flush()
	told := <-h.events
	if waits := g.x.Unwritten(r); !waits || r.Reached() != 0 || !strings.HasPrefix(told, "paused ") {
		t.Errorf("%s: waiting %v, reached at %v", told, waits, r.Reached())
	}
	close(h.stands)
	g.full(t, 0)
	for strings.HasPrefix(told, "paused ") {
		told = <-h.events
	}
}

func TestWhatCanNotBeSentIsSaidToBeSo(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "a timeout passes")
	g := start(t)
	g.s.Kill()
	r, h := g.send(kind.Never, 0, "PING")
	h.want(t, fmt.Sprintf("done %v", command.NotSent))
	if r.MayHaveRun() || !r.Passing() || g.x.Trouble(0) == nil {
		t.Errorf("may have run %v, passing %v, trouble %v", r.MayHaveRun(), r.Passing(), g.x.Trouble(0))
	}
}
