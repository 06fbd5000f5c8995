package main

import (
	"fmt"
	"os"
	"testing"
)

// program is what servers and peers need of testing.TB, for a program that is no test. What it lacks panics. It is used
// by one goroutine.
type program struct {
	testing.TB
	last   []func()
	failed bool
}

// stop is what ends a program that cannot go on.
type stop struct{}

func (p *program) Helper()                           {}
func (p *program) Name() string                      { return "javacourtesy" }
func (p *program) Failed() bool                      { return p.failed }
func (p *program) Cleanup(f func())                  { p.last = append(p.last, f) }
func (p *program) Logf(format string, args ...any)   { fmt.Fprintf(os.Stderr, format+"\n", args...) }
func (p *program) Errorf(format string, args ...any) { p.failed = true; p.Logf(format, args...) }
func (p *program) Fatal(args ...any)                 { p.Fatalf("%s", fmt.Sprint(args...)) }

func (p *program) Fatalf(format string, args ...any) {
	p.Errorf(format, args...)
	panic(stop{})
}

func (p *program) TempDir() string {
	dir, err := os.MkdirTemp("", "javacourtesy")
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
	for len(p.last) > 0 {
		f := p.last[len(p.last)-1]
		p.last = p.last[:len(p.last)-1]
		f()
	}
	if p.failed {
		*status = 1
	}
}
