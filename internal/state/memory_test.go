package state

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
		"slowly":                   {time.Second, 0, int(RepeatedFor / time.Second)},
		"within a moment":          {time.Millisecond, 0, maxPast},
		"where others are as busy": {time.Millisecond, 2 * sharedPast / maxPast, ownPast},
	} {
		t.Run(what, func(t *testing.T) {
			l := &Lock{Client: new(Client)}
			var s Memory
			at := time.Hour
			for range row.busy + 1 {
				s = Memory{}
				for range 2 * maxPast {
					at += row.every
					s.Add(Past{Lock: l, Sent: at})
				}
			}
			newest := 0
			for _, u := range s.all {
				if u.Sent > at-time.Duration(row.want)*row.every {
					newest++
				}
			}
			if len(s.all) != row.want || newest != row.want {
				t.Errorf("%d remembered, %d of them the newest; want %d", len(s.all), newest, row.want)
			}
		})
	}
	if most := (shardCount*ownPast + sharedPast) * unsafe.Sizeof(Past{}); most > 3_200_000 {
		t.Errorf("a client remembers %d bytes, and docs/dev/protocol.md says 3.2 MB", most)
	}
}

// Unlocks that come slowly take each other's places. When more come at once, and there is room for them, the oldest are
// still the first to go.
func TestTheOldestPastUnlocksAreDroppedFirst(t *testing.T) {
	l := &Lock{Client: new(Client)}
	var m Memory
	at := time.Hour
	for range 20 {
		at += time.Second
		m.Add(Past{Lock: l, Sent: at})
	}
	if m.oldest == 0 {
		t.Fatal("none has taken another's place")
	}
	for range maxPast + 100 {
		at += time.Millisecond
		m.Add(Past{Lock: l, Sent: at})
	}
	for i, u := range m.all {
		if age := at - u.Sent; age >= maxPast*time.Millisecond {
			t.Errorf("%d, sent %v ago, is remembered, and younger ones are not", i, age)
		}
	}
}

// What is due is repeated before those that a failover made due, wherever its place is: here it replaces one that is
// too old.
func TestWhatIsDueIsSentWhereverItsPlaceIs(t *testing.T) {
	l := &Lock{Client: new(Client)}
	now := time.Hour
	m := Memory{all: []Past{{Lock: l, Sent: now - 2*RepeatedFor}}, next: 1}
	m.Add(Past{Lock: l, Latch: "the latest", Due: true, Sent: now, Until: now + time.Minute})
	if u := m.Take(now); u == nil || u.Latch != "the latest" || m.Take(now) != nil {
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
	m := Memory{}
	const repeated = 3
	for i := range 2 * ownPast {
		receipt := fmt.Sprint("receipt-", i)
		if _, err := conn.Do("SET", receipt, 1); err != nil {
			t.Fatal(err)
		}
		func() {
			defer seats.Shard.Enter(section.MayBlock).Leave()
			c.pastShared.Store(sharedPast) // there is room for its own quota only
			m.Add(Past{Lock: &seats, Latch: receipt, Change: &call, Sent: now, Until: now + time.Minute, Due: i < repeated})
			m.Take(now)
		}()
	}
	redistest.Becomes(t, "the forgotten receipts are gone", func() bool {
		n, err := redis.Int(conn.Do("DBSIZE"))
		return err == nil && n == ownPast+repeated
	})
}
