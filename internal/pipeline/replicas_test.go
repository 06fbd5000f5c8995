package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// A former master loses its replicas seconds before it stops taking writes.
func TestReplicasThatLeftAreStillWaitedForWhereOneMayBeTheMaster(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "waits for WAITs of a second")
	for _, keep := range []bool{false, true} {
		t.Run(fmt.Sprint(keep), func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t)
			replica := s.StartReplica(t)
			p := open(t, dialler(t, s), keeping(keep))
			if r := end(t, waitFor(t, p, 1)); r.Replicas != 1 || r.Acked != 1 {
				t.Fatalf("%v; %d of %d have it", r.Err, r.Acked, r.Replicas)
			}
			replica.Kill()
			if r := end(t, waitFor(t, p, 1)); r.Replicas != 1 || r.Acked != 0 {
				t.Errorf("%v; %d of %d have it", r.Err, r.Acked, r.Replicas)
			}
			end(t, ask(p, "PING")) // answered after the count
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

// A master that was a replica a moment ago has no replicas yet.
func TestReplicaThatComesLaterIsWaitedFor(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	p := open(t, dialler(t, s), keeping(true))
	if r := end(t, waitFor(t, p, 1)); r.Replicas != 0 {
		t.Fatalf("%d replicas", r.Replicas)
	}
	s.StartReplica(t)
	for end1 := time.Now().Add(countSeldom / 2); ; time.Sleep(10 * time.Millisecond) {
		if r := end(t, waitFor(t, p, 1)); r.Replicas == 1 && r.Acked == 1 {
			return
		}
		if time.Now().After(end1) {
			t.Fatal("it is not waited for, or late")
		}
	}
}

var errUnsure = errors.New("not sure")

// keeping is for a topology that never says that the master stays, or, if keep is false, for one that can't be asked.
func keeping(keep bool) Options {
	o := Options{Replicas: true}
	if keep {
		o.Share = &Replicas{Known: func() []string { return nil }}
		o.Node = Node{Stays: func(context.Context, []string) error { return errUnsure }}
	}
	return o
}

// untilWaitedFor writes until a WAIT counts want replicas.
func untilWaitedFor(t *testing.T, p *Pipeline, want int) {
	t.Helper()
	redistest.Becomes(t, fmt.Sprint(want, " replicas are waited for"), func() bool {
		r := end(t, waitFor(t, p, 1))
		return r.Err == nil && r.Replicas == want
	})
}

// fed starts a replica that gets its master's data only after feed is called.
func fed(t *testing.T, s *redistest.Server) (feed func()) {
	t.Helper()
	c := s.Dial(t)
	set := func(delay int) {
		if _, err := c.Do("CONFIG", "SET", "repl-diskless-sync-delay", delay); err != nil {
			t.Fatal(err)
		}
	}
	set(3600)
	redistest.Start(t, "--replicaof", "127.0.0.1", strconv.Itoa(s.Port()))
	redistest.Becomes(t, "the replica waits for its master's data", func() bool {
		info, err := redis.String(c.Do("INFO", "replication"))
		return err == nil && strings.Contains(info, "state=wait_bgsave")
	})
	return func() { set(0) }
}

func TestReplicaIsWaitedForOnceItHasBeenFed(t *testing.T) {
	t.Parallel()
	for _, keep := range []bool{false, true} {
		t.Run(fmt.Sprint(keep), func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t)
			feed := fed(t, s)
			p := open(t, dialler(t, s), keeping(keep))
			if r := end(t, waitFor(t, p, 1)); r.Err != nil || r.Replicas != 0 {
				t.Errorf("%v; a replica that is still fed is waited for", r.Err)
			}
			feed()
			untilWaitedFor(t, p, 1)
		})
	}
}

// A new master's replicas are known before they connect, and one may have been lost before the client came.
func TestReplicasThatTheTopologyKnowsAreWaitedForAtFirst(t *testing.T) {
	t.Parallel()
	s, next := redistest.Start(t), redistest.Start(t)
	dials := []func(context.Context) (redis.Conn, error){dialler(t, s), dialler(t, next)}
	var at atomic.Int32
	o := keeping(true)
	o.Share.Known = func() []string { return []string{"a:1", "b:1"} }
	p := open(t, func(ctx context.Context) (redis.Conn, error) { return dials[at.Load()](ctx) }, o)
	if r := wrote(t, p, true); r.Replicas != 2 || r.Lasting != 0 {
		t.Errorf("%v; %d are waited for, by what lasts %d, and 2 are known", r.Err, r.Replicas, r.Lasting)
	}
	at.Store(1)
	p.Retire(errReadOnly)
	if r := end(t, waitFor(t, p, 1)); r.Replicas != 0 {
		t.Errorf("%v; %d are waited for at another server", r.Err, r.Replicas)
	}
}

