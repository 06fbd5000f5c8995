package javapeer

import (
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/rlock-go/redisson/internal/redistest"
)

func TestSpinLockWaitsWithoutAMessage(t *testing.T) {
	for _, version := range SpinVersions(*full) {
		t.Run(version, func(t *testing.T) {
			server := redistest.Start(t)
			redisConn := server.Dial(t)
			ctx, ok := t.Context(), must(t)
			p := Start(t, version, server.Addr())
			t1, t2 := p.Thread("t1").Of(Spin), p.Thread("t2").Of(Spin)
			ok(t1.Lock(ctx, "n", Watchdog))
			if ok(t2.TryLock(ctx, "n")).Bool() {
				t.Fatal("two are inside")
			}
			entered := call(func() (Reply, error) { return t2.Lock(ctx, "n", time.Minute) })
			awaitParked(t, t2)
			if n := waiters(t, redisConn, "n"); n != 0 {
				t.Fatalf("%d connections listen", n)
			}
			// A kind is a view of a thread: the owner is one.
			if owner := ok(p.Thread("t1").Owner(ctx)).Text(); owner != ok(t1.Owner(ctx)).Text() {
				t.Fatalf("%s is another owner", owner)
			}
			ok(t1.Unlock(ctx, "n"))
			if _, err := await(t, entered); err != nil {
				t.Fatal(err)
			}
			if ok(t2.Parked(ctx)).Bool() {
				t.Fatal("parked in a lock that it has")
			}
			if !ok(t1.ForceUnlock(ctx, "n")).Bool() || exists(t, redisConn, "n") {
				t.Fatal("not forced")
			}
		})
	}
}

func TestSpinLocksKeepWorkersApart(t *testing.T) {
	server := redistest.Start(t)
	p := Start(t, Newest, server.Addr())
	r, err := p.Work(t.Context(), Work{Name: "n", Kind: Spin, Counter: "counter", Workers: 3, Hold: time.Millisecond, For: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	counted, err := redis.Int64(server.Dial(t).Do("GET", "counter"))
	if err != nil || counted != r.Total || r.Total == 0 {
		t.Errorf("counted %d, %v; the total is %d", counted, err, r.Total)
	}
}

func TestAReleaseWithoutAKindSaysSo(t *testing.T) {
	server := redistest.Start(t)
	for version, kind := range map[string]Kind{Oldest: Spin, "3.16.8": Fenced, Newest: "square"} {
		_, err := Start(t, version, server.Addr()).Thread("t1").Of(kind).Lock(t.Context(), "n", Watchdog)
		wantJavaError(t, err, "java.lang.IllegalArgumentException")
	}
}
