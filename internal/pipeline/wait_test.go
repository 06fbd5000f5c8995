package pipeline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// calls returns how often the server ran a command.
func calls(t *testing.T, c redis.Conn, command string) int {
	t.Helper()
	text, err := redis.String(c.Do("INFO", "commandstats"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	_, rest, ok := strings.Cut(text, "cmdstat_"+command+":calls=")
	if ok {
		_, _ = fmt.Sscanf(rest, "%d", &n)
	}
	return n
}

// waitFor submits n writes with a WAIT as one batch. It queues them under one lock, as the reader
// may be about to write for the last replies.
func waitFor(t *testing.T, p *Pipeline, n int) <-chan *Request {
	t.Helper()
	done := make(chan *Request, n)
	p.mu.Lock()
	for i := range n {
		p.queue.add(&Request{
			Command: "SET", Args: []any{fmt.Sprint("key", i), ""}, Wait: true,
			Done:     CompletionFunc(func(r *Request) { done <- r }),
			Deadline: p.o.Clock.Now() + p.o.Timeout,
		})
	}
	p.mu.Unlock()
	p.Flush()
	return done
}

// With a WAIT each, the last of the writes would be answered many seconds later.
func TestWritesOfABatchShareOneWAIT(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	replica := s.StartReplica(t)
	p := open(t, dialler(t, s), Options{Replicas: true})
	end(t, ask(p, "PING"))
	admin := s.Dial(t)
	before := calls(t, admin, "wait") // the WAITs of StartReplica
	const many = 64
	done := waitFor(t, p, many)
	for range many {
		if r := end(t, done); r.Err != nil || r.Replicas != 1 {
			t.Errorf("%v; %d of %d have it", r.Err, r.Acked, r.Replicas)
		}
	}
	if n := calls(t, admin, "wait") - before; n != 1 {
		t.Errorf("%d WAIT for one batch", n)
	}
	replica.Pause()
	defer replica.Resume()
	done = waitFor(t, p, many)
	for range many {
		if r := end(t, done); r.Err != nil || r.Replicas != 1 || r.Acked != 0 {
			t.Errorf("%v; %d of %d have it", r.Err, r.Acked, r.Replicas)
		}
	}
	if n := calls(t, admin, "wait") - before; n != 2 {
		t.Errorf("%d WAIT for two batches", n)
	}
}

// The writes that come while a WAIT is in flight follow it together, with one WAIT.
func TestNothingIsWrittenBehindAWAIT(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "waits for WAITs of a second")
	s := redistest.Start(t)
	replica := s.StartReplica(t)
	p := open(t, dialler(t, s), Options{Replicas: true})
	end(t, ask(p, "PING"))
	admin := s.Dial(t)
	before := calls(t, admin, "wait") // the WAITs of StartReplica
	replica.Pause()
	defer replica.Resume()
	first := waitFor(t, p, 1)
	s.AwaitBlocked(t)
	var later []<-chan *Request
	for range 6 {
		later = append(later, waitFor(t, p, 1))
	}
	end(t, first)
	for _, done := range later {
		if r := end(t, done); r.Err != nil || r.Replicas != 1 {
			t.Errorf("%v; %d replicas", r.Err, r.Replicas)
		}
	}
	if n := calls(t, admin, "wait") - before; n != 2 {
		t.Errorf("%d WAIT", n)
	}
}

// The server dies during the WAIT: the writes that it has already answered have no outcome.
func TestWritesWhoseWAITIsLostAreLost(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	replica := s.StartReplica(t)
	p := open(t, dialler(t, s), Options{Replicas: true})
	end(t, ask(p, "PING"))
	replica.Pause()
	defer replica.Resume()
	const many = 8
	done := waitFor(t, p, many)
	s.AwaitBlocked(t)
	s.Kill()
	for range many {
		r := end(t, done)
		if _, lost := r.Err.(*LostError); !lost || r.Reply != nil {
			t.Errorf("got %v, %v", r.Reply, r.Err)
		}
	}
}

// A write that would be undone keeps no other caller out during another write's WAIT.
func TestTentativeWriteHasNoWAITWhileNoReplicaIsOnline(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "waits for WAITs of a second")
	s := redistest.Start(t)
	replica := s.StartReplica(t)
	a, b := siblings(t, dialler(t, s), keeping(true))
	end(t, waitFor(t, b, 1))
	tentative := func() chan *Request {
		done := make(chan *Request, 1)
		submit(a, &Request{
			Command: "SET", Args: []any{"tentative", ""}, Wait: true, Tentative: true,
			Done: CompletionFunc(func(r *Request) { done <- r }),
		})
		return done
	}
	if r := end(t, tentative()); r.Acked != 1 {
		t.Fatalf("%v; %d of %d have it", r.Err, r.Acked, r.Replicas)
	}
	replica.Kill()
	end(t, waitFor(t, b, 1)) // no replica has it
	end(t, ask(b, "PING"))   // answered after the count
	lasts := waitFor(t, b, 1)
	s.AwaitBlocked(t)
	waits := calls(t, s.Dial(t), "wait")
	for range 10 {
		if r := end(t, tentative()); r.Err != nil || r.Replicas != 1 || r.Acked != 0 {
			t.Errorf("%v; %d of %d have it", r.Err, r.Acked, r.Replicas)
		}
	}
	if waits = calls(t, s.Dial(t), "wait") - waits; waits > 1 { // the one that lasts may have ended
		t.Errorf("ten writes had %d WAITs", waits)
	}
	if r := end(t, lasts); r.Acked != 0 {
		t.Errorf("%d have it", r.Acked)
	}
}

