package javafair

import (
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/internal/onserver"
	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/internal/topologytest"
)

// In a cluster Redisson 4.7.0 publishes to shards and 3.21.3 to all, and each hears its own only: a queue of both never ends.
// Go hears and sends both, so with Go between them it moves, in order.
func TestQueueOfBothSortsOfJavaMovesInACluster(t *testing.T) {
	t.Parallel()
	s := topologytest.StartReplicated(t, 1, 1, 1)
	moves(t, s.ClusterURL(), s.Conn(s.MasterOf(codec.Slot(name))))
}

func TestQueueMovesBehindSentinels(t *testing.T) {
	inFull(t)
	t.Parallel()
	s := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	moves(t, s.URL(), s.Nodes[0].Dial(t))
}

// moves has Go and two releases of Java stand in one queue, and enter in their order.
func moves(t *testing.T, url string, conn redis.Conn) {
	t.Helper()
	r := &rig{onserver.By(t, conn)}
	golang := newGoSide(t, url)
	newest, old := newJavaSide(t, javapeer.Newest, url), newJavaSide(t, "3.21.3", url)
	if err := golang.acquire("holder", 0, 0); err != nil {
		t.Fatal(err)
	}
	waiters := []waiter{{newest, "j0"}, {golang, "g0"}, {old, "j1"}, {golang, "g1"}, {newest, "j2"}, {golang, "g2"}}
	var ends []<-chan error
	for i, w := range waiters {
		ends = append(ends, started(w, w.who, 0, 0))
		r.Eventually("a place", func() bool { return len(r.queue()) == i+1 })
	}
	r.Eventually("listeners", func() bool {
		all := map[string]bool{}
		for _, sort := range []string{"CHANNELS", "SHARDCHANNELS"} {
			channels, _ := redis.Strings(conn.Do("PUBSUB", sort, codec.Channel(name)+":*"))
			for _, channel := range channels {
				all[channel] = true
			}
		}
		return len(all) == len(waiters)
	})
	holder := waiter{golang, "holder"}
	for i, w := range waiters {
		if err := holder.unlock(holder.who); err != nil {
			t.Fatal(err)
		}
		// Nobody but Go looks by itself so soon, and Go only after 4 s.
		if took := r.enters(ends[i], patience); took > 3*time.Second {
			t.Errorf("%s entered after %v", w.who, took)
		}
		holder = w
	}
	if err := holder.unlock(holder.who); err != nil {
		t.Fatal(err)
	}
	r.free()
}
