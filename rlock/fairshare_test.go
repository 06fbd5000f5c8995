package rlock

import (
	"errors"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redistest"
)

func TestListeners(t *testing.T) {
	if n, err := listeners([]any{[]byte("channel"), int64(3)}, nil); n != 3 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	refused := redis.Error("NOPERM this user has no permissions")
	if _, err := listeners(nil, refused); !errors.Is(err, refused) {
		t.Errorf("a refusal is told as %v", err)
	}
	for what, reply := range map[string]any{"no pair": []any{[]byte("channel")}, "no array": int64(3), "no number": []any{[]byte("channel"), []byte("many")}} {
		if n, err := listeners(reply, nil); err == nil {
			t.Errorf("%s: %d", what, n)
		}
	}
}

func TestNameIsTakenAgainAndAgain(t *testing.T) {
	const ms = time.Millisecond
	for what, row := range map[string]struct {
		hold, gap time.Duration
		often     int // after so many releases; 0: never
	}{
		"short holds":                        {ms, ms, oftenCount},
		"long holds":                         {time.Second, ms, oftenLong},
		"holds of minutes":                   {5 * time.Minute, ms, oftenLong},
		"short holds far from each other":    {ms, 2 * time.Second, 0},
		"long holds with a pause in between": {time.Second, 2 * time.Second, 0},
	} {
		t.Run(what, func(t *testing.T) {
			var table fairShareTable
			now := time.Hour
			for i := 1; i <= 20; i++ {
				since := now + row.gap
				now = since + row.hold
				if table.countRelease("orders", since, now) {
					if i != row.often {
						t.Errorf("after %d releases, want %d", i, row.often)
					}
					return
				}
			}
			if row.often != 0 {
				t.Error("never")
			}
		})
	}
}

// A server that lets nobody in for a while has not refused to tell who else wants a lock.
func TestRefusedConnectionIsNoRefusalToCount(t *testing.T) {
	s := redistest.Start(t, "--requirepass", "secret")
	c := open(t, s, WithCommandTimeout(2*time.Second))
	l := c.NewLock("orders")
	lockOf(t, l)
	admin := s.Dial(t)
	for _, command := range [][]any{{"CONFIG", "SET", "requirepass", "another"}, {"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"}} {
		if _, err := admin.Do(command[0].(string), command[1:]...); err != nil {
			t.Fatal(err)
		}
	}
	// The first question may still be written to the connection that was killed; the second meets the refusal.
	for range 2 {
		sh := c.shard(l.Name())
		asked := &fairShare{}
		sh.lock()
		sh.names[l.Name()].countClients(asked, true)
		sh.unlock()
		c.node.pipe.WakeWriter()
		for deadline := time.Now().Add(5 * soon); ; busy(time.Millisecond) {
			sh.lock()
			asking := asked.counting
			sh.unlock()
			if !asking && c.node.pipe.Err() != nil {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal("the read has no end")
			}
		}
	}
	if c.noClientCounts.Load() {
		t.Error("it asks no more")
	}
}
