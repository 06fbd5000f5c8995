package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

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
	if *write {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != string(want) {
		t.Errorf("%s differs from what is shown (-write changes it):\n%s", golden, got)
	}
}
