package cluster_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/watchdog"
)

// inSlots returns a function for lock names in this many slots, by turns.
func inSlots(slots int) func(i int) string {
	var tags []string
	seen := map[uint16]bool{}
	for i := 0; len(tags) < slots; i++ {
		if tag := fmt.Sprintf("tag-%d", i); !seen[codec.Slot(tag)] {
			seen[codec.Slot(tag)] = true
			tags = append(tags, tag)
		}
	}
	return func(i int) string { return fmt.Sprintf("{%s}:renewed:%d", tags[i%slots], i) }
}

// TestHoldsOfASlotAreRenewedByOneScript shows that holds of one slot that were acquired at different times share one
// script, so that there are as many scripts as slots in use, not as holds.
func TestHoldsOfASlotAreRenewedByOneScript(t *testing.T) {
	const holds, slots, lease, third, thirds = 3_000, 100, 6 * time.Second, 2 * time.Second, 2
	c := topologytest.StartReplicated(t, 1, 1, 1)
	client, name := open(t, c, rlock.WithWatchdogTimeout(lease)), inSlots(slots)
	all := make([]*rlock.Hold, holds)
	each(holds, func(i int) {
		var err error
		if all[i], err = client.NewLock(name(i)).Lock(t.Context()); err != nil {
			t.Error(err)
		}
	})
	if t.Failed() {
		t.FailNow()
	}
	time.Sleep(third + third/10) // all were renewed once
	var before, after [3]evals
	for i := range before {
		before[i] = evalsOf(t, c.Conn(i))
	}
	time.Sleep(thirds * third)
	total := 0
	for i := range after {
		after[i] = evalsOf(t, c.Conn(i))
		calls, took := after[i].calls-before[i].calls, after[i].took-before[i].took
		total += calls
		t.Logf("server %d: %d scripts in %v, %v each; %.2f s of its processor", i, calls, thirds*third,
			took/time.Duration(max(calls, 1)), after[i].processor-before[i].processor)
	}
	for _, h := range all {
		if err := h.Err(); err != nil {
			t.Fatalf("%s: %v", h.Name(), err)
		}
	}
	const most = thirds * (slots + holds/watchdog.MaxBatch) * 5 / 4 // late batches are scheduled anew, and may meet fewer holds there
	t.Logf("%d holds in %d slots: %d scripts in two thirds of the lease", holds, slots, total)
	const least = holds / watchdog.MaxBatch // on a slow machine one third may end late
	if total > most || total < least {
		t.Errorf("%d scripts, want %d to %d", total, least, most)
	}
	each(holds, func(i int) {
		if err := all[i].Unlock(t.Context()); err != nil {
			t.Errorf("%s: %v", all[i].Name(), err)
		}
	})
}

// each calls f for every number below n, some at a time.
func each(n int, f func(int)) {
	const callers = 256
	var calling sync.WaitGroup
	for from := range callers {
		calling.Go(func() {
			for i := from; i < n; i += callers {
				f(i)
			}
		})
	}
	calling.Wait()
}

type evals struct {
	calls int
	took  time.Duration

	processor float64 // CPU seconds of the server, for anything
}

func evalsOf(t *testing.T, c redis.Conn) (e evals) {
	t.Helper()
	info, err := redis.String(c.Do("INFO", "all"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(info, "cmdstat_evalsha:calls=")
	var us int
	if _, err := fmt.Sscanf(rest, "%d,usec=%d", &e.calls, &us); !found || err != nil {
		t.Fatalf("no count of scripts: %v", err)
	}
	e.took = time.Duration(us) * time.Microsecond
	for _, label := range []string{"used_cpu_sys:", "used_cpu_user:"} {
		_, rest, _ := strings.Cut(info, label)
		var s float64
		if _, err := fmt.Sscan(rest, &s); err != nil {
			t.Fatalf("%s %v", label, err)
		}
		e.processor += s
	}
	return e
}
