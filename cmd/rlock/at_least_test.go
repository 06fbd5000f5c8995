package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

// A lock that is over, but stays taken for the rest of its AtLeast, is shown as held by nobody, on each screen.
func TestRestOfAtLeastIsNoHold(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s.URL())
	id := c.ID().String()
	watches := []*tool{begin(t, s.URL(), "watch"), begin(t, s.URL(), "watch", "-o", "json")}
	kinds := map[string]*rlock.Lock{plain: c.NewLock("plain"), fair: c.NewFairLock("fair"), fenced: c.NewFencedLock("fenced"), "spin": c.NewSpinLock("spin")}
	for _, l := range kinds {
		h := acquire(t, l, rlock.AtLeast(10*patience))
		watches[0].says("held         " + l.Name() + "  by " + h.Owner().String())
		if err := h.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
		watches[0].says("kept         " + l.Name() + "  by " + id + ", for another ")
		watches[1].says(`"event":"kept","name":"` + l.Name() + `","holder":"` + id + `"`)
		if st := shown(t, s.URL(), l.Name()); st.KeptBy != id || len(st.Holders) != 0 || st.holdCount() != 0 || *st.TTL <= 0 {
			t.Errorf("%+v", st)
		}
		if out := ended(t, 0, s.URL(), "show", l.Name()); !strings.Contains(out, "holder  none: it was released, kept by "+id+" until its AtLeast is over\n") &&
			!strings.Contains(out, "holder   none: it was released, kept by "+id+" until its AtLeast is over\n") {
			t.Error(out)
		}
		if out := ended(t, 0, s.URL(), "held", l.Name()); !strings.Contains(out, l.Name()+" is held by nobody: it was released, kept by "+id+", TTL ") {
			t.Error(out)
		}
	}
	if out := ended(t, notAcquired, s.URL(), "run", "--wait", "0", "plain", "--", "true"); !strings.Contains(out, "plain is held by nobody: it was released, kept by "+id) {
		t.Error(out)
	}
	for args, want := range map[string]int{"": 4, "--holder " + id[:8]: 4, "--holder 0000": 0} {
		out := ended(t, 0, s.URL(), append([]string{"ls"}, strings.Fields(args)...)...)
		if strings.Count(out, "  0      0        released, kept by "+id+"\n") != want {
			t.Errorf("%s: %s", args, out)
		}
	}
	var all []state
	if err := json.Unmarshal([]byte(ended(t, 0, s.URL(), "ls", "-o", "json")), &all); err != nil || len(all) != 4 {
		t.Fatalf("%+v, %v", all, err)
	}
	for _, st := range all {
		if st.KeptBy != id || len(st.Holders) != 0 {
			t.Errorf("%+v", st)
		}
	}
	out := ended(t, 0, s.URL(), "watch", "--for", "300ms", "plain")
	if !strings.Contains(out, "kept         plain  by "+id) || !strings.Contains(out, ", since before") || strings.Contains(out, "held") {
		t.Errorf("watch: %s", out)
	}
	if out := ended(t, 0, s.URL(), "unlock", "--force", "--yes", "plain"); !strings.Contains(out, "freed; it was released, kept by "+id) {
		t.Errorf("unlock: %s", out)
	}
	watches[0].says("freed        plain  it was kept by " + id)
	for _, w := range watches {
		if err := w.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = w.Wait()
	}
}

// A lock is kept when the user who wanted to free its hold says yes. It is left alone, because a job would run again.
func TestUnlockLeavesWhatIsKeptByThen(t *testing.T) {
	t.Parallel()
	url := single(t)
	c := open(t, url)
	h := acquire(t, c.NewLock("nightly"), rlock.AtLeast(10*patience))
	asks := prepare(t, url, "unlock", "--force", "nightly")
	f, read := asks.onTerminal(pty.Winsize{Rows: 24, Cols: 80})
	asks.says("Free it?")
	if err := h.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(f, "y")
	got := asks.status()
	<-read
	if got != 1 || !strings.Contains(asks.out.String(), "not freed") {
		t.Errorf("status %d: %s", got, &asks.out)
	}
	if left := ttl(t, c.NewLock("nightly")); left < time.Minute {
		t.Errorf("it is kept for %v", left)
	}
}
