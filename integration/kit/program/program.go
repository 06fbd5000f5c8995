// Package program stands in for a test in programs that are none.
package program

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
)

// Program is the part of testing.TB that servers, proxies and peers need, for a
// program that is no test. What it lacks panics. The zero Program works.
type Program struct {
	testing.TB
	Title string // its name, and the beginning of its folders'
	Quiet bool   // nothing is printed: whoever has it looks at Errors

	mu    sync.Mutex // guards what follows
	last  []func()
	wrong []string
}

// stop is what ends a goroutine that can't go on, and why.
type stop string

// Helper does nothing.
func (p *Program) Helper() {}

// Name is the title.
func (p *Program) Name() string { return p.Title }

// Logf prints a line on standard error.
func (p *Program) Logf(format string, args ...any) {
	if !p.Quiet {
		fmt.Fprintf(os.Stderr, format+"\n", args...)
	}
}

// Errorf records a failure, and prints it.
func (p *Program) Errorf(format string, args ...any) {
	p.mu.Lock()
	p.wrong = append(p.wrong, fmt.Sprintf(format, args...))
	p.mu.Unlock()
	p.Logf(format, args...)
}

// Fatalf is Errorf, and ends the goroutine by a panic, which End stops.
func (p *Program) Fatalf(format string, args ...any) {
	p.Errorf(format, args...)
	panic(stop(p.Title + ": " + fmt.Sprintf(format, args...)))
}

// Fatal is Fatalf.
func (p *Program) Fatal(args ...any) { p.Fatalf("%s", fmt.Sprint(args...)) }

// Errors are the failures so far.
func (p *Program) Errors() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.wrong)
}

// Failed tells whether there are any.
func (p *Program) Failed() bool { return len(p.Errors()) > 0 }

// Cleanup puts f off until Finish or End.
func (p *Program) Cleanup(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = append(p.last, f)
}

// TempDir makes a folder that goes with Finish or End.
func (p *Program) TempDir() string {
	dir, err := os.MkdirTemp("", p.Title)
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// Finish runs what was put off, the latest first.
func (p *Program) Finish() {
	for {
		p.mu.Lock()
		n := len(p.last)
		if n == 0 {
			p.mu.Unlock()
			return
		}
		f := p.last[n-1]
		p.last = p.last[:n-1]
		p.mu.Unlock()
		f()
	}
}

// End is Finish, and makes failures the exit status. It must be deferred, and stops the panic of a Fatalf.
func (p *Program) End(status *int) {
	if r := recover(); r != nil {
		if _, stopped := r.(stop); !stopped {
			defer panic(r)
		}
	}
	p.Finish()
	if p.Failed() {
		*status = 1
	}
}
