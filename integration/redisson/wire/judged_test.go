package wire

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
)

// triesAfter returns a waiter's tries after pauses in ms, each refused until the last.
func triesAfter(pauses ...float64) (steps []step) {
	at := time.Unix(1, 0)
	for i := range len(pauses) + 1 {
		if i > 0 {
			at = at.Add(time.Duration(pauses[i-1] * float64(time.Millisecond)))
		}
		s := step{role: "lock", name: "a", owner: "OWNER2", head: "EVALSHA lock", reply: "int ≤10000", left: time.Minute, sent: at}
		at = at.Add(time.Millisecond)
		s.answered = at
		if i == len(pauses) {
			s.reply = "nil"
		}
		steps = append(steps, s)
	}
	return steps
}

func TestPausesThatDoNotDoubleAreSeen(t *testing.T) {
	redisson := []float64{1, 2, 4.5, 9, 20, 40, 80, 128, 128, 128}
	for _, c := range []struct {
		why    string
		pauses []float64
		odd    string // what the trace shows, if anything
		late   bool
	}{
		{"as Redisson's shortest", []float64{1, 2, 4, 8, 16, 32, 64, 128, 128}, "", false},
		{"as Redisson's longest", []float64{1, 2, 5, 12, 27, 58, 121, 128, 128}, "", false},
		{"as Go's shortest", []float64{1, 1, 2, 4, 8, 16, 32, 64, 64}, "", false},
		{"as Go's longest", []float64{1, 2, 4, 8, 16, 32, 64, 128, 128}, "", false},
		{"late by what the machine needs", append([]float64{20, 20}, redisson[2:]...), "", false},
		{"ended in the middle of a pause that a release cuts short", append(redisson[:8:8], 3), "3ms after refusal 9, where 64ms to 128ms are due", false},
		{"none", []float64{0.2, 0.2, 0.2, 0.2}, "200µs after refusal 1, where 1ms to 2ms are due", false},
		{"always the first", []float64{1, 1, 1, 1}, "1ms after refusal 3, where 2ms to 8ms are due", false},
		{"always the longest", []float64{128, 128, 128}, "128ms after refusal 1, where 1ms to 2ms are due", true},
		{"doubled without an end", []float64{1, 2, 4, 8, 16, 32, 64, 128, 256}, "256ms after refusal 9, where 64ms to 128ms are due", true},
	} {
		steps, late := mergePolls(triesAfter(c.pauses...))
		got := trace{steps: steps}.String()
		if c.odd == "" && strings.Contains(got, "are due") || !strings.Contains(got, c.odd) || late != c.late {
			t.Errorf("%s: late %v, want %v, %q and\n%s", c.why, late, c.late, c.odd, got)
		}
		// The first refusal, the repeated ones, the grant.
		if c.odd == "" && len(steps) != 3 {
			t.Errorf("%s: %d steps\n%s", c.why, len(steps), got)
		}
	}
}

// TestATryAtTheEndOfALeaseIsNotTooEarly: a try at the end of the lease that a waiter knows is in time, one before is not.
func TestATryAtTheEndOfALeaseIsNotTooEarly(t *testing.T) {
	for left, odd := range map[time.Duration]bool{10 * time.Millisecond: false, 15 * time.Millisecond: false, time.Second: true} {
		steps := triesAfter(1, 2, 4, 8, 16, 32, 64, 3)
		for i := range steps {
			steps[i].left = left
		}
		got, _ := mergePolls(steps)
		if text := (trace{steps: got}).String(); strings.Contains(text, "3ms after refusal 8") != odd {
			t.Errorf("%v before the end:\n%s", left, text)
		}
	}
}

// TestATryBehindAnUnlockIsNotTooEarly: a waiter may try right after its client's unlock; without one it is too early.
func TestATryBehindAnUnlockIsNotTooEarly(t *testing.T) {
	for _, c := range []struct {
		why   string
		name  string // of the lock that is unlocked; empty: none
		ahead bool   // of the unlock
		odd   bool
	}{
		{"handed on", "a", false, false},
		{"ahead of the unlock, whose script had to be loaded", "a", true, false},
		{"another lock's unlock", "b", false, true},
		{"ahead of another lock's unlock", "b", true, true},
		{"no unlock", "", false, true},
	} {
		steps := triesAfter(1, 2, 4, 8, 16, 32, 64, 3)
		last := steps[len(steps)-1]
		if c.name != "" {
			unlock := step{role: "unlock", name: c.name, owner: "OWNER1", sent: last.sent, answered: last.answered}
			at := len(steps)
			if !c.ahead {
				at--
			} else {
				steps[at-1].reply = "int ≤10000"
			}
			steps = slices.Insert(steps, at, unlock)
		}
		got, _ := mergePolls(steps)
		if text := (trace{steps: got}).String(); strings.Contains(text, "3ms after refusal 8") != c.odd {
			t.Errorf("%s:\n%s", c.why, text)
		}
	}
}

// TestAWaiterThatDoesNotPollIsSeen: a waiter that tries once and then waits for something else differs from one that polls.
func TestAWaiterThatDoesNotPollIsSeen(t *testing.T) {
	polled, _ := mergePolls(triesAfter(1, 2, 4))
	once, _ := mergePolls(triesAfter(1))
	if report, _ := compare(trace{steps: polled}, trace{steps: once}, nil); !strings.Contains(report, "has no counterpart in Go") {
		t.Errorf("the report is:\n%s", report)
	}
}

