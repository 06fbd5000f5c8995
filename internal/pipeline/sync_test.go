package pipeline

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redistest"
)

// calls is how often the server was asked for a command.
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

// waitFor submits writes that want a WAIT, as one batch. Nobody else writes
// meanwhile: the reader of what was answered last may be about to, and would send
// the first of them without the others.
func waitFor(t *testing.T, p *Pipeline, n int) <-chan *Request {
	t.Helper()
	done := make(chan *Request, n)
	p.mu.Lock()
	c := p.conn
	if c != nil {
		c.writing = true
	}
	p.mu.Unlock()
	for i := range n {
		r := &Request{
			Command: "SET", Args: []any{fmt.Sprint("key", i), ""}, Wait: true,
			Done: CompletionFunc(func(r *Request) { done <- r }),
		}
		if !p.Enqueue(r) {
			t.Fatal(r.Err)
		}
	}
	if c != nil {
		p.mu.Lock()
		c.writing = false
		p.mu.Unlock()
	}
	p.Flush()
	return done
}

// With a WAIT for each, the last of them would be answered after as many seconds.
func TestWritesOfABatchShareOneWAIT(t *testing.T) {
	s := redistest.Start(t)
	replica := replicaOf(t, s)
	p := open(t, dialler(t, s), Options{Replicas: true})
	end(t, ask(p, "PING"))
	admin := s.Dial(t)
	const many = 64
	done := waitFor(t, p, many)
	for range many {
		if r := end(t, done); r.Err != nil || r.Replicas != 1 || r.Acked != 1 {
			t.Errorf("%v; %d of %d have it", r.Err, r.Acked, r.Replicas)
		}
	}
	if n := calls(t, admin, "wait"); n != 1 {
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
	if n := calls(t, admin, "wait"); n != 2 {
		t.Errorf("%d WAIT for two batches", n)
	}
}

// What comes while a WAIT is in flight goes together behind it, with one of its own.
func TestNothingIsWrittenBehindAWAIT(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	replica := replicaOf(t, s)
	p := open(t, dialler(t, s), Options{Replicas: true})
	end(t, ask(p, "PING"))
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
	if n := calls(t, s.Dial(t), "wait"); n != 2 {
		t.Errorf("%d WAIT", n)
	}
}

// The server dies while it waits: what it answered before has no outcome.
func TestWritesWhoseWAITIsLostAreLost(t *testing.T) {
	s := redistest.Start(t)
	replica := replicaOf(t, s)
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

// A former master's replicas leave it seconds before it stops to take writes.
func TestReplicasThatLeftAreStillWaitedForWhereOneMayBeTheMaster(t *testing.T) {
	for _, keep := range []bool{false, true} {
		t.Run(fmt.Sprint(keep), func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t)
			replica := replicaOf(t, s)
			p := open(t, dialler(t, s), Options{Replicas: true, Keep: keep})
			if r := end(t, waitFor(t, p, 1)); r.Replicas != 1 || r.Acked != 1 {
				t.Fatalf("%v; %d of %d have it", r.Err, r.Acked, r.Replicas)
			}
			replica.Kill()
			if r := end(t, waitFor(t, p, 1)); r.Replicas != 1 || r.Acked != 0 {
				t.Errorf("%v; %d of %d have it", r.Err, r.Acked, r.Replicas)
			}
			end(t, ask(p, "PING")) // behind the count
			want := 0
			if keep {
				want = 1
			}
			if r := end(t, waitFor(t, p, 1)); r.Replicas != want || r.Acked != 0 {
				t.Errorf("%v; %d of %d have it, want %d", r.Err, r.Acked, r.Replicas, want)
			}
			kill(t, s, connected(t, p, nil))
			end(t, ask(p, "PING"))
			if r := end(t, waitFor(t, p, 1)); r.Replicas != want {
				t.Errorf("after another connection: %v; %d of %d have it, want %d", r.Err, r.Acked, r.Replicas, want)
			}
		})
	}
}

// A master that was a replica a moment ago has none yet.
func TestReplicaThatComesLaterIsWaitedFor(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	p := open(t, dialler(t, s), Options{Replicas: true, Keep: true})
	if r := end(t, waitFor(t, p, 1)); r.Replicas != 0 {
		t.Fatalf("%d replicas", r.Replicas)
	}
	replicaOf(t, s)
	for end1 := time.Now().Add(10 * timeout); ; time.Sleep(10 * time.Millisecond) {
		if r := end(t, waitFor(t, p, 1)); r.Replicas == 1 && r.Acked == 1 {
			return
		}
		if time.Now().After(end1) {
			t.Fatal("it is never waited for")
		}
	}
}

func TestReplicasThatWereTakenAwayAreWaitedForAMinute(t *testing.T) {
	p := &Pipeline{}
	for i, row := range []struct {
		at            time.Duration
		counted, want int
	}{
		{0, 0, 0}, {1, 2, 2}, {2, 3, 3}, {3, 1, 3}, {3 + fewerFor - 1, 1, 3}, {3 + fewerFor, 1, 1},
		{fewerFor * 2, 2, 2},
		{fewerFor * 3, 1, 2}, {fewerFor*4 - 1, 2, 2}, {fewerFor * 4, 1, 2}, // they came back meanwhile
		{fewerFor * 9, 0, 2}, {fewerFor * 20, 0, 2}, // none is never a count that is to be gone by
		{fewerFor * 21, 1, 2}, {fewerFor * 22, 1, 1},
	} {
		if got := p.keep(row.counted, row.at); got != row.want {
			t.Errorf("%d: %d counted at %v: %d, want %d", i, row.counted, row.at, got, row.want)
		}
	}
}
