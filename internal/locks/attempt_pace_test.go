package locks

import (
	"context"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/topology"
)

// watched is a kind that calls granted at each grant.
type watched struct {
	kind.Kind
	granted func()
}

func (k watched) Granted(reply any) (kind.Grant, error) {
	g, err := k.Kind.Granted(reply)
	if err == nil && g.OK {
		k.granted()
	}
	return g, err
}

// A grant that no replica acknowledges keeps others out for a second. Between two such grants other clients get the
// lock, however many callers this client has.
func TestOthersEnterBetweenGrantsThatNoReplicaAcknowledges(t *testing.T) {
	redistest.Slow(t, "waits for WAITs of a second")
	t.Parallel()
	s := redistest.Start(t)
	replica := s.StartReplica(t)
	var entered atomic.Int64
	o := config()
	o.Timeout = time.Minute // nobody gives up
	o.Replicas = true
	o.Topology = func(settings topology.Settings) (topology.Topology, error) { return topology.Open(s.URL(), settings) }
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	granted := make(chan int64, 100) // the other client's grants so far
	l := c.NewLock(watched{kind.Reentrant, func() { granted <- entered.Load() }}, "orders", "orders")
	mustUnlock(t, mustAcquire(t, &l))
	<-granted
	other := open(t, s)
	theirs := other.NewLock(kind.Reentrant, "orders", "orders")
	mustUnlock(t, mustAcquire(t, &theirs))

	// On a busy machine this may last until the replica counts as one that hangs, which nobody waits for.
	hangs := regexp.MustCompile(`,lag=([89]|\d\d)`)
	info := func() string {
		said, err := redis.String(s.Dial(t).Do("INFO", "replication"))
		if err != nil {
			t.Error(err)
		}
		return said
	}
	replica.Pause()
	t.Cleanup(replica.Resume)
	ctx, stop := context.WithCancel(t.Context())
	var callers sync.WaitGroup
	defer callers.Wait()
	defer stop()
	for i := range 6 {
		w := NewWaiter(&l)
		if i > 0 {
			w.Terms = Terms{As: true, Owner: c.NewOwner()}
		}
		if err := w.Start(); err != nil {
			t.Fatal(err)
		}
		callers.Go(func() {
			if h, err := w.Result(ctx, w.Await(ctx)); err == nil {
				if said := info(); !hangs.MatchString(said) {
					t.Errorf("a grant was kept that no replica has: %s", said)
				}
				mustUnlock(t, h)
			}
		})
	}
	callers.Go(func() {
		for ctx.Err() == nil {
			w := NewWaiter(&theirs)
			if w.Start() != nil {
				return
			}
			if h, err := w.Result(ctx, w.Await(ctx)); err == nil {
				entered.Add(1)
				mustUnlock(t, h)
			}
		}
	})
	last := int64(-1)
	for i := range 3 {
		select {
		case n := <-granted:
			if n == last {
				t.Errorf("nobody else entered between grant %d and the one before", i)
			}
			last = n
		case <-time.After(10 * soon):
			t.Fatal("nothing is granted")
		}
	}
}