// What no lease ends needs the replicas that a later master will have too. One of them may take its place while it has no more
// than the copy that it was sent at first.
func TestWhatLastsNeedsTheReplicasThatComeToTheNextMaster(t *testing.T) {
	t.Parallel()
	s, next := redistest.Start(t), redistest.Start(t)
	dials := []func(context.Context) (redis.Conn, error){dialler(t, s), dialler(t, next)}
	var at atomic.Int32
	var stays atomic.Bool
	o := keeping(true)
	o.Share.Known = func() []string { return []string{"a:1", "b:1"}[:2*at.Load()] }
	o.Node = Node{Stays: func(context.Context, []string) error {
		if stays.Load() {
			return nil
		}
		return errUnsure
	}}
	p := open(t, func(ctx context.Context) (redis.Conn, error) { return dials[at.Load()](ctx) }, o)
	if r := wrote(t, p, true); r.Lasting != 0 {
		t.Errorf("%v; %d are needed, and none is known", r.Err, r.Lasting)
	}
	at.Store(1)
	p.Retire(errReadOnly)
	if r := wrote(t, p, true); r.Replicas != 0 || r.Lasting != 2 {
		t.Errorf("%v; %d are waited for, %d are needed, and none has come", r.Err, r.Replicas, r.Lasting)
	}
	feed := fed(t, next)
	if r := wrote(t, p, true); r.Replicas != 0 || r.Lasting != 2 {
		t.Errorf("%v; %d are waited for, %d are needed, and one is still fed", r.Err, r.Replicas, r.Lasting)
	}
	feed()
	untilWaitedFor(t, p, 1)
	if r := wrote(t, p, true); r.Lasting != 2 {
		t.Errorf("%v; %d are needed, and one has come", r.Err, r.Lasting)
	}
	if r := wrote(t, p, false); r.Lasting != 0 {
		t.Errorf("%v; %d are needed by what a lease ends", r.Err, r.Lasting)
	}
	stays.Store(true)
	redistest.Becomes(t, "the other is not needed where the master stays", func() bool { return wrote(t, p, true).Lasting == 0 })
	if r := acknowledged(t, p); r.Replicas != 1 {
		t.Errorf("%v; %d are waited for, and one has come", r.Err, r.Replicas)
	}
}

// The topology is asked about the lost replica, twice.
func TestReplicaThatIsGoneIsWaitedForUntilTheTopologySaysTwiceThatTheMasterStays(t *testing.T) {
	redistest.Slow(t, "waits for WAITs of a second")
	t.Parallel()
	s := redistest.Start(t)
	replica := s.StartReplica(t)
	var word atomic.Bool
	var mu sync.Mutex
	var said []time.Time // when the topology said that the master stays
	gone := make(chan []string, 1)
	a, b := siblings(t, dialler(t, s), Options{Replicas: true, Share: &Replicas{Known: func() []string { return nil }}, Node: Node{Stays: func(_ context.Context, of []string) error {
		select {
		case gone <- of:
		default:
		}
		if !word.Load() {
			return errUnsure
		}
		mu.Lock()
		said = append(said, time.Now())
		mu.Unlock()
		return nil
	}}})
	for _, p := range []*Pipeline{a, b} {
		if r := end(t, waitFor(t, p, 1)); r.Replicas != 1 || r.Acked != 1 {
			t.Fatalf("%v; %d of %d have it", r.Err, r.Acked, r.Replicas)
		}
	}
	replica.Kill()
	for range 2 {
		if r := end(t, waitFor(t, a, 1)); r.Replicas != 1 || r.Acked != 0 {
			t.Errorf("%v; %d of %d have it", r.Err, r.Acked, r.Replicas)
		}
	}
	if of := <-gone; !slices.Equal(of, []string{replica.Addr()}) {
		t.Errorf("asked about %v, and %s is gone", of, replica.Addr())
	}
	word.Store(true)
	untilWaitedFor(t, a, 0)
	mu.Lock()
	if n := len(said); n < 2 || said[n-1].Sub(said[0]) < secondWord {
		t.Errorf("it falls when that was said at %v", said)
	}
	mu.Unlock()
	if r := end(t, waitFor(t, b, 1)); r.Replicas != 0 {
		t.Errorf("the sibling waits for %d", r.Replicas)
	}
	replica.Restart()
	follow(t, replica, s)
	untilWaitedFor(t, b, 1)
}

// wrote makes one write. If counts is set, the replicas are counted after its WAIT.
func wrote(t *testing.T, p *Pipeline, counts bool) *Request {
	t.Helper()
	done := make(chan *Request, 1)
	r := &Request{Command: "SET", Args: []any{"key", ""}, Wait: true, Counts: counts, Done: CompletionFunc(func(r *Request) { done <- r })}
	if !p.Enqueue(r, 0) {
		t.Fatal(r.Err)
	}
	p.Flush()
	return end(t, done)
}

// acknowledged repeats wrote until a replica answers, which may take too long on a busy machine.
func acknowledged(t *testing.T, p *Pipeline) (r *Request) {
	t.Helper()
	for range 20 {
		if r = wrote(t, p, true); r.Acked == 1 {
			return r
		}
	}
	t.Fatalf("%v; %d of %d acknowledged", r.Err, r.Acked, r.Replicas)
	return nil
}

func TestReplicasAreCountedAtOnceWhereTheTopologyListsMore(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	s.StartReplica(t)
	p := open(t, dialler(t, s), keeping(true))
	untilWaitedFor(t, p, 1)
	s.StartReplica(t)
	if r := wrote(t, p, false); r.Replicas != 1 {
		t.Fatalf("%d were counted before anybody said so", r.Replicas)
	}
	p.List(2)
	end(t, ask(p, "PING")) // answered after the count
	if r := wrote(t, p, false); r.Replicas != 2 {
		t.Errorf("%d are waited for", r.Replicas)
	}
}
