package main

import (
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// A terminal shows locks while the first search is still running, and says so.
func TestFirstScreenDoesNotWaitForTheSearch(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	const script = `for i = tonumber(ARGV[1]), ARGV[2] do
		redis.call('hset', 'lock' .. i, '7f3c1a52-0a49-4d0c-9d5e-2f6b1a0c8d11:' .. i, 1); redis.call('pexpire', 'lock' .. i, 3600000)
	end`
	for i := 1; i <= 50_000; i += 10_000 {
		if _, err := s.Dial(t).Do("EVAL", script, 0, i, i+9999); err != nil {
			t.Fatal(err)
		}
	}
	c := prepare(t, s.URL(), "watch")
	_, read := c.onTerminal(pty.Winsize{Rows: 24, Cols: 100})
	began := time.Now()
	c.says("rlock watch *")
	header := time.Since(began)
	c.says("lock1")
	t.Logf("the header came after %v, the first lock after %v", header, time.Since(began))
	c.says("searching, ")
	if out := c.out.String(); !strings.Contains(out, "HOLDER") {
		t.Errorf("the first screen: %s", plainly(out))
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	<-read
}
