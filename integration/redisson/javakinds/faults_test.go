package javakinds

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/redisson/alike"
	"github.com/rlock-go/redisson/internal/testkit/monitor"
	"github.com/rlock-go/redisson/rlock"
)

// beat is a watchdog timeout short enough to see several renewals.
const beat = 1200 * time.Millisecond

// TestJavasFaults shows faults of Redisson's read-write locks that this library does not share, and how a JVM can harm a Go
// reader. J and B have beat as the watchdog timeout, G the default.
func TestJavasFaults(t *testing.T) {
	t.Parallel()
	all := []string{javapeer.Newest}
	if *full {
		all = javapeer.Recorded
	}
	javapeer.Beside(t, all, func(t *testing.T, version string) {
		p := opened(t, version)
		p.Sides["J"] = alike.NewJava(t, version, p.Server.URL(), javapeer.WatchdogTimeout(beat))
		p.Sides["B"] = alike.NewGo(t, p.Server.URL(), rlock.WithWatchdogTimeout(beat))
		for _, f := range []struct {
			name string
			show func(p *alike.Play)
		}{
			{"a reader's renewal cuts the lock for all", flatRenewal},
			{"a longer lease elsewhere is cut for good", unequalWatchdogs},
			{"a read unlock stops the write's renewal", stoppedRenewal},
			{"write leases add up", func(p *alike.Play) { summedLease(p, "G", false); summedLease(p, "J", true) }},
			{"a forced lock leaves its holds' keys", func(p *alike.Play) {
				p.Run(`
					G a read:lock 1m; G x read:forceunlock = true; keys 0; G a read:unlock = not held
					G a read:lock 1m; J x read:forceunlock = true; keys 1; G a read:unlock = not held`)
			}},
			{"an unlock of nothing that is sent again has released", latchOfNothing},
			{"a plain lock of the name lets Java's readers in", plainLockOfTheName},
		} {
			t.Run(f.name, func(t *testing.T) {
				p := p.For(t, "doc")
				p.Anew()
				f.show(p)
			})
		}
	})
}

// flatRenewal shows that with one watchdog timeout on both sides Go's renewal restores its fixed lease before the shorter
// one that Java set ends. If Go renews right after Java, the cut can't be seen, so Java begins again at another time.
func flatRenewal(p *alike.Play) {
	p.Run("B a read:lock 60s")
	cuts, worst := 0, time.Duration(0)
	for try := time.Duration(0); cuts == 0 && try < 6; try++ {
		time.Sleep(try * beat / 15)
		began, cutAt := time.Now(), time.Time{}
		p.Run("J b read:lock")
		for time.Since(began) < 2*beat {
			switch ttl := p.PTTL(p.Object); {
			case ttl <= 0:
				p.Fatal("the lock has gone under a reader")
			case ttl <= beat && cutAt.IsZero():
				cuts, cutAt = cuts+1, time.Now()
			case ttl > beat && !cutAt.IsZero():
				worst, cutAt = max(worst, time.Since(cutAt)), time.Time{}
			}
			time.Sleep(time.Millisecond)
		}
		p.Run("J b read:unlock")
		// A renewal of Java's may cross its unlock, and cut the lock once more.
		p.Becomes("Go's lease is back", func() bool { return p.PTTL(p.Object) > beat })
	}
	p.Logf("Java's renewal cut the lock %d times; put right within %v", cuts, worst)
	if cuts == 0 {
		p.Error("nothing was cut")
	}
	p.Run("B a read:unlock")
}

// unequalWatchdogs shows what can't be promised: the lock ends under a Go reader that renews after Java's whole timeout.
func unequalWatchdogs(p *alike.Play) {
	p.Run("G a read:lock; J b read:lock")
	p.Becomes("Java's renewal", func() bool { return p.PTTL(p.Object) <= beat })
	if ttl := time.Until(p.Sides["G"].(*alike.Go).Hold("a", javapeer.Read, p.Object, false).ValidUntil()); ttl < 25*time.Second {
		p.Errorf("the Go hold has %v", ttl)
	}
	// Java's hold is removed without an unlock, which would restore Go's lease.
	owner, err := p.Sides["J"].Owner(p.Context(), "b")
	p.Must(err)
	p.Do("HDEL", p.Object, owner)
	p.Gone(p.Object)
	p.Run("G a read:unlock = not held; J b read:unlock = not held|~")
}

