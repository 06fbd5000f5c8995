package interop

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/rlock"
)

// FencedBehaviours are those of a fenced lock: what a plain lock is shown, and tokens.
var FencedBehaviours = append(ofKind(javapeer.Fenced, "JavaHolderKeepsGoOut", "GoHolderKeepsJavaOut", "JavaLeaseEndsAndGoEnters",
	"GoLeaseEndsAndJavaEnters", "JavaWaiterIsWokenByGoUnlock", "GoWaiterIsWokenByJavaUnlock", "GoForceUnlockEndsJavaHold",
	"JavaForceUnlockEndsGoHold", "JavaSeesGoHolds", "GoSeesJavaHolds", "GoReentersJavaHold", "JavaReleasesWhatGoTookInItsName",
	"CounterIsExactAcrossProcesses", "KilledGoProcessIsFollowedByJava", "KilledJVMIsFollowedByGo"),
	fencedBehaviour("TokensGrowAcrossBothSides", tokensGrowAcrossBothSides),
	fencedBehaviour("WaitersOfBothSidesGetTokensInTurn", waitersOfBothSidesGetTokensInTurn),
	fencedBehaviour("JavaTakesALockWithoutATTLForAGrant", javaTakesALockWithoutATTLForAGrant),
	fencedBehaviour("JavaForgetsTheLeaseOfALockWithAToken", javaForgetsTheLeaseOfALockWithAToken),
)

func fencedBehaviour(name string, show func(*scene)) Behaviour {
	return Behaviour{name, true, func(s *scene) {
		s.use(javapeer.Fenced)
		show(s)
	}}
}

// lastToken fails unless both sides say that this is the last grant's token, which never expires.
func (s *scene) lastToken(want int64) {
	s.Helper()
	inGo, err := s.lock.LastToken(s.Context())
	s.must(err)
	if inJava := s.ok(s.thread("t1").Token(s.Context(), s.name)).Int(); inGo != want || inJava != want {
		s.Fatalf("the last token is %d in Go and %d in Java, want %d", inGo, inJava, want)
	}
	if ttl, err := s.redis.Do("PTTL", codec.TokenKey(s.name)); err != nil || ttl != int64(-1) && want > 0 {
		s.Fatalf("the tokens live for %v, %v", ttl, err)
	}
}

// token fails unless a grant has this token.
func (s *scene) token(side string, got, want int64) {
	s.Helper()
	if got != want {
		s.Fatalf("%s: token %d, want %d", side, got, want)
	}
}

func tokensGrowAcrossBothSides(s *scene) {
	ctx, t1 := s.Context(), s.thread("t1")
	s.lastToken(0)
	outer := s.got(s.lock.Lock(ctx))
	inner := s.got(s.lock.Lock(ctx, rlock.As(outer.Owner())))
	s.token("Go's outer hold", outer.Token(), 2)
	if got := s.ok(t1.TryLockAndGetToken(ctx, s.name, 0, javapeer.Watchdog)).Text(); got != "null" {
		s.Fatalf("Java's failed try has token %s", got)
	}
	s.must(inner.Unlock(ctx))
	s.must(outer.Unlock(ctx))
	s.lastToken(2)
	s.token("Java", s.ok(t1.LockAndGetToken(ctx, s.name, javapeer.Watchdog)).Int(), 3)
	s.ok(t1.Lock(ctx, s.name, javapeer.Watchdog)) // without being told
	if _, err := s.lock.TryLock(ctx); !errors.Is(err, rlock.ErrLocked) {
		s.Fatalf("Go's try: %v", err)
	}
	s.lastToken(4)
	s.ok(t1.Unlock(ctx, s.name))
	s.ok(t1.Unlock(ctx, s.name))
	forced := s.got(s.lock.Lock(ctx))
	s.token("Go", forced.Token(), 5)
	if !s.ok(t1.ForceUnlock(ctx, s.name)).Bool() {
		s.Fatal("not forced")
	}
	s.token("Java after a force", s.ok(t1.LockAndGetToken(ctx, s.name, javapeer.Watchdog)).Int(), 6)
	s.token("Go's forced hold", forced.Token(), 5)
	s.ok(t1.Unlock(ctx, s.name))
	if err := forced.Unlock(ctx); !errors.Is(err, rlock.ErrNotHeld) {
		s.Fatalf("the forced hold: %v", err)
	}
	expires := s.got(s.lock.Lock(ctx, rlock.Lease(50*time.Millisecond)))
	<-expires.Done()
	s.eventually("an end of the lease", func() bool { return s.ttl() < 0 })
	s.token("Java after an expiry", s.ok(t1.LockAndGetToken(ctx, s.name, javapeer.Watchdog)).Int(), 8)
	s.ok(t1.Unlock(ctx, s.name))
	s.lastToken(8)
}

