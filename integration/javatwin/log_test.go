package main

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
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

func (b books) log() []entry {
	b.Helper()
	lines, err := redis.Values(b.conn.Do("XRANGE", "ledger:log", "-", "+"))
	if err != nil {
		b.Fatal(err)
	}
	var log []entry
	for _, line := range lines {
		pair, err := redis.Values(line, nil)
		if err != nil {
			b.Fatal(err)
		}
		id, err := redis.String(pair[0], nil)
		if err != nil {
			b.Fatal(err)
		}
		fields, err := redis.StringMap(pair[1], nil)
		if err != nil {
			b.Fatal(err)
		}
		text, _, _ := strings.Cut(id, "-")
		ms, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		number, err := strconv.ParseInt(fields["number"], 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		log = append(log, entry{
			at: time.Duration(ms) * time.Millisecond, side: fields["side"], event: fields["event"], number: number,
			found: fields["found"],
		})
	}
	return log
}

// await polls the log until it has the event, and returns its entry.
func (b books) await(side, event string) entry {
	b.Helper()
	for deadline := time.Now().Add(patience); ; {
		log := b.log()
		for _, e := range log {
			if e.side == side && e.event == event {
				return e
			}
		}
		if time.Now().After(deadline) {
			b.Fatalf("%v passed and %s has not noted %q: %v", patience, side, event, log)
		}
		<-time.After(2 * time.Millisecond)
	}
}

func (b books) numbers(key string) []int64 {
	b.Helper()
	n, err := redis.Int64s(b.conn.Do("LRANGE", key, 0, -1))
	if err != nil {
		b.Fatal(err)
	}
	return n
}

func (b books) last() int64 {
	b.Helper()
	n, err := redis.Int64(b.conn.Do("GET", "ledger:last"))
	if err != nil {
		b.Fatal(err)
	}
	return n
}