func TestWaitersOfOneLockPollEachForItself(t *testing.T) {
	mine, other := triesAfter(1, 2, 4, 8), triesAfter(1, 2, 4, 8)
	var both []step
	for i := range mine {
		other[i].owner = "OWNER3"
		both = append(both, mine[i], other[i])
	}
	steps, late := mergePolls(both)
	if got := (trace{steps: steps}).String(); len(steps) != 6 || late || strings.Contains(got, "are due") {
		t.Errorf("%d steps, late %v:\n%s", len(steps), late, got)
	}
}

// TestALostLockThatIsAskedForAgainIsSeen: a tick may have a lost lock again at the same moment, when its reply may not be
// known yet, but not a third of the timeout later.
func TestALostLockThatIsAskedForAgainIsSeen(t *testing.T) {
	ask := func(after time.Duration) step {
		begin := time.Unix(1, 0).Add(after)
		return step{role: "renew", tick: &tick{
			lease: "3000", locks: map[string]string{"a": "int 1", "b": "int 0"}, sent: begin, answered: begin.Add(time.Millisecond),
		}}
	}
	for _, c := range []struct {
		after time.Duration
		steps int
	}{
		{500 * time.Microsecond, 1}, {5 * time.Millisecond, 1}, {ticking / 3, 2},
	} {
		if got := mergeTicks([]step{ask(0), ask(c.after)}); len(got) != c.steps {
			t.Errorf("asked again after %v: %d steps, want %d", c.after, len(got), c.steps)
		}
	}
	// Any number at once are one; the next tick that is due is one more.
	if got := mergeTicks([]step{ask(0), ask(time.Millisecond), ask(2 * time.Millisecond), ask(time.Second)}); len(got) != 2 {
		t.Errorf("%d steps, want 2", len(got))
	}
}

// TestALeaseThatRanOutBeforeItsRenewalIsSeen: a renewal that comes when the lease may be over is the machine's fault; one
// in time whose reply is 0 is not.
func TestALeaseThatRanOutBeforeItsRenewalIsSeen(t *testing.T) {
	at := func(ms int) time.Time { return time.Unix(1, 0).Add(time.Duration(ms) * time.Millisecond) }
	lock := func(ms int) faultproxy.Exchange {
		return faultproxy.Exchange{Cmd: []string{"EVALSHA", lockSHA, "1", "a", "3000", "owner"}, Sent: at(ms), Answered: at(ms + 2)}
	}
	renew := func(ms int, told int64) faultproxy.Exchange {
		return faultproxy.Exchange{Cmd: []string{"EVALSHA", "0", "2", "a", "b", "3000", "owner", "owner"}, Reply: []any{told, told}, Sent: at(ms), Answered: at(ms + 2)}
	}
	for _, c := range []struct {
		why   string
		all   []faultproxy.Exchange
		now   int
		lapse bool
	}{
		{"nothing yet", nil, 9000, false},
		{"in time", []faultproxy.Exchange{lock(0), renew(1000, 1), renew(2000, 1)}, 2100, false},
		{"in time and lost", []faultproxy.Exchange{lock(0), renew(1000, 0)}, 1100, false},
		{"a renewal just in time", []faultproxy.Exchange{lock(0), renew(2997, 1)}, 3100, false},
		{"the first too late", []faultproxy.Exchange{lock(0), renew(2998, 0)}, 3100, true},
		{"the second too late", []faultproxy.Exchange{lock(0), renew(1000, 1), renew(4000, 1)}, 4100, true},
		{"looked at too late", []faultproxy.Exchange{lock(0), renew(1000, 1)}, 4000, true},
		{"not answered yet", []faultproxy.Exchange{lock(0), {Cmd: renew(2998, 0).Cmd, Sent: at(2998)}}, 2999, false},
	} {
		if got := lapse(c.all, "a", 3*time.Second, at(c.now)); got != c.lapse {
			t.Errorf("%s: %v, want %v", c.why, got, c.lapse)
		}
	}
}

// A renewal of two or three locks has as many KEYS and ARGV as an unlock.
func TestRenewalOfAFewLocksIsNoUnlock(t *testing.T) {
	const latch = "redisson_unlock_latch:{a}:00000000000000000000000000000001"
	for _, c := range []struct {
		words []string
		role  string
	}{
		{[]string{"EVALSHA", "sha", "2", "a", "b", "3000", "o", "o"}, "renew"},
		{[]string{"EVALSHA", "sha", "3", "a", "b", "c", "3000", "o", "o", "o"}, "renew"},
		{[]string{"EVALSHA", "sha", "3", "a", channel("a"), latch, "0", "3000", "o", "PUBLISH", "13000"}, "unlock"},
		{[]string{"EVALSHA", "sha", "3", "a", channel("a"), latch, "0", "3000", "o", "13000"}, "unlock"},
		{[]string{"EVALSHA", "sha", "2", "a", channel("a"), "0", "3000", "o"}, "unlock"},
		{[]string{"EVALSHA", "sha", "3", "a", channel("a"), latch, "0", "3000", "o", "SPUBLISH", "13000", "PUBLISH"}, "unlock"},
		{[]string{"EVALSHA", "sha", "2", "a", channel("a"), "PUBLISH", "0"}, "force"},
		{[]string{"EVALSHA", "sha", "2", "a", channel("a"), "0", "SPUBLISH", "PUBLISH"}, "force"},
	} {
		if role := command(c.words).shape(); role != c.role {
			t.Errorf("%q is %q, want %q", c.words, role, c.role)
		}
	}
}
