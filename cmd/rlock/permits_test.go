package main

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

// Permits that Java took without a lease never expire. show says so, and permits releases them by their ids.
func TestLeakedPermitsAreReleased(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	sem := open(t, s.URL()).NewPermitSemaphore("gate")
	if _, err := sem.TrySetPermits(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	taken, err := sem.TryAcquire(t.Context(), 2, rlock.Lease(10*patience))
	if err != nil {
		t.Fatal(err)
	}
	ids := taken.IDs()
	id, err := hex.DecodeString(ids[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Dial(t).Do("ZADD", codec.PermitTimes("gate"), "922337203685477580", id); err != nil {
		t.Fatal(err)
	}
	if out := ended(t, 0, s.URL(), "show", "gate"); !strings.Contains(out, ids[0]+", never expires\n") || strings.Contains(out, ids[1]+", never") {
		t.Error(out)
	}
	ended(t, usage, s.URL(), "permits", "gate", "release", ids[0]) // there is no terminal to ask at
	ended(t, usage, s.URL(), "permits", "gate", "release", "x", "--yes")
	if out := ended(t, 1, s.URL(), "permits", "gate", "release", ids[0], strings.Repeat("0", 32), "--yes"); !strings.Contains(out, "nothing was released") {
		t.Error(out)
	}
	for _, row := range []struct{ answer, says string }{{"n\n", "nothing was changed"}, {"y\n", "now gate has 3 permits, of which 1 is taken"}} {
		tool := prepare(t, s.URL(), "permits", "gate", "release", ids[0])
		f, read := tool.onTerminal(pty.Winsize{Rows: 24, Cols: 80})
		tool.says("gate has 3 permits, of which 2 are taken")
		tool.says("Release 1 permit? The holder may still work. [y/N]")
		if _, err := f.WriteString(row.answer); err != nil {
			t.Fatal(err)
		}
		tool.says(row.says)
		tool.status()
		<-read
	}
	if n, err := sem.Available(t.Context()); err != nil || n != 2 {
		t.Errorf("%d are free, %v", n, err)
	}
}

// add gives permits to both kinds of semaphores, wakes a waiter, and makes nothing new.
func TestPermitsAreAdded(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s.URL())
	sem := c.NewSemaphore("sem")
	if _, err := sem.TrySetPermits(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	got := make(chan error, 1)
	go func() { got <- sem.Acquire(t.Context(), 1) }()
	becomes(t, "it waits", func() bool { st := shown(t, s.URL(), "sem"); return st.waiting() == 1 }, nothing)
	if out := ended(t, 0, s.URL(), "show", "sem"); strings.Contains(out, "it is free") || !strings.Contains(out, "free     0") {
		t.Error(out)
	}
	if out := ended(t, 1, s.URL(), "held", "sem"); out != "sem is a semaphore, which nobody owns: 0 permits free\n" {
		t.Error(out)
	}
	if out := ended(t, 0, s.URL(), "permits", "sem", "add", "2", "--yes"); !strings.Contains(out, "sem has 0 free permits") {
		t.Error(out)
	}
	if err := <-got; err != nil {
		t.Error(err)
	}
	if n, err := sem.Available(t.Context()); err != nil || n != 1 {
		t.Errorf("%d, %v", n, err)
	}
	ended(t, 0, s.URL(), "permits", "--yes", "sem", "add", "--", "-1")
	if n, err := sem.Available(t.Context()); err != nil || n != 0 {
		t.Errorf("%d, %v", n, err)
	}
	gate := c.NewPermitSemaphore("gate")
	if _, err := gate.TrySetPermits(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if _, err := gate.TryAcquire(t.Context(), 1, rlock.Lease(10*patience)); err != nil {
		t.Fatal(err)
	}
	if out := ended(t, 0, s.URL(), "permits", "gate", "add", "1", "--yes"); !strings.Contains(out, "gate has 1 permit, of which 1 is taken\nnow gate has 2 permits,") {
		t.Error(out)
	}
	acquire(t, c.NewLock("lock"))
	for _, name := range []string{"lock", "nothing"} {
		ended(t, usage, s.URL(), "permits", name, "add", "1", "--yes")
	}
	if out := ended(t, 0, s.URL(), "show", "nothing"); !strings.Contains(out, "none") {
		t.Error(out)
	}
}

// A permit that has expired is free for the next acquire, so each command counts it as free.
func TestExpiredPermitsCountAsFree(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	args := []any{codec.PermitTimes("gate"), time.Now().Add(time.Hour).UnixMilli(), strings.Repeat("a", 16)}
	for i := range 2 {
		args = append(args, time.Now().Add(-time.Minute).UnixMilli(), fmt.Sprintf("%016d", i))
	}
	if _, err := conn.Do("ZADD", args...); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Do("SET", "gate", 1); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		args []string
		says string
	}{
		{[]string{"ls"}, "1 (3 free)"},
		{[]string{"show", "gate"}, "free     3\n"},
		{[]string{"permits", "gate", "set", "4", "--yes"}, "gate has 4 permits, of which 1 is taken\n"},
	} {
		if out := ended(t, 0, s.URL(), row.args...); !strings.Contains(out, row.says) {
			t.Errorf("%q: %s", row.args, out)
		}
	}
}

// A latch that is closed is nothing that an acquire could have.
func TestClosedLatchIsNotFree(t *testing.T) {
	t.Parallel()
	url := single(t)
	l := open(t, url).NewCountDownLatch("latch")
	if _, err := l.TrySetCount(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	if out := ended(t, 0, url, "show", "latch"); strings.Contains(out, "it is free") {
		t.Error(out)
	}
}
