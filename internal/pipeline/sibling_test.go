package pipeline

import (
	"cmp"
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// siblings makes two pipelines to one server.
func siblings(t *testing.T, dial func(context.Context) (redis.Conn, error), o Options) (a, b *Pipeline) {
	t.Helper()
	o.Share = cmp.Or(o.Share, &Replicas{})
	a = open(t, dial, o)
	o.Spare = true
	b = open(t, dial, o)
	Pair(a, b)
	return a, b
}

// The former master of a failover has lost its replicas when the second pipeline connects.
func TestReplicasThatASiblingHasSeenAreWaitedFor(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	replica := s.StartReplica(t)
	a, b := siblings(t, dialler(t, s), keeping(true))
	if r := end(t, waitFor(t, a, 1)); r.Replicas != 1 || !a.AsksReplicas() {
		t.Fatalf("%v; %d replicas", r.Err, r.Replicas)
	}
	replica.Kill()
	if r := end(t, waitFor(t, b, 1)); r.Replicas != 1 || r.Acked != 0 {
		t.Errorf("%v; %d of %d have it", r.Err, r.Acked, r.Replicas)
	}
}

// If two siblings reach different servers, the older connection is replaced.
func TestSiblingsLeadToOneServer(t *testing.T) {
	t.Parallel()
	former, next := redistest.Start(t), redistest.Start(t)
	var to atomic.Pointer[redistest.Server]
	to.Store(former)
	dials := map[*redistest.Server]func(context.Context) (redis.Conn, error){former: dialler(t, former), next: dialler(t, next)}
	var moved atomic.Int32
	a, b := siblings(t, func(ctx context.Context) (redis.Conn, error) { return dials[to.Load()](ctx) }, Options{
		Replicas: true, Node: Node{Connected: func(_ string, is bool) {
			if is {
				moved.Add(1)
			}
		}},
	})
	end(t, ask(a, "SET", "written", "by the first"))
	end(t, ask(b, "PING"))
	if moved.Load() != 0 {
		t.Error("both lead to one server, and one was made anew")
	}
	to.Store(next)
	kill(t, former, connected(t, b, nil))
	end(t, ask(b, "PING"))
	conn := next.Dial(t)
	redistest.Becomes(t, "the first leads to the other server", func() bool {
		end(t, ask(a, "SET", "moved", ""))
		n, err := redis.Int(conn.Do("EXISTS", "moved"))
		if err != nil {
			t.Fatal(err)
		}
		return n == 1
	})
}

// A spare that cannot connect hands its commands back, so that they can go to the other.
func TestSpareThatCantConnectHandsBackWhatItHas(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	working := dialler(t, s)
	var shut atomic.Bool
	_, b := siblings(t, func(ctx context.Context) (redis.Conn, error) {
		if shut.Load() {
			return nil, context.Canceled
		}
		return working(ctx)
	}, Options{Replicas: true})
	if !b.Reachable() {
		t.Error("nothing has failed so far")
	}
	shut.Store(true)
	if r := end(t, ask(b, "PING")); r.Err == nil || r.Err.(*NotSentError).Cause != ErrGone {
		t.Errorf("got %v, %v", r.Reply, r.Err)
	}
	if b.Reachable() {
		t.Error("it has just failed")
	}
	shut.Store(false)
	redistest.Becomes(t, "it is tried again", b.Reachable)
	if r := end(t, ask(b, "PING")); r.Err != nil {
		t.Error(r.Err)
	}
}

// Neither sibling waits for a replica that one of them counts as gone.
func TestSiblingsShareTheirCounts(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	replica := s.StartReplica(t)
	a, b := siblings(t, dialler(t, s), Options{Replicas: true})
	for _, p := range []*Pipeline{a, b} {
		for end1 := time.Now().Add(10 * timeout); ; {
			r := end(t, waitFor(t, p, 1))
			if r.Replicas == 1 && r.Acked == 1 {
				break
			}
			// On a machine that stalls, WAIT's second may pass without an acknowledgement.
			if r.Err != nil || r.Replicas != 1 || time.Now().After(end1) {
				t.Fatalf("%v; %d of %d have it", r.Err, r.Acked, r.Replicas)
			}
		}
	}
	replica.Kill()
	end(t, waitFor(t, a, 1)) // no replica has it
	end(t, ask(a, "PING"))   // answered after the count
	if r := end(t, waitFor(t, b, 1)); r.Replicas != 0 {
		t.Errorf("%d replicas are waited for, and the other has counted none", r.Replicas)
	}
}