// Behind a script that the server lacks, a WAIT would last as long as behind one that ran.
func TestScriptIsLoadedBeforeItsFirstWAIT(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	s.StartReplica(t)
	admin := s.Dial(t)
	before := calls(t, admin, "wait") // the WAITs of StartReplica
	p := open(t, dialler(t, s), Options{Replicas: true})
	end(t, ask(p, "PING"))
	for i := range 2 {
		done := make(chan *Request, 1)
		r := &Request{Wait: true, Done: CompletionFunc(func(r *Request) { done <- r })}
		r.Call(luasrc.Lock(r.ArgBuffer[:0], fmt.Sprint("name", i), "owner", 10_000))
		submit(p, r)
		if end(t, done); r.Err != nil || r.Replicas != 1 {
			t.Errorf("%v; %d of %d have it", r.Err, r.Acked, r.Replicas)
		}
	}
	if n := calls(t, admin, "wait") - before; n != 2 {
		t.Errorf("%d WAIT for two scripts", n)
	}
	if n := calls(t, admin, "evalsha"); n != 2 {
		t.Errorf("%d EVALSHA for two scripts", n)
	}
	if n := calls(t, admin, "script|load"); n != 1 {
		t.Errorf("%d SCRIPT LOAD for one script", n)
	}
}

// The topology answers during a WAIT: first that of a write, then that of AwaitReplicas.
func TestWAITThatNobodyAcknowledgesCountsForNothingOnceNobodyIsWaitedFor(t *testing.T) {
	redistest.Slow(t, "waits for WAITs of a second")
	t.Parallel()
	s := redistest.Start(t)
	replica := s.StartReplica(t)
	p := open(t, dialler(t, s), keeping(true))
	end(t, waitFor(t, p, 1))
	agree := func(online ...string) {
		tally := p.tally.Load()
		tally.mu.Lock()
		defer tally.mu.Unlock()
		tally.agree(online)
	}
	replica.Pause()
	defer replica.Resume()
	done := waitFor(t, p, 1)
	s.AwaitBlocked(t)
	agree()
	if r := end(t, done); r.Err != nil || r.Replicas != 0 || r.Acked != 0 {
		t.Errorf("%v; %d of %d have it", r.Err, r.Acked, r.Replicas)
	}
	agree(replica.Addr())
	r := end(t, waitFor(t, p, 1))
	if r.Replicas != 1 || r.Acked != 0 {
		t.Fatalf("%v; %d of %d have it", r.Err, r.Acked, r.Replicas)
	}
	end(t, ask(p, "PING")) // answered after the count
	again := make(chan int, 1)
	if asks, err := p.AwaitReplicas(r, func(acked int, err error) { again <- acked }); !asks {
		t.Fatalf("they are not asked once more: %v", err)
	}
	p.Flush()
	s.AwaitBlocked(t)
	agree()
	if acked := <-again; acked == 0 {
		t.Error("none has it, and none is waited for")
	}
}

// A command that has no limit waits for the end of the WAIT, however long its deadline is over by then.
func TestNothingIsWrittenAfterItsTime(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "waits for WAITs of a second")
	s := redistest.Start(t)
	replica := s.StartReplica(t)
	p := open(t, dialler(t, s), Options{Replicas: true})
	end(t, ask(p, "PING"))
	replica.Pause()
	defer replica.Resume()
	waitFor(t, p, 1)
	s.AwaitBlocked(t)
	late := make(chan *Request, 1)
	r := &Request{Command: "SET", Args: []any{"late", ""}, Done: CompletionFunc(func(r *Request) { late <- r })}
	r.Until = p.o.Clock.Now()
	submit(p, r)
	read := ask(p, "EXISTS", "late")
	if _, unsent := end(t, late).Err.(*NotSentError); !unsent {
		t.Errorf("%v, %v", r.Reply, r.Err)
	}
	if r := end(t, read); r.Err != nil || r.Reply != int64(0) {
		t.Errorf("%v keys of it, %v", r.Reply, r.Err)
	}
}
