package javapeer

import (
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/rlock-go/redisson/internal/redistest"
)

func TestNonReentrantLockIsNotEnteredTwice(t *testing.T) {
	server := redistest.Start(t)
	ctx, ok := t.Context(), must(t)
	t1 := Start(t, Newest, server.Addr()).Thread("t1").Of(NonReentrant)
	ok(t1.Lock(ctx, "n", Watchdog))
	_, err := t1.TryLock(ctx, "n")
	wantJavaError(t, err, "java.lang.IllegalMonitorStateException")
	ok(t1.Unlock(ctx, "n"))
}

func TestFencedLockGivesTokens(t *testing.T) {
	for _, version := range FencedVersions(*full) {
		t.Run(version, func(t *testing.T) {
			server := redistest.Start(t)
			redisConn := server.Dial(t)
			ctx, ok := t.Context(), must(t)
			p := Start(t, version, server.Addr())
			t1, t2 := p.Thread("t1").Of(Fenced), p.Thread("t2").Of(Fenced)
			if n := ok(t1.Token(ctx, "n")).Int(); n != 0 {
				t.Fatalf("the last token of no grant is %d", n)
			}
			ok(t1.Lock(ctx, "n", Watchdog))
			if n := ok(t1.LockAndGetToken(ctx, "n", Watchdog)).Int(); n != 2 {
				t.Fatalf("the second grant has token %d", n)
			}
			if got := ok(t2.TryLockAndGetToken(ctx, "n", 0, time.Minute)).Text(); got != "null" {
				t.Fatalf("a try that fails has token %s", got)
			}
			ok(t1.Unlock(ctx, "n"))
			entered := call(func() (Reply, error) { return t2.LockAndGetToken(ctx, "n", Watchdog) })
			for end := time.Now().Add(time.Minute); waiters(t, redisConn, "n") == 0; time.Sleep(parkedPoll) {
				if time.Now().After(end) {
					t.Fatal("nobody waits")
				}
			}
			ok(t1.Unlock(ctx, "n"))
			if r, err := await(t, entered); err != nil || r.Int() != 3 {
				t.Fatalf("%v, %v", r.Values, err)
			}
			if n, err := redis.Int64(redisConn.Do("GET", "redisson_lock_token:{n}")); n != 3 || err != nil || ok(t1.Token(ctx, "n")).Int() != 3 {
				t.Fatalf("the last token is %d, %v", n, err)
			}
		})
	}
}
