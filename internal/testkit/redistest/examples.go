package redistest

import (
	"fmt"
	"os"
	"sync"
	"testing"
)

// Examples stands in for the testing.TB that example functions lack. What is started with
// it ends with the test binary, if TestMain runs the tests by WithExamples.
var Examples testing.TB = examples

var examples = new(exampleBench)

// exampleBench has the methods of testing.TB that a server needs.
type exampleBench struct {
	testing.TB
	mu       sync.Mutex // guards cleanups
	cleanups []func()
}

func (b *exampleBench) Helper()      {}
func (b *exampleBench) Failed() bool { return false }

func (b *exampleBench) Cleanup(fn func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cleanups = append(b.cleanups, fn)
}

func (b *exampleBench) TempDir() string {
	dir, err := os.MkdirTemp("", "redistest-examples-")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func (b *exampleBench) Fatal(args ...any)                 { panic(fmt.Sprint(args...)) }
func (b *exampleBench) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (b *exampleBench) Errorf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
}

// WithExamples runs M, and then ends all that was started with Examples:
// leakcheck.Main(redistest.WithExamples{M: m}).
type WithExamples struct{ M *testing.M }

// Run runs the tests and examples, and cleans up after the examples.
func (w WithExamples) Run() int {
	defer func() {
		for i := len(examples.cleanups) - 1; i >= 0; i-- {
			examples.cleanups[i]()
		}
	}()
	return w.M.Run()
}
