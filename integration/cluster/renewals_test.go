package cluster_test

import (
	"flag"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/topologytest"
	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/watchdog"
)

var many = flag.Bool("many", false, "renew 50,000 holds in all slots too")

// inSlots are names of so many slots, by turns.
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

// Holds of one slot that were acquired at different times are renewed by one script, so that the scripts are as many as
// slots that are used, and not as holds.
func TestHoldsOfASlotAreRenewedByOneScript(t *testing.T) {
	for _, row := range []struct {
		holds, slots int // no slots: each name has its own
		lease        time.Duration
	}{
		{3_000, 100, 6 * time.Second},
		{50_000, 0, 15 * time.Second},
	} {
		t.Run(fmt.Sprintf("%d in %d", row.holds, row.slots), func(t *testing.T) {
			if row.holds > 3_000 && !*many {
				t.Skip("without -many")
			}
			c := topologytest.StartReplicated(t, 1, 1, 1)
			client := open(t, c, rlock.WithWatchdogTimeout(row.lease))
			name, slots := func(i int) string { return fmt.Sprintf("renewed:%d", i) }, map[uint16]bool{}
			if row.slots > 0 {
				name = inSlots(row.slots)
			}
			for i := range row.holds {
				slots[codec.Slot(name(i))] = true
			}
			all := acquireAll(t, client, row.holds, name)
			third := row.lease / 3
			time.Sleep(third + third/10) // all were renewed once
			const thirds = 2
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
			most := thirds * (len(slots) + row.holds/watchdog.MaxBatch) * 5 / 4 // late batches get new places, and may meet fewer there
			t.Logf("%d holds in %d slots: %d scripts in two thirds of the lease", row.holds, len(slots), total)
			least := row.holds / watchdog.MaxBatch // a slow machine may have one third end late
			if total > most || total < least {
				t.Errorf("%d scripts, want %d to %d", total, least, most)
			}
			releaseAll(t, all)
		})
	}
}

func acquireAll(t *testing.T, client *rlock.Client, n int, name func(int) string) []*rlock.Hold {
	t.Helper()
	all := make([]*rlock.Hold, n)
	each(n, func(i int) {
		h, err := client.NewLock(name(i)).Lock(t.Context())
		if err != nil {
			t.Error(err)
		}
		all[i] = h
	})
	if t.Failed() {
		t.FailNow()
	}
	return all
}

func releaseAll(t *testing.T, all []*rlock.Hold) {
	t.Helper()
	each(len(all), func(i int) {
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

// evals are what scripts cost a server so far.
type evals struct {
	calls int
	took  time.Duration

	processor float64 // seconds that the server ran for anything
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
