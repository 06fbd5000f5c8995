package leakcheck

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"time"

	"github.com/rlock-go/redisson/internal/testkit/stalls"
)

// patience is how long goroutines may take to end after the tests, on a loaded machine.
const patience = 10 * time.Second

// Main runs the tests and ends the process with their exit code. If they passed but left
// goroutines, it prints their stacks, and the code is 1. Package stalls watches while the
// tests run. Processes that tests start ignore no signal. Call Main from TestMain, before
// any goroutine is started that outlives the tests.
//
// Most tests wait for a server, so more tests run at a time than there are processors:
// parallel says how many, unless the command line does.
func Main(m interface{ Run() int }) {
	given := false // a command line that is parsed later overrides the value anyway
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		if err := flag.Set("test.parallel", parallel()); err != nil {
			panic(err)
		}
	}
	os.Exit(run(m, patience, os.Stderr))
}

func run(m interface{ Run() int }, patience time.Duration, out io.Writer) int {
	heed()
	watched := stalls.Watch()
	code := m.Run()
	watched()
	if code != 0 {
		return code // a test that failed half-way may leave anything
	}
	left := await(patience)
	if len(left) == 0 {
		return 0
	}
	fmt.Fprintf(out, "leakcheck: the tests passed and left %d goroutines:\n\n%s\n", len(left), strings.Join(left, "\n\n"))
	return 1
}

// heed makes processes that tests start handle the signals that this one was started to
// ignore: nohup ignores SIGHUP, and a shell without job control ignores SIGINT for what it
// runs in the background. A program started while a signal is caught gets its default.
func heed() {
	for _, s := range heeded {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
}

// await waits until no goroutine but the caller's is left. After patience it returns the
// stacks of those that are.
func await(patience time.Duration) []string {
	pause := time.Millisecond
	for deadline := time.Now().Add(patience); ; pause = min(2*pause, 100*time.Millisecond) {
		left := others()
		if len(left) == 0 || time.Now().After(deadline) {
			return left
		}
		time.Sleep(pause)
	}
}

// others returns the stacks of all goroutines but the caller's and those of the
// runtime and of os/signal, which start at first use and never end.
func others() (left []string) {
	buf := make([]byte, 1<<16)
	n := runtime.Stack(buf, true)
	for n == len(buf) {
		buf = make([]byte, 2*len(buf))
		n = runtime.Stack(buf, true)
	}
	stacks := strings.Split(strings.TrimSpace(string(buf[:n])), "\n\n")
	for _, stack := range stacks[1:] { // the first is the caller's
		// "\n": the function itself is meant, not a goroutine "created by" it.
		if !strings.Contains(stack, "\nos/signal.loop(") {
			left = append(left, stack)
		}
	}
	return left
}
