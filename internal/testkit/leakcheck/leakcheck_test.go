package leakcheck

import (
	"bytes"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"testing"
	"time"
)

// caseEnv makes this binary run one case instead of its tests, as the testing package's
// goroutines would disturb it.
const caseEnv = "LEAKCHECK_CASE"

// tests stands in for a testing.M.
type tests func() int

func (f tests) Run() int { return f() }

// abandoned blocks until the process ends. The test looks for its name in stacks.
func abandoned() { select {} }

// cases are things that tests may do, and how the binary must then end.
var cases = map[string]struct {
	patience time.Duration
	tests    tests
	code     int
	prints   []string // empty: nothing
}{
	"nothing left": {time.Minute, func() int { return 0 }, 0, nil},
	"one left": {time.Millisecond, func() int { go abandoned(); return 0 }, 1,
		[]string{"left 1 goroutines", "leakcheck.abandoned(", "leakcheck_test.go:"}},
	"more left than fit into the first buffer": {time.Millisecond, func() int {
		for range 1000 {
			go abandoned()
		}
		return 0
	}, 1, []string{"left 1000 goroutines"}},
	"one about to end":     {time.Minute, func() int { go time.Sleep(50 * time.Millisecond); return 0 }, 0, nil},
	"failed, and one left": {time.Millisecond, func() int { go abandoned(); return 3 }, 3, nil},
	"what it starts heeds SIGHUP": {time.Minute, func() int {
		if exec.Command("sh", "-c", "kill -HUP $$").Run() == nil {
			return 1
		}
		return 0
	}, 0, nil},
	"signals were asked for": {time.Millisecond, func() int {
		c := make(chan os.Signal, 1)
		signal.Notify(c, os.Interrupt)
		signal.Stop(c)
		return 0
	}, 0, nil},
}

func TestMain(m *testing.M) {
	if c, ok := cases[os.Getenv(caseEnv)]; ok {
		os.Exit(run(c.tests, c.patience, os.Stdout))
	}
	os.Exit(m.Run()) // not by Main, which is what is tested
}

func TestOnlyGoroutinesThatAreLeftFailTheBinary(t *testing.T) {
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), "sh", "-c", `trap "" HUP; exec "$0"`, os.Args[0]) // as by nohup
			cmd.Env = append(os.Environ(), caseEnv+"="+name, "GORACE=atexit_sleep_ms=0")
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			err := cmd.Run()
			if cmd.ProcessState == nil {
				t.Fatal(err)
			}
			if code := cmd.ProcessState.ExitCode(); code != c.code {
				t.Errorf("ended with %d, want %d", code, c.code)
			}
			for _, want := range c.prints {
				if !strings.Contains(out.String(), want) {
					t.Errorf("did not print %q", want)
				}
			}
			if c.prints == nil && out.Len() > 0 {
				t.Error("printed something")
			}
			if t.Failed() {
				t.Logf("%.2000s", out.String())
			}
		})
	}
}
