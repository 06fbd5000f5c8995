package lockstate

import (
	"fmt"
	"testing"
	"time"
	"unsafe"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/internal/section"
)

// The number of remembered unlocks is bounded, and so is their age.
func TestPastUnlocksAreBounded(t *testing.T) {
	for what, row := range map[string]struct {
		every time.Duration // between two unlocks of a shard
		busy  int           // how many shards before it have had as many
		want  int
	}{
		"slowly":                   {time.Second, 0, int(repeatedFor / time.Second)},
		"within a moment":          {time.Millisecond, 0, maxPast},
		"where others are as busy": {time.Millisecond, 2 * sharedPast / maxPast, ownPast},
	} {
		t.Run(what, func(t *testing.T) {
			l := &Lock{c: new(client)}
			var s memory
			at := time.Hour
			for range row.busy + 1 {
				s = memory{}
				for range 2 * maxPast {
					at += row.every
					s.add(pastUnlock{l: l, sent: at})
				}
			}
			newest := 0
			for _, u := range s.all {
				if u.sent > at-time.Duration(row.want)*row.every {
					newest++
				}
			}
			if len(s.all) != row.want || newest != row.want {
				t.Errorf("%d remembered, %d of them the newest; want %d", len(s.all), newest, row.want)
			}
		})
	}
	if most := (shardCount*ownPast + sharedPast) * unsafe.Sizeof(pastUnlock{}); most > 3_200_000 {
		t.Errorf("a client remembers %d bytes, and docs/dev/protocol.md says 3.2 MB", most)
	}
}

// What is due is repeated before those that a failover made due, wherever its place is: here it replaces one that is
// too old.
func TestWhatIsDueIsSentWhereverItsPlaceIs(t *testing.T) {
	l := &Lock{c: new(client)}
	now := time.Hour
	m := memory{all: []pastUnlock{{l: l, sent: now - 2*repeatedFor}}, next: 1}
	m.add(pastUnlock{l: l, latch: "the latest", due: true, sent: now, until: now + time.Minute})
	if u := m.take(now); u == nil || u.latch != "the latest" || m.take(now) != nil {
		t.Errorf("%v is repeated", u)
	}
}

// When the client forgets a change, it deletes the change's receipt, unless a repetition may be under way, which must
// find it.
func TestReceiptOfAForgottenChangeIsDeleted(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c, conn := newClient(t, s.URL()), s.Dial(t)
	seats := c.NewLock(kind.Semaphore(1), "seats", "seats")
	call := kind.Read("PING")
	now := time.Hour
	m := memory{}
	const repeated = 3
	for i := range 2 * ownPast {
		receipt := fmt.Sprint("receipt-", i)
		if _, err := conn.Do("SET", receipt, 1); err != nil {
			t.Fatal(err)
		}
		func() {
			defer seats.s.Enter(section.MayBlock).Leave()
			c.pastShared.Store(sharedPast) // there is room for its own quota only
			m.add(pastUnlock{l: &seats, latch: receipt, change: &call, sent: now, until: now + time.Minute, due: i < repeated})
			m.take(now)
		}()
	}
	redistest.Becomes(t, "the forgotten receipts are gone", func() bool {
		n, err := redis.Int(conn.Do("DBSIZE"))
		return err == nil && n == ownPast+repeated
	})
}
