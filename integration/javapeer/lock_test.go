package javapeer

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/rlock-go/redisson/integration/internal/machineclock"
	"github.com/rlock-go/redisson/internal/redistest"
)

func TestLockIsHeldCountedAndReleased(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		server := redistest.Start(t)
		redisConn := server.Dial(t)
		ctx, ok := t.Context(), must(t)
		p := Start(t, version, server.Addr())
		if p.Version != version {
			t.Fatalf("Redisson %s was loaded", p.Version)
		}
		t1, t2 := p.Thread("t1"), p.Thread("t2")

		ok(t1.Lock(ctx, "n", Watchdog))
		owner := ok(t1.Owner(ctx)).Text()
		fields, err := redis.StringMap(redisConn.Do("HGETALL", "n"))
		if err != nil || !maps.Equal(fields, map[string]string{owner: "1"}) {
			t.Fatalf("the server has %v, %v; the owner is %s", fields, err, owner)
		}
		if !strings.HasPrefix(owner, p.ID+":") {
			t.Fatalf("owner %s of client %s", owner, p.ID)
		}
		if !ok(t1.TryLock(ctx, "n")).Bool() || ok(t2.TryLock(ctx, "n")).Bool() {
			t.Fatal("want re-entry for the same thread only")
		}
		if n := ok(t1.HoldCount(ctx, "n")).Int(); n != 2 {
			t.Fatalf("hold count %d", n)
		}
		if n := ok(t2.HoldCount(ctx, "n")).Int(); n != 0 {
			t.Fatalf("hold count %d of a thread without", n)
		}
		id := ok(t1.ID(ctx)).Int()
		if !ok(t2.IsHeldBy(ctx, "n", id)).Bool() || ok(t2.IsHeldBy(ctx, "n", id+100_000)).Bool() {
			t.Fatal("held by the wrong thread")
		}
		if !ok(t1.IsHeld(ctx, "n")).Bool() || ok(t2.IsHeld(ctx, "n")).Bool() || !ok(t2.IsLocked(ctx, "n")).Bool() {
			t.Fatal("held or locked told wrongly")
		}
		if ms := ok(t2.RemainTTL(ctx, "n")).Int(); ms <= 0 || ms > 30_000 {
			t.Fatalf("remaining %d ms of the default watchdog's 30 s", ms)
		}

		_, err = t2.Unlock(ctx, "n")
		e := wantJavaError(t, err, "java.lang.IllegalMonitorStateException")
		if !strings.Contains(e.Message, "node id: "+p.ID) {
			t.Fatalf("message %q", e.Message)
		}
		ok(t2.UnlockAs(ctx, "n", id))
		_, err = t2.UnlockAs(ctx, "n", id+100_000)
		wantJavaError(t, err, "java.lang.IllegalMonitorStateException")
		ok(t1.Unlock(ctx, "n"))
		if exists(t, redisConn, "n") || ok(t1.IsLocked(ctx, "n")).Bool() {
			t.Fatal("still locked")
		}
	})
}

func TestEveryVersionLocksWaitsAndReleases(t *testing.T) {
	server := redistest.Start(t)
	redisConn := server.Dial(t)
	for _, version := range Versions(*full) {
		t.Run(version, func(t *testing.T) {
			ok := must(t)
			p := Start(t, version, server.Addr())
			if p.Version != version {
				t.Fatalf("Redisson %s was loaded", p.Version)
			}
			t1, t2 := p.Thread("t1"), p.Thread("t2")
			ok(t1.Lock(t.Context(), version, Watchdog))
			if there, err := redis.Bool(redisConn.Do("HEXISTS", version, ok(t1.Owner(t.Context())).Text())); err != nil || !there {
				t.Fatalf("the owner is another: %v", err)
			}
			entered := call(func() (Reply, error) { return t2.Lock(t.Context(), version, time.Minute) })
			awaitParked(t, t2)
			ok(t1.Unlock(t.Context(), version))
			if _, err := await(t, entered); err != nil {
				t.Fatal(err)
			}
			ok(t2.Unlock(t.Context(), version))
		})
	}
}

func TestNamesArriveByteForByte(t *testing.T) {
	server := redistest.Start(t)
	redisConn := server.Dial(t)
	ok := must(t)
	th := Start(t, Newest, server.Addr()).Thread("a thread + more %41")
	for _, name := range []string{"a b", " ", "+%20%", "cr\r\nlf", "Schlüssel 🔒", "{tag}x", "a{b", "}", "tab\tnul\x00"} {
		ok(th.Lock(t.Context(), name, Watchdog))
		keys, err := redis.Strings(redisConn.Do("KEYS", "*"))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(keys, name) {
			t.Errorf("locked %q, the server has %q", name, keys)
		}
		ok(th.Unlock(t.Context(), name))
	}
}

