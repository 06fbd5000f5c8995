package main

import (
	"fmt"
	"os"
	"sync"
	"testing"
)

// program is the part of testing.TB that servers and proxies need, for a program that is no test. What it lacks panics.
type program struct {
	testing.TB

	mu     sync.Mutex // guards what follows
	last   []func()
	failed bool
}

// stop is what ends a goroutine that cannot go on.
type stop struct{}

func (p *program) Helper()      {}
func (p *program) Name() string { return "torture" }

func (p *program) Logf(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

func (p *program) Errorf(format string, args ...any) {
	p.mu.Lock()
	p.failed = true
	p.mu.Unlock()
	p.Logf(format, args...)
}

func (p *program) Fatalf(format string, args ...any) {
	p.Errorf(format, args...)
	panic(stop{})
}

func (p *program) Fatal(args ...any) { p.Fatalf("%s", fmt.Sprint(args...)) }

func (p *program) Failed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
}

func (p *program) Cleanup(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = append(p.last, f)
}

func (p *program) TempDir() string {
	dir, err := os.MkdirTemp("", "torture")
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// end runs what was put off, the latest first, and makes failures the exit status.
func (p *program) end(status *int) {
	if r := recover(); r != nil && r != (stop{}) {
		defer panic(r)
	}
	for {
		p.mu.Lock()
		n := len(p.last)
		if n == 0 {
			p.mu.Unlock()
			break
		}
		f := p.last[n-1]
		p.last = p.last[:n-1]
		p.mu.Unlock()
		f()
	}
	if p.Failed() {
		*status = 1
	}
}
