package doccheck

import (
	"slices"
	"strings"
	"testing"
)

// mostWallTests is how many tests may compare wall time with a bound.
const mostWallTests = 20

// wallTests are those tests, each with what only real time shows. Its bound is at least ten times what the test takes.
var wallTests = map[string]string{
	"cmd/rlock.TestLostLockEndsTheWholeGroup":                                 "a child process ends, half a second after its signal",
	"cmd/rlock.TestSignalEndsARunThatHasNoAnswer":                             "a process ends by a signal",
	"cmd/rlock.TestWatchEndsInTime":                                           "a process ends beside a server that stands still",
	"integration/behaviour.TestNetworkThatIsCutAndHeals":                      "the kernel's own network is cut; the clock is read before the question",
	"integration/behaviour/cluster.TestClusterWhoseTLSIsWrongIsRefusedAtOnce": "handshakes of real servers end by a refusal, not by a timeout",
	"integration/behaviour/hostile.FuzzRepliesAfterAValidPrefix":              "a fuzzed reply must not make the client busy",
	"integration/behaviour/invariants.TestH3ErrReadsTheClockItself":           "the scheduler starves a goroutine; the clock is read before the question",
	"integration/bench/compare.TestBrokenLocksAreCaughtInTheirCells":          "measurements of other libraries' locks",
	"integration/bench/compare.TestREADMEsTableIsOfTheRun":                    "numbers of a recorded run, not of this one",
	"integration/pages/operations.TestPoolThatHasNoneToLend":                  "redigo's pool waits, or does not",
	"integration/redisson/javakinds.TestClockThatIsAheadTakesLivePermits":     "it finds a clock's reading among arguments, within a minute",
	"integration/security.TestDocumentedAdditions":                            "a real server's message wakes a waiter, long before a lease ends",
	"cmd/rlock.TestEveryKindIsShownAndNothingChanged":                         "it reads what is left of a lease, which has minutes",
	"internal/clock.TestASetWallClockIsNoSuspend":                             "two readings of the system's clocks, between a third and a fourth",
	"internal/clock.TestSystemClockKeepsToBoottime":                           "two readings of the system's clocks, between a third and a fourth",
	"internal/locks.TestH1ValidUntilIsNeverTooLate":                           "two answers of one hold, and a pause of the machine only makes them earlier",
	"internal/locks.TestNoOfALookCountsIfItsOwnerHadNoCommandMeanwhile":       "it asks whether any trust is left of a minute",
	"internal/command.TestServerThatStandsStillDelaysNoOther":                 "a real server stands still, and another answers meanwhile",
	"internal/topology.TestClusterIsKnownWhileAServerStandsStill":             "a real server stands still, and another answers meanwhile",
	"rlock.TestAllThatIsCountedIsListenedForByOneConnection":                  "a real server ends the subscriber; else a poll comes after four seconds",
}

// sleeps are how often the tests of a folder call time.Sleep outside bubbles. A number may only fall. The check can't see
// that the rows of tables in behaviour/virtual and parts of the simulation's plays run in a bubble.
var sleeps = map[string]int{
	"cmd/rlock": 2, "docs/cookbook": 1, "integration/behaviour": 1, "integration/behaviour/cluster": 1,
	"integration/behaviour/severalservers": 1, "integration/behaviour/virtual": 7, "integration/bench/compare": 1, "integration/pages/monitoring": 1, "integration/redisson/interop": 1,
	"integration/redisson/javakinds": 3, "integration/simulation": 9, "internal/command": 2, "internal/locks": 5, "internal/pipeline": 10,
	"internal/redisconn": 1, "internal/testkit/redistest": 1, "internal/testkit/stalls": 3, "internal/topology": 2, "pubsub": 5, "rlock": 9, "rlockotel": 1,
	"rlocktest": 1, "watchdog": 4,
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
