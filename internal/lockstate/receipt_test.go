package lockstate

import (
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/internal/section"
)

// A change is repeated after a failover, and the client forgets it meanwhile. Without its receipt the change would
// count twice.
func TestReceiptOutlivesTheRepetitionOfItsChange(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s)
	c.FailsOver = true
	conn := s.Dial(t)
	do(t, conn, "SET", "started", 3)
	l := c.NewLock(kind.CountDownLatch, "started", "started")
	if _, err := l.Change(t.Context(), true, func(w *kind.Want) kind.Call { return kind.CountDown(w, luasrc.DownByOne, 1) }); err != nil {
		t.Fatal(err)
	}
	do(t, conn, "CLIENT", "PAUSE", 10_000, "WRITE")
	sec := l.s.Enter(section.MayBlock)
	if len(l.s.past.all) != 1 {
		t.Fatalf("%d changes are remembered", len(l.s.past.all))
	}
	receipt := l.s.past.all[0].latch
	l.s.past.all[0].due, l.s.past.next = true, 0
	l.s.repeatDue()
	l.s.past.all[0].sent -= 2 * repeatedFor
	now := sec.Now()
	l.s.addPast(pastUnlock{l: &l, latch: "another", sent: now})
	sec.Leave()
	time.Sleep(100 * time.Millisecond) // by now both are written
	do(t, conn, "CLIENT", "UNPAUSE")
	for repeating := true; repeating; time.Sleep(time.Millisecond) {
		sec := l.s.Enter(section.MustNotBlock)
		repeating = l.s.past.repeats > 0
		sec.Leave()
	}
	if there, err := redis.Bool(conn.Do("EXISTS", receipt)); !there || err != nil {
		t.Errorf("the receipt is gone: %v", err)
	}
	if n, err := redis.Int(conn.Do("GET", "started")); n != 2 || err != nil {
		t.Errorf("the count is %d: %v", n, err)
	}
}

// A change that ran on a server that no longer serves the slot is repeated at once, before those that a failover made
// due. That holds even if it replaces a change that is too old.
func TestWhatIsDueIsSentWhereverItsPlaceIs(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s)
	conn := s.Dial(t)
	l := c.NewLock(kind.Semaphore(1), "seats", "seats")
	want := kind.Want{Names: &l.Names, Latch: codec.FreshLatch(l.Key()), LatchTTL: c.Args.ReceiptTTL, Publish: l.Publish()}
	call := kind.ChangeSemaphore(&want, luasrc.GiveBack, 1, 0)
	sec := l.s.Enter(section.MayBlock)
	now := sec.Now()
	l.s.past.all, l.s.past.next = []pastUnlock{{l: &l, sent: now - 2*repeatedFor}}, 1
	l.s.addPast(pastUnlock{l: &l, latch: want.Latch, change: &call, due: true, sent: now, until: now + c.ChangeFor})
	sec.Leave()
	becomes(t, conn, 1, "EXISTS", "seats")
}
