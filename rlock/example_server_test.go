package rlock_test

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/rlock-go/redisson/internal/redistest"
)

// bench is as much of a test as a server wants of one; examples have none.
type bench struct {
	testing.TB
	cleanups []func()
}

var exampleBench bench

// redisURL is the server that all examples share. The first one starts it.
var redisURL = sync.OnceValue(func() string { return redistest.Start(&exampleBench).URL() })

func (b *bench) Helper()           {}
func (b *bench) Cleanup(fn func()) { b.cleanups = append(b.cleanups, fn) }
func (b *bench) TempDir() string {
	dir, err := os.MkdirTemp("", "rlock-examples-")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
func (b *bench) Fatal(args ...any)                 { panic(fmt.Sprint(args...)) }
func (b *bench) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (b *bench) Errorf(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// withExampleServer ends the examples' server before leaks are looked for.
type withExampleServer struct{ m *testing.M }

func (w withExampleServer) Run() int {
	defer func() {
		for i := len(exampleBench.cleanups) - 1; i >= 0; i-- {
			exampleBench.cleanups[i]()
		}
	}()
	return w.m.Run()
}
