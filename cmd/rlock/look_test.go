package main

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
)

// commands returns how many commands the server has run.
func commands(t *testing.T, conn redis.Conn) int {
	t.Helper()
	info, err := redis.String(conn.Do("INFO", "stats"))
	_, after, _ := strings.Cut(info, "total_commands_processed:")
	digits, _, _ := strings.Cut(after, "\r\n")
	n, wrong := strconv.Atoi(digits)
	if err != nil || wrong != nil {
		t.Fatal(err, wrong)
	}
	return n
}

// A look of watch costs two commands for each of a thousand locks of which nothing has changed; it took thirteen when each
// was read in full. What has changed costs ten more, and a search does not look into locks that are known. Nothing else
// runs at the server.
func TestCommandsOfALook(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	const owner = "7f3c1a52-0a49-4d0c-9d5e-2f6b1a0c8d11:"
	do := func(args ...any) {
		t.Helper()
		if _, err := conn.Do(args[0].(string), args[1:]...); err != nil {
			t.Fatal(err)
		}
	}
	names := map[string]*state{}
	for i := range 1000 {
		name := fmt.Sprint("lock", i)
		names[name] = &state{Name: name}
		do("HSET", name, owner+strconv.Itoa(i), 1)
		do("PEXPIRE", name, 3_600_000)
		switch i % 4 {
		case 1:
			do("SET", codec.TokenKey(name), 7)
		case 2:
			do("HSET", name, "mode", "read")
		}
	}
	r, err := (&server{url: s.URL(), timeout: patience}).reader()
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	w := &watch{match: "*", every: time.Hour, known: names, found: make(chan found, 1), sofar: make(chan map[string]bool, 1), searches: true}
	look := func() int {
		t.Helper()
		before := commands(t, conn)
		seen, err := w.look(t.Context(), r)
		if err != nil || len(seen) != len(names) {
			t.Fatalf("%d seen, %v", len(seen), err)
		}
		w.report(r, seen, nil)
		return commands(t, conn) - before - 1
	}
	const batches, says = 10, 2 // of a hundred names; HELLO and ROLE
	costs := func(what string, want int) {
		t.Helper()
		got := look()
		if t.Logf("a look %s: %d commands", what, got); got != want {
			t.Errorf("a look %s takes %d commands, not %d", what, got, want)
		}
	}
	costs("at first", 10*1000+3*batches+says+1) // a new connection says its name
	const same = 2*1000 + 2*batches + says
	costs("while nothing changes", same)
	do("PEXPIRE", "lock1", 7_200_000)
	costs("after a renewal", same)
	if ms := *w.known["lock1"].TTL; ms < 7_000_000 {
		t.Errorf("it shows a TTL of %d ms", ms)
	}
	do("HINCRBY", "lock4", owner+"4", 1)
	costs("after a re-entry", same+3+10)
	do("DEL", "lock5")
	costs("after a release", same+3+9)
	do("SET", "lock6", "text")
	costs("at another type", same+3+10)
	costs("at it again", same-2+3+10)
	if a, b, c := w.known["lock4"], w.known["lock5"], w.known["lock6"]; a.Holders[0].Count != 2 || b.held() || c.Found != "string" {
		t.Errorf("%+v, %+v, %+v", a, b, c)
	}
	do("HSET", "new", owner+"1", 1)
	do("RPUSH", codec.FairQueue("lock8"), owner+"2")
	own, err := (&server{url: s.URL(), timeout: patience}).reader()
	if err != nil {
		t.Fatal(err)
	}
	before := topologytest.Calls(t, conn, "hscan")
	w.find(t.Context(), own, w.locks(), false)
	if n := topologytest.Calls(t, conn, "hscan") - before; n != 1 {
		t.Errorf("a search looks into %d hashes, not only into the new one", n)
	}
	if err := w.search(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	w.searches = true
	look()
	if a, b := w.known["new"], w.known["lock8"]; a == nil || !a.held() || b.Kind != fair || len(b.Queue) != 1 {
		t.Errorf("%+v, %+v", a, b)
	}
}
