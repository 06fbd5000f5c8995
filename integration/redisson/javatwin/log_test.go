package main

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/testbed"
)

// entry is one line of the ledger's log, at the server's time.
type entry struct {
	at                 time.Duration
	side, event, found string
	number             int64
}

// books reads what the twins left.
type books struct {
	*testing.T
	conn redis.Conn // not for concurrent use
}

func (b books) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b books) log() (log []entry) {
	b.Helper()
	lines, err := redis.Values(b.conn.Do("XRANGE", "ledger:log", "-", "+"))
	b.must(err)
	for _, line := range lines {
		pair := line.([]any)
		id, err := redis.String(pair[0], nil)
		b.must(err)
		fields, err := redis.StringMap(pair[1], nil)
		b.must(err)
		text, _, _ := strings.Cut(id, "-")
		ms, err := strconv.ParseInt(text, 10, 64)
		b.must(err)
		number, err := strconv.ParseInt(fields["number"], 10, 64)
		b.must(err)
		log = append(log, entry{time.Duration(ms) * time.Millisecond, fields["side"], fields["event"], fields["found"], number})
	}
	return log
}

// await polls the log until it has the event, and returns its entry.
func (b books) await(side, event string) (e entry) {
	b.Helper()
	testbed.BecomesWithin(b, patience, side+" notes "+event, func() bool {
		for _, e = range b.log() {
			if e.side == side && e.event == event {
				return true
			}
		}
		return false
	})
	return e
}

func (b books) numbers(key string) []int64 {
	b.Helper()
	n, err := redis.Int64s(b.conn.Do("LRANGE", key, 0, -1))
	b.must(err)
	return n
}

func (b books) last() int64 {
	b.Helper()
	n, err := redis.Int64(b.conn.Do("GET", "ledger:last"))
	b.must(err)
	return n
}
