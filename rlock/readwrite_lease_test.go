package rlock

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// holdTTLs returns the TTLs of the keys of an owner's read holds.
func holdTTLs(t *testing.T, conn redis.Conn, name, owner string) (all []time.Duration) {
	t.Helper()
	for i := 1; ; i++ {
		ms, err := redis.Int64(conn.Do("PTTL", fmt.Sprintf("%s:%s:rwlock_timeout:%d", codec.ReadHolds(name), owner, i)))
		if err != nil {
			t.Fatal(err)
		}
		if ms == -2 {
			return all
		}
		all = append(all, time.Duration(ms)*time.Millisecond)
	}
}

// lasts checks the TTL of a lock's key.
func lasts(t *testing.T, l *Lock, least, most time.Duration) {
	t.Helper()
	if ttl, err := l.RemainTTL(t.Context()); err != nil || ttl <= least || ttl > most {
		t.Errorf("the lock has %v, %v; want more than %v and at most %v", ttl, err, least, most)
	}
}

func TestUnlockGivesWhatIsLeftItsLease(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	c := open(t, s)
	read, write := both(c, "doc")
	long := lockOf(t, read, Lease(time.Minute))
	short := lockOf(t, read, As(long.Owner()), Lease(10*time.Second))
	name := long.Owner().String()
	if ttls := holdTTLs(t, conn, "doc", name); len(ttls) != 2 {
		t.Errorf("two holds have %v", ttls)
	}
	mustUnlock(t, long) // the server deletes the key of the other hold
	if ttls := holdTTLs(t, conn, "doc", name); len(ttls) != 1 || ttls[0] < 9*time.Second {
		t.Errorf("what is left has %v", ttls)
	}
	lasts(t, read, 9*time.Second, time.Minute)
	mustUnlock(t, short)

	// The remaining hold needs a longer TTL than the remaining key had.
	short = lockOf(t, read, Lease(5*time.Second))
	long = lockOf(t, read, As(short.Owner()), Lease(time.Minute))
	name = short.Owner().String()
	mustUnlock(t, short)
	if ttls := holdTTLs(t, conn, "doc", name); len(ttls) != 1 || ttls[0] < 55*time.Second {
		t.Errorf("what is left has %v", ttls)
	}
	lasts(t, read, 55*time.Second, time.Minute)
	if left := time.Until(long.ValidUntil()); left < 55*time.Second {
		t.Errorf("it is trusted for %v", left)
	}
	mustUnlock(t, long)

	// A writer's lease is not shortened by its read holds, and its write holds' leases are not added up.
	w := lockOf(t, write, Lease(time.Minute))
	r1 := lockOf(t, read, As(w.Owner()), Lease(4*time.Second))
	r2 := lockOf(t, read, As(w.Owner()), Lease(4*time.Second))
	mustUnlock(t, r2)
	lasts(t, write, 55*time.Second, time.Minute)
	mustUnlock(t, r1)
	lasts(t, write, 55*time.Second, time.Minute)
	again := lockOf(t, write, As(w.Owner()), Lease(time.Minute))
	lasts(t, write, 55*time.Second, time.Minute)
	mustUnlock(t, w)
	lasts(t, write, 55*time.Second, time.Minute)
	mustUnlock(t, again)
	nothingLeft(t, s)
}

// Unlocks by its own client and by another one leave a reader its full lease, between renewals too.
func TestOtherReadersReleasesKeepAReadersLease(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	read, _ := both(open(t, s), "doc")
	other, _ := both(open(t, s), "doc")
	h := lockOf(t, read)
	for _, lease := range []time.Duration{time.Second, time.Minute} {
		mustUnlock(t, lockOf(t, other, Lease(lease)))
		lasts(t, read, 25*time.Second, 30*time.Second)
	}
	f := lockOf(t, other, Lease(40*time.Second))
	mustUnlock(t, h)
	lasts(t, read, 35*time.Second, 40*time.Second)
	mustUnlock(t, f)
	nothingLeft(t, s)
}

// A hold whose lease has ended keeps nobody out, even if its owner never unlocks it, whether the owner's last hold reads
// or writes.
func TestEndedReadHoldDoesNotOutliveItsOwnersLast(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	read, write := both(open(t, s), "doc")
	for _, writes := range []bool{false, true} {
		var first, last *Hold
		if writes {
			last = lockOf(t, write)
			first = lockOf(t, read, As(last.Owner()), Lease(soon/6))
		} else {
			first = lockOf(t, read, Lease(soon/6))
			last = lockOf(t, read, As(first.Owner()))
		}
		<-first.Done()
		waits := inBackground(t, write)
		rwListening(t, s, "doc", 1)
		// This key may live as long as a hold of its owner needs the lock.
		if _, err := conn.Do("DEL", fmt.Sprintf("{doc}:%s:rwlock_timeout:1", first.Owner())); err != nil {
			t.Fatal(err)
		}
		mustUnlock(t, last)
		select {
		case h := <-waits:
			mustUnlock(t, h)
		case <-time.After(soon):
			t.Fatalf("a hold that has ended keeps a writer out; the last one writes: %v", writes)
		}
		if err := first.Unlock(t.Context()); !errors.Is(err, ErrLeaseLost) {
			t.Errorf("%v", err)
		}
		nothingLeft(t, s)
	}
}
