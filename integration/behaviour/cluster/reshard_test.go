package cluster_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

var reshard = flag.Bool("reshard", false, "move 3,000 slots with 5,000 holds of each kind, not a tenth of both")

// taken is a hold or a permit.
type taken struct {
	err     func() error // nil until it ends
	until   func() time.Time
	release func(context.Context) error
}

type taking func(ctx context.Context, c *rlock.Client, name string) (taken, error)

// TestReshardingByRedisCliLosesNoHold moves slots with hundreds of holds of all kinds, with -reshard with thousands of
// each, while they are renewed. A key that a renewal made at the target would stop redis-cli.
func TestReshardingByRedisCliLosesNoHold(t *testing.T) {
	t.Parallel()
	const lease, perSlot = 6 * time.Second, 10
	resharded, manyHolds := 300, 500
	if *reshard {
		resharded, manyHolds = 3_000, 5_000
	}
	lock := func(of func(c *rlock.Client, name string) *rlock.Lock) taking {
		return func(ctx context.Context, c *rlock.Client, name string) (taken, error) {
			h, err := of(c, name).Lock(ctx)
			return taken{h.Err, h.ValidUntil, h.Unlock}, err
		}
	}
	kinds := map[string]taking{
		"plain": lock(testbed.Plain.New),
		"permits": func(ctx context.Context, c *rlock.Client, name string) (taken, error) {
			s := c.NewPermitSemaphore(name)
			_, unset := s.TrySetPermits(ctx, 1)
			p, err := s.Acquire(ctx, 1)
			return taken{p.Err, p.ValidUntil, p.Release}, errors.Join(unset, err)
		},
	}
	for _, k := range testbed.Kinds {
		kinds[k.Name] = lock(k.New)
	}
	rows := map[string][]taking{}
	for kind, hold := range kinds {
		if rows["all"] = append(rows["all"], hold); *reshard {
			rows[kind] = []taking{hold}
		}
	}
	for kind, holds := range rows {
		t.Run(kind, func(t *testing.T) {
			c := topologytest.Start(t, 1, 1, 1)
			client := open(t, c, rlock.WithWatchdogTimeout(lease))
			var tags []string
			for i := 0; len(tags)*perSlot < manyHolds; i++ {
				if tag := fmt.Sprintf("moved-%d", i); int(codec.Slot(tag)) < resharded {
					tags = append(tags, tag)
				}
			}
			all := make([]taken, manyHolds)
			each(manyHolds, func(i int) {
				var err error
				if all[i], err = holds[i%len(holds)](t.Context(), client, fmt.Sprintf("{%s}:%d", tags[i%len(tags)], i)); err != nil {
					t.Error(err)
				}
			})
			if t.Failed() {
				t.FailNow()
			}
			c.AwaitAgreement()
			began := time.Now()
			out, err := exec.CommandContext(t.Context(), "redis-cli", "--cluster", "reshard", c.Servers[0].Addr(), "--cluster-from", c.ID(0),
				"--cluster-to", c.ID(1), "--cluster-slots", fmt.Sprint(resharded), "--cluster-yes").CombinedOutput()
			took := time.Since(began)
			if err != nil {
				t.Errorf("redis-cli: %v: %s", err, out[max(0, len(out)-2000):])
			}
			moved := make([]time.Time, len(all))
			for i, h := range all {
				moved[i] = h.until()
			}
			for i, h := range all {
				testbed.Becomes(t, "each hold is renewed, or lost", func() bool { return h.err() != nil || h.until().After(moved[i]) })
			}
			lost, busy := 0, strings.Count(string(out), "BUSYKEY")
			for i := range c.Servers {
				busy += topologytest.Errors(t, c.Conn(i), "BUSYKEY")
			}
			for _, h := range all {
				if err := h.err(); err != nil {
					if lost++; lost == 1 {
						t.Error(err)
					}
				}
			}
			t.Logf("%d slots moved in %v with %d holds: %d lost, %d BUSYKEY", resharded, took.Round(time.Millisecond), manyHolds, lost, busy)
			if lost > 0 || busy > 0 {
				t.Errorf("%d lost, %d BUSYKEY", lost, busy)
			}
			if slot := codec.Slot(tags[0]); !c.Has(1, slot) {
				t.Errorf("slot %d has not moved", slot)
			}
			each(manyHolds, func(i int) {
				if err := all[i].release(t.Context()); err != nil && !errors.Is(err, rlock.ErrLeaseLost) {
					t.Error(err)
				}
			})
		})
	}
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
