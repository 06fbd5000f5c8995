package logs_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// life has a client whose server works.
func life(t *testing.T, s redisserver.Server) []*rig {
	r := start(t, s, "")
	r.logged("client started", "server", r.Proxy.Addr(), "watchdog_timeout", watchdog.String(), "command_timeout", timeout.String(), "replica_sync", "false")
	r.logged("connected", "connection", "commands", "server", r.Proxy.Addr())
	l := r.lock()
	h := r.Hold(l)
	r.logged("acquired", "lock", l.Name(), "owner", h.Owner().String(), "attempts", "1", "lease", watchdog.String(), "renewed", "true")

	first := testbed.Enter(r.Context(), l)
	if ttl := r.logged("waiting", "lock", l.Name()).attrs["ttl"].Duration(); ttl <= 0 || ttl > watchdog {
		t.Errorf("told a TTL of %v", ttl)
	}
	r.logged("connected", "connection", "subscriptions", "server", r.Proxy.Addr())
	ctx, cancel := context.WithCancel(r.Context())
	second := testbed.Enter(ctx, l)
	r.logged("queued", "lock", l.Name(), "ahead", "1")
	cancel()
	if e := testbed.Receive(r, "the end of the wait", second); !errors.Is(e.Err, context.Canceled) {
		t.Errorf("%v", e.Err)
	}
	r.logged("not acquired", "lock", l.Name())
	r.tried(3)
	r.Unlock(h)
	if held := r.logged("released", "lock", l.Name(), "owner", h.Owner().String()).attrs["held"].Duration(); held <= 0 || held > patience {
		t.Errorf("held for %v", held)
	}
	e := testbed.Receive(r, "the end of the wait", first)
	if e.Err != nil {
		t.Fatal(e.Err)
	}
	if waited := r.logged("acquired", "owner", e.Hold.Owner().String()).attrs["waited"].Duration(); waited <= 0 || waited > patience {
		t.Errorf("waited for %v", waited)
	}
	r.Unlock(e.Hold)
	if lines := r.seen.of("waiting")[slog.LevelDebug]; len(lines) != 1 {
		t.Errorf("%d lines tell that one waiter waits", len(lines))
	}

	h = r.Hold(l, rlock.Lease(time.Minute))
	r.logged("acquired", "owner", h.Owner().String(), "lease", "1m0s", "renewed", "false")
	testbed.Must(t, h.Extend(r.Context(), time.Hour))
	r.logged("extended", "lock", l.Name(), "owner", h.Owner().String(), "lease", "1h0m0s")
	if there, err := l.ForceUnlock(r.Context()); !there || err != nil {
		t.Fatal(there, err)
	}
	r.logged("forced", "lock", l.Name(), "deleted", "true")
	r.logged("lease lost", "lock", l.Name(), "owner", h.Owner().String(), "holds", "1", "renewed", "false")

	o := r.client.NewOwner()
	r.Do("HSET", l.Name(), o.String(), 1)
	testbed.Must(t, l.UnlockAs(r.Context(), o))
	r.logged("released as", "lock", l.Name(), "owner", o.String())

	r.Hold(l, rlock.Lease(time.Minute))
	ctx, cancel = context.WithCancel(r.Context())
	cancel()
	if err := r.client.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Shutdown: %v", err)
	}
	r.logged("shutting down", "holds", "1")
	r.logged("client closed", "holds", "1", "open", "0")
	return []*rig{r}
}

// renewals succeed, fail, and find the lock gone.
func renewals(t *testing.T, s redisserver.Server) []*rig {
	r := start(t, s, "")
	l := r.lock()
	h := r.Hold(l)
	r.logged("renewed", "leases", "1", "lease", watchdog.String())
	loading := r.refusing(testbed.Renewals, "LOADING dataset")
	l1 := r.logged("renewal failed", "leases", "1", "lock", l.Name(), "owner", h.Owner().String(), "error", "LOADING dataset")
	if left := l1.attrs["trust_left"].Duration(); left < 0 || left > watchdog {
		t.Errorf("%v of trust left", left)
	}
	l2 := r.logged("lease not renewed", "lock", l.Name(), "owner", h.Owner().String(), "error", "LOADING dataset")
	if left := l2.attrs["trust_left"].Duration(); left < 0 || left > watchdog {
		t.Errorf("%v of trust left", left)
	}
	loading.Remove()
	r.logged("lease renewed again", "lock", l.Name(), "owner", h.Owner().String())
	if n := r.logged("renewals work again").attrs["failures"].Int64(); n < 1 {
		t.Errorf("%d failures", n)
	}
	r.Do("DEL", l.Name())
	r.logged("lease lost", "lock", l.Name(), "owner", h.Owner().String(), "server", r.Proxy.Addr(), "holds", "1", "renewed", "true", "cause", vanished)
	return []*rig{r}
}

// vanished is the cause of a loss that a renewal finds.
const vanished = "the server no longer knows of it"

// long holds are logged once, each when it is as old as the option says.
func long(t *testing.T, s redisserver.Server) []*rig {
	const age = 700 * time.Millisecond
	r := start(t, s, "", rlock.WithLongHoldLog(age),
		rlock.WithObserver(rlock.Observer{Ended: func(rlock.Subject, rlock.HoldEvent) { panic("on purpose") }}))
	short, renewed := r.Hold(r.lock()), r.Hold(r.lock())
	r.Unlock(short)
	fixed := r.Hold(r.lock(), rlock.Lease(time.Minute))
	for h, is := range map[*rlock.Hold]string{renewed: "true", fixed: "false"} {
		if held := r.logged("held long", "lock", h.Name(), "owner", h.Owner().String(), "renewed", is).attrs["held"].Duration(); held < age || held > watchdog/3 {
			t.Errorf("logged after %v", held)
		}
	}
	testbed.Must(t, fixed.Extend(r.Context(), 2*time.Minute))
	r.logged("renewed")
	// Another hold of an owner whose first one was logged.
	r.Unlock(r.Hold(r.client.NewLock(renewed.Name()), rlock.As(renewed.Owner())))
	if lines := r.seen.of("held long")[slog.LevelInfo]; len(lines) != 2 {
		t.Errorf("two holds, %d lines", len(lines))
	}
	return []*rig{r}
}

// borrowed has a client on a pool.
func borrowed(t *testing.T, s redisserver.Server) []*rig {
	r := start(t, s, "")
	pool := &redis.Pool{MaxIdle: 2, DialContext: func(ctx context.Context) (redis.Conn, error) {
		return redis.DialContext(ctx, "tcp", s.Addr(), redis.DialPassword(secret), redis.DialReadTimeout(time.Second), redis.DialWriteTimeout(time.Second))
	}}
	t.Cleanup(func() { pool.Close() })
	c, err := rlock.New(pool, rlock.WithLogger(slog.New(r.seen)))
	testbed.Must(t, err)
	t.Cleanup(func() { c.Close() })
	r.logged("client started", "client", c.ID().String(), "server", "pool", "watchdog_timeout", "30s", "command_timeout", "3s")
	if _, err := c.NewLock("logs/borrowed").TryLock(r.Context()); err != nil {
		t.Fatal(err)
	}
	r.logged("connected", "client", c.ID().String(), "connection", "commands", "server", s.Addr())
	return []*rig{r}
}
