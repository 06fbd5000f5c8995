package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

const golden = "testdata/replicated.txt"

// masks make the same of two runs' screens: times, ids, versions and numbers of connections.
var masks = []struct {
	what *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "7f3c1a52-0a49-4d0c-9d5e-2f6b1a0c8d11"},
	{regexp.MustCompile(`\b[45]m\d+(\.\d+)?s +`), "4m59.9s  "}, // a column is as wide as its widest cell
	{regexp.MustCompile(`\b(9|10)m\d+(\.\d+)?s +`), "9m59.9s  "},
	{regexp.MustCompile(`TTL  +`), "TTL      "},
	{regexp.MustCompile(`(p50|p99|after) [0-9.]+(µs|ms|s)`), "$1 200µs"},
	{regexp.MustCompile(`-?[0-9.]+(µs|ms|s) from this`), "0s from this"},
	{regexp.MustCompile(`(Redis|Valkey) \d+\.\d+\.\d+`), "Redis 8.0.0"},
	{regexp.MustCompile(`\d+ of \d+ connections`), "10 of 10000 connections"},
}

// The screens of ls and doctor behind redis+replicated:// are those of the file, with all nodes, without the master, and
// with two masters. With -write they become the file.
func TestScreensOfAReplicatedSet(t *testing.T) {
	t.Parallel()
	set := redistest.StartReplicated(t, 1)
	master, replica := set.Nodes[0], set.Nodes[1]
	c := open(t, set.URL())
	acquire(t, c.NewLock("invoices"), rlock.Lease(10*patience))
	acquire(t, c.NewFencedLock("ledger"), rlock.Lease(10*patience))
	h := acquire(t, c.NewLock("nightly"), rlock.AtLeast(20*patience))
	if err := h.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.Close()
	var b strings.Builder
	shows := func(status int, args ...string) {
		t.Helper()
		text := ended(t, status, set.URL(), append(args, "--timeout", "1m")...) // a busy machine may be slow for less
		for addr, is := range map[string]string{master.Addr(): "127.0.0.1:6379", replica.Addr(): "127.0.0.1:6380"} {
			text = strings.ReplaceAll(text, addr, is)
		}
		for _, m := range masks {
			text = m.what.ReplaceAllString(text, m.as)
		}
		b.WriteString("$ rlock " + strings.Join(args, " ") + "\n" + text + "\n")
	}
	b.WriteString("REDIS_URL=redis+replicated://127.0.0.1:6379,127.0.0.1:6380\n\n# All nodes are there.\n\n")
	shows(0, "ls")
	shows(0, "doctor")
	set.Detach(replica)
	b.WriteString("# Both nodes are masters.\n\n")
	shows(unreachable, "ls")
	shows(unreachable, "doctor")
	set.Follow(replica, master)
	set.AwaitReplicas(master, 1)
	master.Kill()
	b.WriteString("# The master is dead.\n\n")
	shows(unreachable, "ls")
	shows(0, "ls", "--read-only")
	shows(1, "doctor", "--read-only")
	compare(t, golden, b.String())
}

// compare demands that a file has a text. With -write it gets the text.
func compare(t *testing.T, file, text string) {
	t.Helper()
	if *write {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(file); err != nil || text != string(want) {
		t.Errorf("%s differs from what is shown (-write changes it), %v:\n%s", file, err, text)
	}
}

// widths are more masks, of what has the same width each time.
var widths = []struct {
	what *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`59m\d\ds|1h0m0s`), "59m59s"},
	{regexp.MustCompile(`\d\d:\d\d:\d\d`), "12:00:00"},
	{regexp.MustCompile(`12:00:00\.\d+`), "12:00:00.000"},
	{regexp.MustCompile(`(127.0.0.1:)\d+, connected for \d+s`), "${1}50000, connected for 1s"},
}

// The screens of a terminal with 70, 100 and 200 columns are those of the file. With -write they become the file.
func TestScreensAtThreeWidths(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	const a, z, permit = "7f3c1a52-0a49-4d0c-9d5e-2f6b1a0c8d11", "b21e77d0-93c5-4f0e-8a16-5d4c3b2a1908", "0123456789abcdef"
	fill := func() { // anew for each screen, so that times have one width
		t.Helper()
		later := time.Now().Add(time.Hour).UnixMilli()
		for _, command := range [][]any{
			{"FLUSHALL"}, {"HSET", "invoices", a + ":1", 1}, {"HSET", "invoices:2026:settlement:eu-central:customer-4711:retry", a + ":52", 2}, {"HSET", "請求書:東京", z + ":3", 1},
			{"HSET", "🔒 café", z + ":1234", 12345}, {"HSET", "x\x1b[2J\n", a + ":2", 1}, {"HSET", "ledger", a + ":9", 1}, {"SET", codec.TokenKey("ledger"), 4711},
			{"HSET", "prices", "mode", "read", a + ":4", 1, z + ":5", 1, z + ":6", 2}, {"HSET", "rates", "mode", "write", a + ":8:write", 1},
			{"HSET", "nightly", a + ":10", 1}, {"RPUSH", codec.FairQueue("nightly"), z + ":11", z + ":12"}, {"ZADD", codec.FairTimes("nightly"), later, z + ":11", later, z + ":12"},
			{"HSET", "job", fmt.Sprint(a, ":", codec.Keeper(1)), 1},
			{"SET", "gate", 1}, {"ZADD", codec.PermitTimes("gate"), later, permit, 922337203685477, "fedcba9876543210", 1, "expired.........", later, "another permit.."},
			{"SET", "quota", 0}, {"SET", "ready", 2},
			{"HSET", "for ever", a + ":13", 1},
		} {
			if _, err := conn.Do(command[0].(string), command[1:]...); err != nil {
				t.Fatal(err)
			}
			if command[0] == "HSET" && command[1] != "for ever" {
				if _, err := conn.Do("PEXPIRE", command[1], time.Hour.Milliseconds()); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for _, channel := range []string{codec.Channel("invoices"), codec.PermitChannel("quota"), codec.CountDownChannel("ready")} {
		waits := s.Dial(t)
		if _, err := waits.Do("CLIENT", "SETNAME", "billing:"+z); err != nil {
			t.Fatal(err)
		}
		if _, err := waits.Do("SUBSCRIBE", channel); err != nil {
			t.Fatal(err)
		}
	}
	var b strings.Builder
	for _, columns := range []int{70, 100, 200} {
		for _, args := range []string{"ls -q", "show invoices", "show nightly", "show gate", "show -v quota", "show invoices:2026:settlement:eu-central:customer-4711:retry", "permits gate", "permits quota", "watch --for 1ms", "doctor --read-only"} {
			fill()
			c := prepare(t, s.URL(), append(strings.Fields(args), "--timeout", "1m")...)
			_, read := c.onTerminal(pty.Winsize{Rows: 40, Cols: uint16(columns)})
			c.status()
			<-read
			screens := strings.Split(c.out.String(), "\x1b[H")
			text := strings.ReplaceAll(plainly(screens[len(screens)-1]), s.Addr(), "127.0.0.1:6379")
			for _, m := range slices.Concat(masks[4:], widths) {
				text = m.what.ReplaceAllString(text, m.as)
			}
			fmt.Fprintf(&b, "%s\n$ rlock %s\n%s\n", strings.Repeat("·", columns), args, text)
		}
	}
	compare(t, "testdata/screens.txt", b.String())
}
