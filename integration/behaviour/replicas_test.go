package behaviour_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/internal/monitor"
	"github.com/rlock-go/redisson/rlock"
)

// replicated is a master with one replica that has caught up.
func replicated(t *testing.T) (*rig, *redisserver.LocalServer) {
	t.Helper()
	r, master := own(t)
	replica := redisserver.Replica(t, master)
	redisserver.AwaitReplication(t, replica)
	return r, replica
}

// waits counts the WAITs that the tap has seen.
func waits(tap *monitor.Stream) (n int) {
	for _, call := range monitor.Calls(tap.Mark()) {
		if call.Is("WAIT") {
			n++
		}
	}
	return n
}

func TestReplicaSyncSendsWAITOnlyWhenAsked(t *testing.T) {
	r, _ := replicated(t)
	for _, row := range []struct {
		behaviour string
		opts      []rlock.Option
		waits     int
	}{
		{"by default", nil, 0},
		{"off", []rlock.Option{rlock.WithReplicaSync(false)}, 0},
		{"on", []rlock.Option{rlock.WithReplicaSync(true)}, 2},
	} {
		t.Run(row.behaviour, func(t *testing.T) {
			c := r.open(row.opts...)
			r.Unlock(r.Lock(c.NewLock(r.name()))) // loads the scripts
			tap := monitor.Tap(t, r.Server.Addr())
			r.Unlock(r.Lock(c.NewLock(r.name())))
			if n := waits(tap); n != row.waits {
				t.Errorf("%d WAIT for a lock and an unlock, want %d", n, row.waits)
			}
		})
	}
}

func TestReplicaSyncWithoutReplicasSendsNoWAIT(t *testing.T) {
	r, _ := own(t)
	tap := monitor.Tap(t, r.Server.Addr())
	c := r.open(rlock.WithReplicaSync(true))
	r.Unlock(r.Lock(c.NewLock(r.name())))
	if n := waits(tap); n != 0 {
		t.Errorf("%d WAIT on a server without replicas", n)
	}
}

// A grant that no replica acknowledges is given back, tried again while the caller is patient, and then reported.
func TestGrantThatNoReplicaAcknowledgesIsGivenBack(t *testing.T) {
	r, replica := replicated(t)
	c := r.open(rlock.WithReplicaSync(true))
	l := c.NewLock(r.name())
	replica.Pause()
	defer replica.Resume()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err := l.TryLock(ctx)
	if err == nil || !strings.Contains(err.Error(), "no replica acknowledged") {
		t.Fatalf("got %v", err)
	}
	r.Becomes("the key is gone", func() bool { return r.Number("EXISTS", l.Name()) == 0 })

	replica.Resume()
	h := r.Lock(l)
	if n := r.Number("HGET", l.Name(), h.Owner().String()); n != 1 {
		t.Errorf("held %d times", n)
	}
	r.Unlock(h)
}

// An unlock that no replica acknowledges is sent once more with its latch, counts once, and says so.
func TestUnlockThatNoReplicaAcknowledgesCountsOnce(t *testing.T) {
	r, replica := replicated(t)
	c := r.open(rlock.WithReplicaSync(true))
	l := c.NewLock(r.name())
	outer := r.Lock(l)
	inner := r.Lock(l, rlock.As(outer.Owner()))
	replica.Pause()
	defer replica.Resume()
	err := inner.Unlock(context.Background())
	if err == nil || !strings.Contains(err.Error(), "no replica acknowledged") || errors.Is(err, rlock.ErrNotHeld) {
		t.Fatalf("got %v", err)
	}
	if n := r.Number("HGET", l.Name(), outer.Owner().String()); n != 1 {
		t.Errorf("%d holds are left, want 1", n)
	}
	replica.Resume()
	r.Unlock(outer)
	if n := r.Number("EXISTS", l.Name()); n != 0 {
		t.Error("the key is still there")
	}
}

// A replica that is gone is counted out once nobody acknowledged; with none left there is nothing to wait for.
func TestReplicaThatIsGoneIsNotWaitedForAgain(t *testing.T) {
	r, replica := replicated(t)
	c := r.open(rlock.WithReplicaSync(true))
	r.Unlock(r.Lock(c.NewLock(r.name())))
	replica.Stop()
	r.Becomes("the master has no replica", func() bool {
		return strings.Contains(r.Text("INFO", "replication"), "connected_slaves:0")
	})
	r.Unlock(r.Lock(c.NewLock(r.name())))
	tap := monitor.Tap(t, r.Server.Addr())
	r.Unlock(r.Lock(c.NewLock(r.name())))
	if n := waits(tap); n != 0 {
		t.Errorf("%d WAIT for a replica that is gone", n)
	}
}
