package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// ls finds the locks of one process or one kind, and those that end first.
func TestListIsChosenAndSorted(t *testing.T) {
	t.Parallel()
	url := single(t)
	a, b := open(t, url), open(t, url)
	hold := acquire(t, a.NewLock("b"), rlock.Lease(time.Hour))
	acquire(t, a.NewLock("b"), rlock.As(hold.Owner()), rlock.Lease(time.Hour))
	acquire(t, a.NewFencedLock("c"), rlock.Lease(2*time.Hour))
	acquire(t, b.NewLock("a"), rlock.Lease(3*time.Hour))
	sem := b.NewPermitSemaphore("d")
	if _, err := sem.TrySetPermits(t.Context(), 5); err != nil {
		t.Fatal(err)
	}
	if _, err := sem.TryAcquire(t.Context(), 3, rlock.Lease(time.Minute)); err != nil {
		t.Fatal(err)
	}
	enter(t, b.NewLock("b"))
	becomes(t, "it waits", func() bool { st := shown(t, url, "b"); return st.waiting() == 1 }, nothing)
	for _, row := range []struct{ args, names string }{
		{"", "a b c d"}, {"--holder " + a.ID().String(), "b c"}, {"--holder " + a.ID().String()[:8], "b c"}, {"--holder " + hold.Owner().String(), "b"},
		{"--kind lock", "a b"}, {"--kind permits", "d"}, {"--kind fenced", "c"}, {"--kind latch", ""}, {"--sort ttl", "d b c a"}, {"--sort holds", "d b a c"},
		{"--sort waiting --kind lock", "b a"},
	} {
		var all []state
		if err := json.Unmarshal([]byte(ended(t, 0, url, append([]string{"ls", "-o", "json"}, strings.Fields(row.args)...)...)), &all); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, s := range all {
			names = append(names, s.Name)
		}
		if !slices.Equal(names, strings.Fields(row.names)) {
			t.Errorf("%s: %q", row.args, names)
		}
	}
	ended(t, usage, url, "ls", "--kind", "mutex")
	ended(t, usage, url, "ls", "--sort", "age")
}

// Scripts read held and doctor as JSON.
func TestHeldAndDoctorInJSON(t *testing.T) {
	t.Parallel()
	url := single(t)
	h := acquire(t, open(t, url).NewLock("lock"))
	var st state
	if err := json.Unmarshal([]byte(ended(t, 0, url, "held", "-o", "json", "lock")), &st); err != nil || st.Holders[0].Owner != h.Owner().String() {
		t.Errorf("%+v, %v", st, err)
	}
	if out := ended(t, 1, url, "held", "-o", "json", "other"); !strings.HasPrefix(out, "{\"name\":\"other\"") || strings.Contains(out, "holders") {
		t.Error(out)
	}
	text := ended(t, 0, url, "doctor", "--read-only")
	var grades []string
	for line := range strings.Lines(ended(t, 0, url, "doctor", "--read-only", "-o", "json")) {
		var said struct{ Grade, About, Text string }
		if err := json.Unmarshal([]byte(line), &said); err != nil || said.Text == "" {
			t.Errorf("%s: %v", line, err)
		}
		grades = append(grades, said.Grade)
	}
	if len(grades) != strings.Count(text, "\n") || !slices.Contains(grades, "ok") {
		t.Errorf("%q\n%s", grades, text)
	}
	for _, command := range []string{"held", "doctor"} {
		args := []string{command, "-o", "yaml"}
		if command == "held" {
			args = append(args, "lock")
		}
		ended(t, usage, url, args...)
	}
}
