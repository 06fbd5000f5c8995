package locks

import (
	"fmt"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// released is a release of permits, as a client remembers it.
func released(c *Client, name string, sent time.Duration) *pastChange {
	l := c.NewLock(kind.Semaphore(1), name, name)
	receipt := codec.FreshLatch(name)
	call, _ := kind.Repeated(kind.ChangeSemaphore(&kind.Want{
		Names: &l.names, Latch: receipt, LatchTTL: c.args.ReceiptTTL, Known: true, Publish: luasrc.Both,
	}, luasrc.GiveBack, 1, 0), int64(1_234_567_890_123))
	return &pastChange{client: c, name: name, slot: l.slot, call: call, receipt: receipt, sent: sent, until: sent + time.Minute}
}

func (c *Client) remember(u *pastChange) {
	s := c.shard(u.name)
	defer s.enter(mustNotBlock).leave()
	s.remember(u)
}

// What is remembered of many semaphores is bounded together with the unlocks.
func TestPastChangesAreBounded(t *testing.T) {
	c := newClient(t, "redis://127.0.0.1:1", 2*time.Second)
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before, now := heap(), c.Clock.Now()
	for i := range 40_000 {
		u := released(c, fmt.Sprint("a semaphore of many, number ", i), now+time.Duration(i)*time.Microsecond) // none is too old
		u.late = true                                                                                          // no receipt waits to be deleted
		c.remember(u)
	}
	n := 0
	for i := range c.shards {
		n += len(c.shards[i].past.changes)
	}
	size := heap() - before
	if unlocks := shardCount * ownPast * unsafe.Sizeof(past{}); n < 1000 || size+uint64(unlocks) > 3_200_000 {
		t.Errorf("%d changes are remembered and take %d bytes; docs/dev/protocol.md says 3.2 MB at most with the unlocks", n, size)
	}
	runtime.KeepAlive(c)
}

// When the client forgets a change, it deletes the change's receipt. While a repetition is under way, or may yet run, that must
// find the receipt.
func TestReceiptOfAForgottenChangeIsDeleted(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c, conn := newClient(t, s.URL(), 2*time.Second), s.Dial(t)
	keys := func(want int) {
		t.Helper()
		redistest.Becomes(t, fmt.Sprint(want, " receipts are left"), func() bool {
			n, err := redis.Int(conn.Do("DBSIZE"))
			return err == nil && n == want
		})
	}
	const late, open = 3, 4
	now := c.Clock.Now() // else they may be too old by the client's clock
	var under []*pastChange
	shard := c.shard("seats")
	for i := range 2 * maxChanges {
		u := released(c, "seats", now)
		if _, err := conn.Do("SET", u.receipt, 1); err != nil {
			t.Fatal(err)
		}
		u.late, u.due = i < late, i >= late && i < late+open
		c.remember(u)
		func() {
			defer shard.enter(mustNotBlock).leave()
			if taken := shard.past.takeChange(now); taken != nil {
				under = append(under, taken)
			}
		}()
	}
	keys(late + open + maxChanges)
	for i, u := range under {
		func() {
			defer shard.enter(mustNotBlock).leave()
			shard.past.repeated(u, 0, i == 0)
		}()
	}
	keys(late + 1 + maxChanges)
	m := &shard.past
	func() {
		defer shard.enter(mustNotBlock).leave()
		m.forget(now + repeatedFor)
	}()
	keys(late + 1)
	if len(under) != open || m.repeats != 0 || c.pastShared.Load() != 0 {
		t.Errorf("%d were repeated, %d still are; room taken: %d", len(under), m.repeats, c.pastShared.Load())
	}
}
