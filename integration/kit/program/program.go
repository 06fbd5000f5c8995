// Package program replaces testing.TB in programs that are not tests.
package program

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
)

// Program has the methods of testing.TB that servers, proxies and peers need. The others panic. The zero Program works.
type Program struct {
	testing.TB
	Title string // its name, and the prefix of its temporary folders
	Quiet bool   // prints nothing; the caller reads Errors

	mu    sync.Mutex // guards the fields below
	last  []func()
	wrong []string
}

// stop is the panic value of Fatalf: the reason why the goroutine can't go on.
type stop string

// Helper does nothing.
func (p *Program) Helper() {}

// Name is the title.
func (p *Program) Name() string { return p.Title }

// Logf prints a line on standard error, unless Quiet is set.
func (p *Program) Logf(format string, args ...any) {
	if !p.Quiet {
		fmt.Fprintf(os.Stderr, format+"\n", args...)
	}
}

// Errorf records a failure and logs it.
func (p *Program) Errorf(format string, args ...any) {
	p.mu.Lock()
	p.wrong = append(p.wrong, fmt.Sprintf(format, args...))
	p.mu.Unlock()
	p.Logf(format, args...)
}

// Fatalf is Errorf followed by a panic, which ends the goroutine. End recovers it.
func (p *Program) Fatalf(format string, args ...any) {
	p.Errorf(format, args...)
	panic(stop(p.Title + ": " + fmt.Sprintf(format, args...)))
}

// Fatal is Fatalf with its operands formatted as by fmt.Sprint.
func (p *Program) Fatal(args ...any) { p.Fatalf("%s", fmt.Sprint(args...)) }

// Errors are the failures so far.
func (p *Program) Errors() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.wrong)
}

// Failed reports whether there are any failures.
func (p *Program) Failed() bool { return len(p.Errors()) > 0 }

// Cleanup makes Finish or End call f.
func (p *Program) Cleanup(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = append(p.last, f)
}

// TempDir makes a folder, which Finish or End removes.
func (p *Program) TempDir() string {
	dir, err := os.MkdirTemp("", p.Title)
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// Finish calls the functions given to Cleanup, the last one first.
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

// End calls Finish and sets status to 1 if there are failures. It must be deferred, and recovers the panic of a Fatalf.
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