// stoppedRenewal: after a read unlock Go still renews its write lock, Java does not: since 3.52, and at times in 3.37.
func stoppedRenewal(p *alike.Play) {
	if p.Before("3.52") {
		p.Skip("since 3.52")
	}
	for _, side := range []string{"B", "J"} {
		p.Run("X a write:lock; X a read:lock; X a read:unlock", "X", side)
		time.Sleep(beat + beat/3)
		if lives := p.PTTL(p.Object) > 0; lives != (side == "B") {
			p.Errorf("%s: the write lock lives on: %v", side, lives)
		}
		p.Run("X a write:unlock = "+map[string]string{"B": "", "J": "not held"}[side], "X", side)
	}
}

func summedLease(p *alike.Play, side string, sums bool) {
	p.Run("X a write:lock 20s; X a write:lock 20s", "X", side)
	if ttl := p.PTTL(p.Object); (ttl > 20*time.Second) != sums {
		p.Errorf("%s: two leases of 20 s make %v", side, ttl)
	}
	p.Run("X a write:unlock; X a write:unlock", "X", side)
}

// latchOfNothing sends each side's unlock of a lock that is gone twice more, as after lost replies.
func latchOfNothing(p *alike.Play) {
	if p.Before("3.27") {
		p.Skip("no latches yet")
	}
	for _, side := range []string{"G", "J"} {
		for _, k := range []string{"read", "write"} {
			p.Run("X a K:lock 1m; ! DEL $N", "X", side, "K", k)
			tap := monitor.Tap(p.T, p.Server.URL())
			p.Run("X a K:unlock = not held"+map[bool]string{true: "|~"}[p.Before("3.52")], "X", side, "K", k)
			sent := slices.DeleteFunc(tap.Mark(), func(l monitor.Line) bool {
				return l.Lua() || !l.Is("EVAL") && !l.Is("EVALSHA") || !strings.Contains(strings.Join(l.Args, " "), codec.ReadWriteChannel(p.Object))
			})
			if len(sent) == 0 {
				p.Fatalf("%s sent no unlock", side)
			}
			again := func() any { return p.Do(sent[0].Args[0], redis.Args{}.AddFlat(sent[0].Args[1:])...) }
			again() // the client has deleted its unlock's latch, so this finds none
			if reply := again(); (reply != nil) != (side == "J") {
				p.Errorf("%s: the unlock of nothing, sent again, is answered %v", side, reply)
			}
			p.Do("FLUSHALL")
		}
	}
}

// plainLockOfTheName: Java's read lock takes a plain lock's hash for free; the plain release deletes both. Go's refuses.
func plainLockOfTheName(p *alike.Play) {
	client := p.Sides["G"].(*alike.Go).Client
	plain := p.Hold(client.NewLock(p.Object))
	if _, err := client.NewReadWriteLock(p.Object).ReadLock().TryLock(p.Context()); !errors.Is(err, rlock.ErrRefused) {
		p.Errorf("Go reads beside a plain lock: %v", err)
	}
	p.Run("J a read:lock 1m")
	p.Unlock(plain)
	if n := p.Strings("HGETALL", p.Object); len(n) != 0 {
		p.Errorf("the plain lock's release left %v of Java's read lock", n)
	}
}

// TestClockThatIsAheadTakesLivePermits shows what can't be promised: Redisson judges permits' ends by its own clock. It
// repeats a JVM's command with a time two minutes later, as a JVM whose clock is ahead would send it.
func TestClockThatIsAheadTakesLivePermits(t *testing.T) {
	t.Parallel()
	p := opened(t, javapeer.Newest).For(t, "doc")
	p.Kind = permits.of
	p.Run("G a trysetpermits 1; G a acquire 1m > a")
	tap, now := monitor.Tap(t, p.Server.URL()), time.Now().UnixMilli()
	p.Run("are 0 1")
	isClock := func(arg string) bool {
		ms, err := strconv.ParseInt(arg, 10, 64)
		return err == nil && ms > now-time.Minute.Milliseconds() && ms < now+time.Minute.Milliseconds()
	}
	lines := tap.Mark()
	asked := slices.IndexFunc(lines, func(l monitor.Line) bool {
		return !l.Lua() && slices.Contains(l.Args, codec.PermitTimes(p.Object)) && slices.ContainsFunc(l.Args, isClock)
	})
	if asked < 0 {
		t.Fatalf("no question of Java's has its clock: %v", lines)
	}
	args := redis.Args{}
	for _, arg := range lines[asked].Args[1:] {
		if isClock(arg) {
			arg = strconv.FormatInt(now+2*time.Minute.Milliseconds(), 10)
		}
		args = args.Add(arg)
	}
	p.Do(lines[asked].Args[0], args...)
	p.Run("G a available = 1; G a acquired = 0; G a release $a = refused; G a available = 1; G a acquired = 0; G a total = 1")
}
