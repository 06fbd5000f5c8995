package main

import (
	"fmt"
	"os"
	"sync"
	"testing"
)

// tb is the part of testing.TB that servers and proxies need: of the whole run, or of one round, which ends what it
// began by itself. What it lacks panics.
type tb struct {
	testing.TB

	mu    sync.Mutex // guards what follows
	last  []func()
	wrong []string
}

func (t *tb) Helper()                      {}
func (t *tb) Name() string                 { return "endurance" }
func (t *tb) Logf(string, ...any)          {}
func (t *tb) Fatal(args ...any)            { t.Fatalf("%s", fmt.Sprint(args...)) }
func (t *tb) Failed() bool                 { return len(t.errors()) > 0 }
func (t *tb) Fatalf(f string, args ...any) { panic(fmt.Sprintf("endurance: "+f, args...)) }

func (t *tb) Errorf(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wrong = append(t.wrong, fmt.Sprintf(format, args...))
}

func (t *tb) errors() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string(nil), t.wrong...)
}

func (t *tb) Cleanup(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, f)
}

func (t *tb) TempDir() string {
	dir, err := os.MkdirTemp("", "endurance")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// end runs what was put off, the latest first.
func (t *tb) end() {
	for {
		t.mu.Lock()
		n := len(t.last)
		if n == 0 {
			t.mu.Unlock()
			return
		}
		f := t.last[n-1]
		t.last = t.last[:n-1]
		t.mu.Unlock()
		f()
	}
}
