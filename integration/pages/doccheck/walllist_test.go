package doccheck

import (
	"slices"
	"strings"
	"testing"
)

// mostWallTests is how many tests may compare wall time with a bound.
const mostWallTests = 11

// wallTests are those tests, each with what only real time shows. Its bound is at least ten times what the test takes.
var wallTests = map[string]string{
	"cmd/rlock.TestLostLockEndsTheWholeGroup":                                 "a child process ends, half a second after its signal",
	"cmd/rlock.TestSignalEndsARunThatHasNoAnswer":                             "a process ends by a signal",
	"cmd/rlock.TestWatchEndsInTime":                                           "a process ends beside a server that stands still",
	"integration/behaviour.TestNetworkThatIsCutAndHeals":                      "the kernel's own network is cut; the clock is read before the question",
	"integration/behaviour/cluster.TestClusterWhoseTLSIsWrongIsRefusedAtOnce": "handshakes of real servers end by a refusal, not by a timeout",
	"integration/behaviour/hostile.FuzzRepliesAfterAValidPrefix":              "a fuzzed reply must not make the client busy",
	"integration/behaviour/invariants.TestH3ErrReadsTheClockItself":           "the scheduler starves a goroutine; the clock is read before the question",
	"integration/pages/operations.TestPoolThatHasNoneToLend":                  "redigo's pool waits, or does not",
	"integration/redisson/javakinds.TestClockThatIsAheadTakesLivePermits":     "it finds a clock's reading among arguments, within a minute",
	"integration/security.TestDocumentedAdditions":                            "a real server's message wakes a waiter, long before a lease ends",
	"rlock.TestAllThatIsCountedIsListenedForByOneConnection":                  "a real server ends the subscriber; else a poll comes after four seconds",
}

// sleeps are how often the tests of a folder call time.Sleep outside bubbles, but for loops that wait for a state. A number
// may only fall.
var sleeps = map[string]int{
	"cmd/rlock": 2, "integration/behaviour": 1, "integration/behaviour/virtual": 2, "integration/bench/compare": 1,
	"integration/redisson/interop": 1, "integration/redisson/javakinds": 2, "integration/simulation": 2, "internal/command": 2,
	"internal/locks": 1, "internal/pipeline": 2, "internal/redisconn": 1, "internal/testkit/leakcheck": 1, "internal/testkit/stalls": 2,
	"internal/topology": 2, "pubsub": 3, "rlockotel": 1, "watchdog": 4,
}

// A test that compares wall time with a bound fails where the machine is busy, and one that sleeps guesses how long
// something takes. Time belongs into a bubble of testing/synctest; with a real server a test waits for a state.
func TestNoTestComparesWallTime(t *testing.T) {
	compared, slept := thisCheckout(t).wallTimes()
	for _, test := range sorted(compared) {
		if wallTests[test] == "" {
			t.Errorf("%s compares wall time with a bound: %s", test, strings.Join(compared[test], ", "))
		}
	}
	for _, test := range sorted(wallTests) {
		if len(compared[test]) == 0 {
			t.Errorf("%s is in the list, and compares no wall time", test)
		}
	}
	if len(wallTests) > mostWallTests {
		t.Errorf("the list has %d tests", len(wallTests))
	}
	for _, folder := range sorted(slept) {
		if at := slept[folder]; len(at) > sleeps[folder] {
			slices.Sort(at)
			t.Errorf("the tests of %s sleep %d times, %d were known: %s", folder, len(at), sleeps[folder], strings.Join(at, ", "))
		}
	}
}

// What the check must see, and what it must not take for a comparison: a // want line is one.
func TestWallTimeIsFollowed(t *testing.T) {
	const helper = `package testbed

import "time"

type Sent struct{ At time.Time }

func Record() []Sent { return []Sent{{time.Now()}} }

func Stopped() func() time.Duration {
	began := time.Now()
	return func() time.Duration { return time.Since(began) }
}

func Took(d time.Duration) bool { return d > 5 } // want
`
	const test = `package a

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/rlock-go/redisson/integration/kit/testbed"
)

const bound = time.Second

var rows = []func() bool{func() bool { return time.Since(time.Time{}) > bound }} // want

func TestAll(t *testing.T) {
	all := testbed.Record()
	first, last := all[0], all[1]
	_ = last.At.Sub(first.At) > bound // want
	_ = last.At.After(first.At.Add(bound)) // want
	_ = last.At.After(first.At)
	_ = last.At.Sub(first.At) < bound
	stopped := testbed.Stopped()
	_ = stopped() > bound+stopped() // want
	testbed.Took(stopped())
	for _, row := range rows {
		row()
	}
}

var virtual = []func() bool{func() bool { return time.Since(time.Time{}) > bound }}

func TestBubble(t *testing.T) {
	rows := []func() bool{func() bool { return time.Since(time.Time{}) > bound }}
	synctest.Test(t, func(t *testing.T) { _ = rows[0]() || virtual[0]() || time.Since(time.Time{}) > bound })
}
`
	var want, got []string
	files := map[string]string{"integration/kit/testbed/testbed.go": helper, "integration/a/a_test.go": test}
	compared, _ := write(t, files).wallTimes()
	for _, all := range compared {
		got = append(got, all...)
	}
	for name, text := range files {
		for i, line := range strings.Split(text, "\n") {
			if strings.HasSuffix(line, "// want") {
				want = append(want, where(name, i+1))
			}
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("it sees %q, not %q", got, want)
	}
}
