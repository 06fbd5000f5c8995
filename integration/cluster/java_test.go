package cluster_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/internal/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

// beforeShards is the newest Redisson that publishes plainly.
const beforeShards = "3.21.3"

// lease is far longer than a wake-up takes: who enters sooner was woken.
const lease = 30 * time.Second

// soon is far more than a wake-up takes, and far less than the lease.
const soon = 5 * time.Second

func open(t *testing.T, c *topologytest.Cluster, opts ...rlock.Option) *rlock.Client {
	t.Helper()
	client, err := rlock.Open(t.Context(), c.ClusterURL(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

// names are two of each master: one with a hash tag, one without.
func names() (all []string) {
	for master := range 3 {
		for _, form := range []string{"orders-%d", "{orders-%d}:lock"} {
			for i := 0; ; i++ {
				if name := fmt.Sprintf(form, i); min(int(codec.Slot(name))/5461, 2) == master {
					all = append(all, name)
					break
				}
			}
		}
	}
	return all
}

// delays are from releases to the entries of those who waited.
type delays []time.Duration

func (d delays) report(t *testing.T, what string) {
	t.Helper()
	if len(d) == 0 {
		return
	}
	slices.Sort(d)
	t.Logf("%s: %d wake-ups, p50 %v, max %v", what, len(d), d[len(d)/2].Round(100*time.Microsecond), d[len(d)-1].Round(100*time.Microsecond))
	if most := d[len(d)-1]; most > soon {
		t.Errorf("%s: one took %v, with leases of %v", what, most, lease)
	}
}

const rounds = 5

func TestGoAndJavaWakeEachOtherInACluster(t *testing.T) {
	for _, version := range []string{javapeer.Newest, beforeShards} {
		t.Run(version, func(t *testing.T) {
			c := topologytest.StartReplicated(t, 1, 1, 1)
			java := javapeer.Start(t, version, c.ClusterURL())
			client := open(t, c)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			holder, waiter := java.Thread("holder"), java.Thread("waiter")
			var toGo, toJava delays
			for _, name := range names() {
				l := client.NewLock(name)
				for range rounds {
					toGo = append(toGo, javaToGo(ctx, t, c, holder, l))
					toJava = append(toJava, goToJava(ctx, t, waiter, l))
				}
			}
			toGo.report(t, "Java "+version+" to Go")
			toJava.report(t, "Go to Java "+version)
		})
	}
}

// javaToGo has Java hold, Go wait, and Java release.
func javaToGo(ctx context.Context, t *testing.T, c *topologytest.Cluster, holder *javapeer.Thread, l *rlock.Lock) time.Duration {
	t.Helper()
	if _, err := holder.Lock(ctx, l.Name(), lease); err != nil {
		t.Fatal(err)
	}
	if _, err := l.TryLock(ctx); err == nil {
		t.Fatalf("%s: Java holds it, and Go has it", l.Name())
	}
	var entered time.Time
	var waiting sync.WaitGroup
	waiting.Go(func() {
		h, err := l.Lock(ctx)
		entered = time.Now()
		if err != nil {
			t.Error(err)
		} else if err := h.Unlock(ctx); err != nil {
			t.Error(err)
		}
	})
	awaitListener(ctx, t, c, codec.Channel(l.Name()))
	released := time.Now()
	if _, err := holder.Unlock(ctx, l.Name()); err != nil {
		t.Fatal(err)
	}
	waiting.Wait()
	return entered.Sub(released)
}

// awaitListener waits until somebody is subscribed to both kinds of a channel.
func awaitListener(ctx context.Context, t *testing.T, c *topologytest.Cluster, channel string) {
	t.Helper()
	for ; ; time.Sleep(time.Millisecond) {
		for server := range 3 {
			both := 0
			for _, ask := range []string{"NUMSUB", "SHARDNUMSUB"} {
				pair, err := redis.Values(c.Conn(server).Do("PUBSUB", ask, channel))
				if err != nil {
					t.Fatal(err)
				}
				if n, _ := redis.Int(pair[1], nil); n > 0 {
					both++
				}
			}
			if both == 2 {
				return
			}
		}
		if ctx.Err() != nil {
			t.Fatalf("nobody listens on %s", channel)
		}
	}
}

// goToJava has Go hold, Java wait, and Go release.
func goToJava(ctx context.Context, t *testing.T, waiter *javapeer.Thread, l *rlock.Lock) time.Duration {
	t.Helper()
	h, err := l.Lock(ctx, rlock.Lease(lease))
	if err != nil {
		t.Fatal(err)
	}
	var waiting sync.WaitGroup
	var entered time.Time
	waiting.Go(func() {
		_, err := waiter.Lock(ctx, l.Name(), lease)
		entered = time.Now()
		if err != nil {
			t.Error(err)
			return
		}
		if _, err := waiter.Unlock(ctx, l.Name()); err != nil {
			t.Error(err)
		}
	})
	if err := waiter.AwaitParked(ctx); err != nil {
		t.Error(err)
	}
	released := time.Now()
	if err := h.Unlock(ctx); err != nil {
		t.Error(err)
	}
	waiting.Wait()
	return entered.Sub(released)
}
