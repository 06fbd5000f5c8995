package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// A million keys, half of them hashes, of which a thousand are locks: it measures ls, and the delay of another client.
func TestMillionKeys(t *testing.T) {
	if !*full {
		t.Skip("-full")
	}
	s := redistest.Start(t)
	c := s.Dial(t)
	const script = `for i = tonumber(ARGV[1]), ARGV[2] do
		if i % 1000 == 0 then redis.call('hset', 'lock' .. i, '7f3c1a52-0a49-4d0c-9d5e-2f6b1a0c8d11:' .. i, 1); redis.call('pexpire', 'lock' .. i, 3600000)
		elseif i % 2 == 0 then redis.call('hset', 'session' .. i, 'user', i, 'name', 'n')
		else redis.call('set', 'page' .. i, 'text') end
	end`
	for i := 1; i <= 1_000_000; i += 10_000 {
		if _, err := c.Do("EVAL", script, 0, i, i+9999); err != nil {
			t.Fatal(err)
		}
	}
	// ping measures PINGs while during runs.
	ping := func(during func()) string {
		stop, took := make(chan struct{}), make(chan []time.Duration)
		go func() {
			var all []time.Duration
			defer func() { took <- all }()
			for {
				select {
				case <-stop:
					return
				default:
				}
				began := time.Now()
				if _, err := c.Do("PING"); err != nil {
					t.Error(err)
					return
				}
				all = append(all, time.Since(began))
				time.Sleep(time.Millisecond)
			}
		}()
		during()
		close(stop)
		all := <-took
		p50, p99 := percentiles(all)
		return fmt.Sprintf("PING p50 %v, p99 %v, longest %v of %d", p50, p99, slices.Max(all), len(all))
	}
	t.Log("alone: ", ping(func() { time.Sleep(5 * time.Second) }))
	var list string
	began := time.Now()
	t.Log("beside: ", ping(func() { list = ended(t, 0, s.URL(), "ls") }))
	t.Logf("ls took %v", time.Since(began))
	if n := strings.Count(list, "\n"); n != 1001 {
		t.Errorf("%d lines", n)
	}
}