func TestWaiterIsWokenByRelease(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		server := redistest.Start(t)
		redisConn := server.Dial(t)
		p1, p2 := Start(t, version, server.Addr()), Start(t, version, server.Addr())
		holder := p1.Thread("t1")
		for _, waiter := range []*Thread{p1.Thread("t2"), p2.Thread("t1")} {
			ok := must(t)
			ok(holder.Lock(t.Context(), "n", Watchdog))
			entered := call(func() (Reply, error) { return waiter.Lock(t.Context(), "n", Watchdog) })
			awaitParked(t, waiter)
			if n := waiters(t, redisConn, "n"); n != 1 {
				t.Fatalf("%d connections listen", n)
			}

			before := machineclock.Now()
			released := ok(holder.Unlock(t.Context(), "n"))
			got, err := await(t, entered)
			if err != nil {
				t.Fatal(err)
			}
			after := machineclock.Now()
			for _, at := range []int64{got.At, released.At} {
				if at < before || at > after {
					t.Fatalf("Java says %d, outside of Go's [%d, %d]: not one clock", at, before, after)
				}
			}
			t.Logf("entered %v after the release was asked for", time.Duration(got.At-before))
			ok(waiter.Unlock(t.Context(), "n"))
		}
	})
}

func TestInterruptEndsAWaitAndNothingElse(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		server := redistest.Start(t)
		redisConn := server.Dial(t)
		ctx, ok := t.Context(), must(t)
		p := Start(t, version, server.Addr())
		holder, waiter := p.Thread("t1"), p.Thread("t2")
		ok(holder.Lock(ctx, "n", Watchdog))
		for _, wait := range []func() (Reply, error){
			func() (Reply, error) { return waiter.TryLockFor(ctx, "n", time.Minute, Watchdog) },
			func() (Reply, error) { return waiter.TryLockFor(ctx, "n", time.Minute, time.Minute) },
			func() (Reply, error) { return waiter.LockInterruptibly(ctx, "n", Watchdog) },
			func() (Reply, error) { return waiter.LockInterruptibly(ctx, "n", time.Minute) },
		} {
			ended := call(wait)
			awaitParked(t, waiter)
			if !ok(waiter.Interrupt(ctx)).Bool() {
				t.Fatal("nothing was running")
			}
			_, err := await(t, ended)
			wantJavaError(t, err, "java.lang.InterruptedException")
			if ok(waiter.Parked(ctx)).Bool() || ok(waiter.Interrupt(ctx)).Bool() {
				t.Fatal("an idle thread was interrupted")
			}
			eventually(t, "no waiter", func() bool { return waiters(t, redisConn, "n") == 0 })
		}
		ok(holder.Unlock(ctx, "n"))
		if !ok(waiter.TryLockFor(ctx, "n", time.Second, time.Minute)).Bool() {
			t.Fatal("the thread is of no use any more")
		}
	})
}

func TestForceUnlockTakesItFromItsHolder(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		server := redistest.Start(t)
		redisConn := server.Dial(t)
		ctx, ok := t.Context(), must(t)
		holder := Start(t, version, server.Addr()).Thread("t1")
		other := Start(t, version, server.Addr()).Thread("t1")
		ok(holder.Lock(ctx, "n", Watchdog))
		if !ok(other.ForceUnlock(ctx, "n")).Bool() || ok(other.ForceUnlock(ctx, "n")).Bool() {
			t.Fatal("want true once")
		}
		if exists(t, redisConn, "n") {
			t.Fatal("the key is there")
		}
		_, err := holder.Unlock(ctx, "n")
		wantJavaError(t, err, "java.lang.IllegalMonitorStateException")
	})
}

func TestLeasesAndWaitsTravelInMilliseconds(t *testing.T) {
	server := redistest.Start(t)
	ctx, ok := t.Context(), must(t)
	p := Start(t, Newest, server.Addr(), WatchdogTimeout(5*time.Second))
	t1, t2 := p.Thread("t1"), p.Thread("t2")
	for name, take := range map[string]func(string) (Reply, error){
		"lock":        func(n string) (Reply, error) { return t1.Lock(ctx, n, time.Minute) },
		"interrupted": func(n string) (Reply, error) { return t1.LockInterruptibly(ctx, n, time.Minute) },
		"try":         func(n string) (Reply, error) { return t1.TryLockFor(ctx, n, time.Second, time.Minute) },
	} {
		ok(take(name))
		if ms := ok(t1.RemainTTL(ctx, name)).Int(); ms <= 30_000 || ms > 60_000 {
			t.Errorf("%s: a lease of a minute has %d ms left", name, ms)
		}
	}
	ok(t1.Lock(ctx, "watched", Watchdog))
	if ms := ok(t1.RemainTTL(ctx, "watched")).Int(); ms <= 0 || ms > 5_000 {
		t.Errorf("the watchdog of 5 s left %d ms", ms)
	}
	start := machineclock.Now()
	r := ok(t2.TryLockFor(ctx, "lock", 300*time.Millisecond, Watchdog))
	if waited := time.Duration(r.At - start); r.Bool() || waited < 300*time.Millisecond || waited > patience {
		t.Errorf("a wait of 300 ms for a taken lock: %t after %v", r.Bool(), waited)
	}
	if _, err := t1.Lock(ctx, "x", time.Millisecond+1); err == nil {
		t.Error("a fraction of a millisecond was accepted")
	}
}