// waitersOfBothSidesGetTokensInTurn has a Java and two Go waiters enter one after the other, in whatever order.
func waitersOfBothSidesGetTokensInTurn(s *scene) {
	ctx, t2 := s.Context(), s.thread("t2")
	hold := s.got(s.lock.Lock(ctx))
	tokens := make(chan int64, 3)
	ended := make(chan error, 3)
	for _, c := range []*rlock.Client{s.client, s.open(s.T)} {
		go func() {
			ended <- s.lockOf(c).DoHold(ctx, func(_ context.Context, h *rlock.Hold) error {
				tokens <- h.Token()
				return nil
			})
		}()
	}
	go func() {
		r, err := t2.LockAndGetToken(ctx, s.name, javapeer.Watchdog)
		if err == nil {
			tokens <- r.Int()
			_, err = t2.Unlock(ctx, s.name)
		}
		ended <- err
	}()
	s.eventually("three who listen", func() bool { return s.subscribers() == 3 })
	s.must(hold.Unlock(ctx))
	var got []int64
	for range 3 {
		s.must(<-ended)
		got = append(got, <-tokens)
	}
	if !slices.Equal(got, []int64{2, 3, 4}) {
		s.Errorf("tokens %v, in the order of entering", got)
	}
	s.serverHas(nil)
}

// javaTakesALockWithoutATTLForAGrant shows a defect of Redisson's that Go has not: the TTL of -1 is its sign of a grant.
func javaTakesALockWithoutATTLForAGrant(s *scene) {
	ctx, t1 := s.Context(), s.thread("t1")
	const other = "550e8400-e29b-41d4-a716-446655440000:31"
	_, err := s.redis.Do("HSET", s.name, other, 1)
	s.must(err)
	if got := s.ok(t1.TryLockAndGetToken(ctx, s.name, 0, time.Minute)).Text(); got != "-1" {
		s.Errorf("Java's token is %s: is it mended?", got)
	}
	if s.ok(t1.IsHeld(ctx, s.name)).Bool() {
		s.Error("Java holds it")
	}
	if h, err := s.lock.TryLock(ctx); !errors.Is(err, rlock.ErrLocked) {
		s.Errorf("Go: %v, %v", h, err)
	}
	s.serverHas(map[string]string{other: "1"})
	s.lastToken(0)
	_, err = s.redis.Do("DEL", s.name)
	s.must(err)
}

// javaForgetsTheLeaseOfALockWithAToken shows another: lockAndGetToken(lease) takes the lock for the watchdog's time.
func javaForgetsTheLeaseOfALockWithAToken(s *scene) {
	ctx, t1 := s.Context(), s.thread("t1")
	s.ok(t1.LockAndGetToken(ctx, s.name, 5*time.Second))
	if ttl := s.ttl(); ttl <= 5*time.Second {
		s.Errorf("Java's TTL is %v: is it mended?", ttl)
	}
	s.ok(t1.Unlock(ctx, s.name))
	hold := s.got(s.lock.Lock(ctx, rlock.Lease(5*time.Second)))
	s.ttlIn(0, 5*time.Second)
	s.token("Go", hold.Token(), 2)
	s.must(hold.Unlock(ctx))
}
