package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"gotest.tools/gotestsum/testjson"
)

// result is what a run of go test left.
type result struct {
	passed bool
	out    io.Writer
	ran    *testjson.Execution
	tests  map[test]*span
}

// test is one that Go's -run can name: not a subtest.
type test struct{ pkg, name string }

// span is when a test ran, and whether it failed.
type span struct {
	from, to time.Time
	failed   bool
}

// goTest runs go test and prints what it says.
func goTest(out io.Writer, args []string) (*result, error) {
	r := &result{out: out, tests: map[test]*span{}}
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	events, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	r.ran, err = testjson.ScanTestOutput(testjson.ScanConfig{
		Stdout: events, IgnoreNonJSONOutputLines: true,
		Handler: &handler{result: r, format: testjson.NewEventFormatter(out, "standard-quiet", testjson.FormatOptions{})},
	})
	if err != nil {
		_ = cmd.Process.Kill() // its events can't be read any more
		_ = cmd.Wait()
		return nil, fmt.Errorf("go test's events: %w", err)
	}
	r.passed = cmd.Wait() == nil
	return r, nil
}

// handler prints events and keeps what is asked for later.
type handler struct {
	*result
	format testjson.EventFormatter
}

func (h *handler) Event(e testjson.TestEvent, ran *testjson.Execution) error {
	if e.Test != "" && !strings.Contains(e.Test, "/") {
		at := test{e.Package, e.Test}
		if h.tests[at] == nil {
			h.tests[at] = &span{from: e.Time}
		}
		h.tests[at].to = e.Time
		h.tests[at].failed = h.tests[at].failed || e.Action == testjson.ActionFail
	}
	if err := h.format.Format(e, ran); err != nil || !e.PackageEvent() || e.Action != testjson.ActionFail {
		return err
	}
	return h.tell(ran, ran.Package(e.Package).Failed)
}

// tell prints what failed tests printed, which the format leaves to a summary.
func (h *handler) tell(ran *testjson.Execution, failed []testjson.TestCase) error {
	for _, c := range failed {
		for _, line := range ran.OutputLines(c) {
			if strings.HasPrefix(line, "=== ") {
				continue // that it was begun or went on
			}
			if _, err := io.WriteString(h.out, line); err != nil {
				return err
			}
		}
	}
	return nil
}

func (h *handler) Err(text string) error {
	_, err := fmt.Fprintln(h.out, text)
	return err
}

// excused gives the tests that failed, by package, if each of them may have failed by the machine's doing; else its error
// is why not.
func (r *result) excused(during func(from, to time.Time) time.Duration) (map[string][]string, error) {
	switch {
	case r.ran.HasDataRace():
		return nil, errors.New("a data race")
	case r.ran.HasPanic():
		return nil, errors.New("a panic")
	}
	again := map[string][]string{}
	for at, ran := range r.tests {
		if !ran.failed {
			continue
		}
		longest := during(ran.from, ran.to)
		if longest == 0 {
			return nil, fmt.Errorf("%s of %s failed, and the machine ran", at.name, at.pkg)
		}
		again[at.pkg] = append(again[at.pkg], at.name)
		fmt.Fprintf(r.out, "== %s of %s failed while the machine stood still for %v\n", at.name, at.pkg, longest.Round(time.Millisecond))
	}
	for _, name := range r.ran.Packages() {
		if pkg := r.ran.Package(name); pkg.Result() == testjson.ActionFail && len(again[name]) == 0 || pkg.TestMainFailed() {
			return nil, fmt.Errorf("%s failed apart from its tests", name)
		}
	}
	if len(again) == 0 {
		return nil, errors.New("no test failed, but go test did")
	}
	return again, nil
}
