package javakinds

import (
	"strings"
	"time"

	"github.com/rlock-go/redisson/integration/redisson/alike"
)

// Each release that has a method answers the same.
var semaphores = Kind{
	Name: "semaphore", of: "semaphore", tolerance: 30 * time.Second,
	scenes: []scene{{name: "semaphore", script: `
		a available
		a tryacquire 1
		a trysetpermits 3
		a trysetpermits 5
		a tryacquire 2
		a tryacquire 2
		a tryacquirefor 2 50ms
		a release 2
		a acquire 3
		a available
		a trysetpermits 5 # none is free, and it is there
		a release 1
		3.16+ a addpermits -3
		3.16+ a available
		3.16+ a release 1 # below nothing
		3.16+ a tryacquire 1
		3.16+ a addpermits 4
		! PEXPIRE $N 60000
		a release 1
		3.16+ a addpermits 1 # which ends the end
		! PEXPIRE $N 60000
		3.16+ a drain
		a drain
		a release 2
		4.3+ a releaseifexists 1
		a delete
		a delete
		4.3+ a releaseifexists 1
		3.16+ a drain
		a release 1 # makes one
		a drain`}},
	shows: []show{
		{name: "never more than there are", test: func(p *alike.Play) {
			p.Run("G a trysetpermits 3 = true")
			neverMore(p)
			p.Run("G a available = 3; J a available = 3")
		}},
		{name: "a release wakes the other", test: wakes("none", "Y w& acquire 1", "X a release 1", "none")},
		{name: "a release wakes several", script: `
			X a release 3; X a drain = 3; G a& acquire 1; J b& acquire 1; G c& acquire 2; J d& acquire 2
			X x release 6; all; Y e available = 0`},
		// There is one message for each waiter that stays: those that left must not use it up.
		{name: "who leaves takes nothing", test: func(p *alike.Play) {
			p.Run("G a tryacquirefor 1 50ms = false; J a tryacquirefor 1 50ms = false")
			leave(p, "acquire 1", "J a release 1; G a release 1", "G a available = 0; keys 1")
		}},
		// Semaphores have no owners: the permits of a JVM or a client that dies stay taken until somebody releases them.
		{name: "those of the dead are lost", test: func(p *alike.Play) {
			victims(p, 30*time.Second)
			p.Run(`
				G a trysetpermits 3 = true; V w tryacquire 1 = true; V dies; D w tryacquire 1 = true; D dies
				G a available = 1; G a release 2; G a available = 3`)
		}},
	},
}

var latches = Kind{
	Name: "latch", of: "countdown", tolerance: 30 * time.Second,
	scenes: []scene{{name: "latch", script: `
		a count
		a awaitfor 50ms
		a await
		a countdown # of an open one
		a trysetcount 2
		a trysetcount 5
		a count
		a awaitfor 50ms
		a countdown
		a countdown
		a await
		a countdown # one too many
		a trysetcount 3
		a delete
		a delete
		a count`}},
	shows: []show{
		{name: "the last count-down wakes the other", test: wakes("X a trysetcount 2 = true; X a countdown", "Y w& await", "X a countdown", "none")},
		// The second round sets the count again at once.
		{name: "all wait for the last", script: `
			X a trysetcount 4 = true; Y b trysetcount 9 = false; G c& await; J c& await; G d& await; J d& await
			none; X a countdown; none; Y b countdown; none; X a countdown; none; Y b countdown; all`},
		{name: "a zero that is told too early", test: lateZero},
		// Deleting a latch wakes Go's awaiters, but not Redisson's.
		{name: "deleted under awaiters", script: `
			G a trysetcount 5 = true; G w& await; X a delete = true; G w ends
			J a trysetcount 1 = true; G w& await; G w cancel; J a countdown`},
		{name: "who leaves leaves nothing", test: func(p *alike.Play) {
			p.Run("G a trysetcount 1 = true")
			leave(p, "await", "G a countdown", "G a count = 0; keys 0")
		}},
	},
}

// leave has three waiters end (a Go caller is cancelled, a Java thread interrupted, a JVM killed) and one of each side stay
// and be woken. At the end there is no subscription and no further key.
func leave(p *alike.Play, method, wake, after string) {
	p.Helper()
	victims(p, 30*time.Second)
	p.Run(strings.ReplaceAll(`
		V k& CALL; G c& CALL; J i& CALL; G s& CALL; J t& CALL; G c cancel; J i interrupt; V dies; listeners 2
		`+wake+`; G s ends; J t ends; listeners 0; `+after, "CALL", method))
}

// lateZero publishes a 0 while the count is above 0, as some other client may. Redisson's awaiter then reads the count
// without a pause and ignores its limit until the next message; Go's reads once, and keeps its limit.
func lateZero(p *alike.Play) {
	p.Run("G a trysetcount 1 = true; G w& awaitfor 2s")
	gets := func() int64 { return p.Counts()["get"] }
	from := gets()
	p.Run("! PUBLISH $C 0")
	p.Run("G w ends = false")
	// One read for the message, and one a second.
	if n := gets() - from; n > 20 {
		p.Errorf("a Go awaiter asked %d times in two seconds", n)
	}
	// The same in Java, for comparison.
	p.Run("J w& awaitfor 1s")
	from = gets()
	p.Run("! PUBLISH $C 0")
	time.Sleep(3 * time.Second / 2)
	p.Logf("%s: beside a limit of a second, %d questions in 1.5 s", p.Version, gets()-from)
	p.Run("G a countdown; J w ends")
}
