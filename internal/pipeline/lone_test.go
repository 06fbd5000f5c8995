package pipeline

import (
	"context"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// inUse returns p's connection after a first command.
func inUse(t *testing.T, p *Pipeline) *conn {
	t.Helper()
	end(t, ask(p, "PING"))
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.conn
}

// goesOn makes p's caller a lone one: it sends commands until the reader stands by.
func goesOn(t *testing.T, p *Pipeline) *conn {
	t.Helper()
	c := inUse(t, p)
	if !c.atOnce {
		t.Skip("without the system's calls the reader reads all")
	}
	standby := false
	for i := 0; !standby; i++ {
		if i == 100_000 {
			t.Fatal("the reader never stands by")
		}
		keepOn(c)
		if r := end(t, ask(p, "PING")); r.Err != nil {
			t.Fatal(r.Err)
		}
		p.mu.Lock()
		standby = c.lone.standby
		p.mu.Unlock()
	}
	return c
}

// keepOn makes the next command count as a lone caller's, even on a machine that often stalls.
func keepOn(c *conn) {
	c.p.mu.Lock()
	c.lone.follows = loneMost
	c.p.mu.Unlock()
}

// readByCallers counts the replies that callers have read or tried to read.
func readByCallers(c *conn) int {
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	return c.lone.reads
}

func TestALoneCallerReadsItsOwnReplies(t *testing.T) {
	t.Parallel()
	p := start(t, redistest.Start(t))
	c := goesOn(t, p)
	before, own := readByCallers(c), 0
	for i := range 2000 {
		keepOn(c)
		here, ran := goroutine(), ""
		done := make(chan *Request, 1)
		submit(p, &Request{Command: "ECHO", Args: []any{i}, Done: CompletionFunc(func(r *Request) {
			ran = goroutine()
			done <- r
		})})
		r := end(t, done)
		if text, _ := r.Reply.([]byte); r.Err != nil || atoi(text) != i {
			t.Fatalf("ECHO %d: %q, %v", i, r.Reply, r.Err)
		}
		if ran == here {
			own++
		}
	}
	// On a machine that stalls, the reader takes over at times.
	if read := readByCallers(c) - before; read < 200 || own < 200 {
		t.Errorf("of 2000 replies callers read %d and completed %d", read, own)
	}
	if p.conn != c {
		t.Errorf("another connection")
	}
}

func atoi(b []byte) (n int) {
	for _, d := range b {
		n = 10*n + int(d-'0')
	}
	return n
}

// goroutine is the number of the calling goroutine.
func goroutine() string {
	b := make([]byte, 64)
	return strings.Fields(string(b[:runtime.Stack(b, false)]))[1]
}

func TestACallerThatReadsLeavesALongWaitToTheReader(t *testing.T) {
	t.Parallel()
	p := start(t, redistest.Start(t))
	c := goesOn(t, p)
	// The server answers after half a second, and Flush returns before.
	var answered atomic.Bool
	done := make(chan *Request, 1)
	before := readByCallers(c)
	submit(p, &Request{Command: "BLPOP", Args: []any{"none", 0.5}, Done: CompletionFunc(func(r *Request) {
		answered.Store(true)
		done <- r
	})})
	early := !answered.Load()
	if r := end(t, done); r.Err != nil || r.Reply != nil {
		t.Fatalf("%v, %v", r.Reply, r.Err)
	}
	if readByCallers(c) > before && !early {
		t.Errorf("the caller waited for the whole of it")
	}
	// The deadline that ended the caller's read must not be left on the connection.
	for range 100 {
		if r := end(t, ask(p, "PING")); r.Err != nil {
			t.Fatalf("%v", r.Err)
		}
	}
	if p.conn != c {
		t.Errorf("another connection")
	}
}

func TestASecondCallerCallsTheReaderBack(t *testing.T) {
	t.Parallel()
	p := start(t, redistest.Start(t))
	for range 200 {
		c := goesOn(t, p)
		done := make(chan *Request, 2)
		other := CompletionFunc(func(r *Request) { done <- r })
		var over atomic.Bool
		go func() { // usually while the first caller reads
			for inFlight := 0; inFlight == 0 && !over.Load(); {
				p.mu.Lock()
				inFlight = c.inflight
				p.mu.Unlock()
			}
			submit(p, &Request{Command: "PING", Done: other})
		}()
		submit(p, &Request{Command: "EVAL", Args: []any{"local n = 0 for i = 1, 100000 do n = n + i end return n", 0}, Done: other})
		over.Store(true)
		p.mu.Lock()
		if c.lone.standby && !c.lone.reading && c.inflight > 0 {
			t.Error("something is under way, and nobody reads")
		}
		p.mu.Unlock()
		for range 2 {
			if r := end(t, done); r.Err != nil {
				t.Fatal(r.Err)
			}
		}
		// A caller that must not block does not read.
		before := readByCallers(c)
		if p.Enqueue(&Request{Command: "PING", Done: other}, 0) {
			p.WakeWriter()
		}
		if r := end(t, done); r.Err != nil || readByCallers(c) != before {
			t.Fatalf("%v, read by %d callers", r.Err, readByCallers(c)-before)
		}
		if p.conn != c {
			t.Fatal("another connection")
		}
	}
}

// narrow is a connection whose writes push may refuse.
type narrow struct {
	*redisconn.Conn
	push *atomic.Pointer[func(wait bool) (now bool)]
}

func (c narrow) Push(wait bool) (all bool, err error) {
	if push := c.push.Load(); push != nil && !(*push)(wait) {
		return false, nil
	}
	return c.Conn.Push(wait)
}

// Another command is queued meanwhile and doesn't fit into the socket. The lone caller still
// reads its own reply.
func TestALoneCallerReadsThoughWhatFollowsWaitsToBeWritten(t *testing.T) {
	dial := dialler(t, redistest.Start(t))
	var hook atomic.Pointer[func(bool) bool]
	p := open(t, func(ctx context.Context) (redis.Conn, error) {
		c, err := dial(ctx)
		if err != nil {
			return nil, err
		}
		return narrow{c.(*redisconn.Conn), &hook}, nil
	}, Options{})
	for met, tries := 0, 0; met < 20; tries++ {
		if tries == 1000 {
			t.Fatalf("the reader wrote all but %d of %d", met, tries)
		}
		c := goesOn(t, p)
		done := make(chan *Request, 2)
		ends := CompletionFunc(func(r *Request) { done <- r })
		pushes, mine := 0, goroutine()
		push := func(wait bool) (now bool) {
			if wait || goroutine() != mine {
				return true
			}
			if pushes++; pushes == 1 {
				p.Enqueue(&Request{Command: "PING", Done: ends}, 0)
			}
			return pushes == 1
		}
		keepOn(c)
		hook.Store(&push)
		submit(p, &Request{Command: "PING", Done: ends})
		open := 2
		if pushes == 0 { // the reader was back and wrote it, so no command follows
			open = 1
		} else {
			met++
		}
		for range open {
			if r := end(t, done); r.Err != nil {
				t.Fatal(r.Err)
			}
		}
		hook.Store(nil)
	}
}

func TestOnlyACallerThatGoesOnIsALoneOne(t *testing.T) {
	t.Parallel()
	const quick, slow = 100 * time.Microsecond, 10 * time.Millisecond
	var c conn
	now := time.Duration(0)
	cut := func(gap time.Duration, alone bool) bool {
		now += gap
		c.takesRead(now, alone, false)
		return c.lone.follows >= loneFrom
	}
	for range loneFrom - 1 {
		if cut(quick, true) {
			t.Fatal("too early")
		}
	}
	for i := range 100 {
		gap := quick
		if i%10 == 9 {
			gap = slow // the machine stalled
		}
		if !cut(gap, true) && i > 2*loneFrom {
			t.Fatalf("no more after %d", i)
		}
	}
	if cut(quick, false) || cut(quick, true) {
		t.Error("two callers are taken for one")
	}
	for range 100 {
		if cut(slow, true) {
			t.Fatal("one that makes pauses is taken for one that goes on")
		}
	}
}
