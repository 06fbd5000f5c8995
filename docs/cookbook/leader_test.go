//go:build unix

package cookbook_test

import (
	"fmt"
	"slices"
	"syscall"
	"testing"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

func TestLeader(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	conn := server.Dial(t)
	var candidates []*process
	for range 3 {
		candidates = append(candidates, start(t, server, "leader", fmt.Sprint("-watchdog=", 2*lease), "-every=300ms"))
	}
	// elected waits until one of the processes has begun a term that is not
	// counted in terms, and returns it.
	terms := map[*process]int{}
	elected := func(among ...*process) (leader *process) {
		t.Helper()
		await(t, "a leader", func() bool {
			for _, p := range among {
				if p.count("leads") > terms[p] {
					leader = p
				}
			}
			return leader != nil
		})
		terms[leader]++
		return leader
	}
	without := func(p *process) []*process {
		return slices.DeleteFunc(slices.Clone(candidates), func(q *process) bool { return p == q })
	}

	first := elected(candidates...)
	first.await("acts")
	for _, p := range without(first) {
		p.await("stands")
		if p.count("leads") != 0 {
			t.Fatal("two lead")
		}
	}

	// It stands still while it pauses, and another takes over when the lease
	// ends. By then what it had printed before it stopped has been read.
	first.signal(syscall.SIGSTOP)
	second := elected(without(first)...)
	second.await("acts")
	acts := first.count("acts")
	first.signal(syscall.SIGCONT)
	first.await(`steps down: rlock: hold "leader": lease lost`)
	if more := first.count("acts") - acts; more > 0 {
		t.Errorf("it acted %d times after it woke", more)
	}

	// Somebody takes the lock away. It is told at its next renewal.
	if number(t, conn, "DEL", "leader") != 1 {
		t.Fatal("nobody held it")
	}
	second.await(`steps down: rlock: hold "leader": lease lost`)
	// Nobody published anything: the others look when the lease that they were
	// told of is over.
	third := elected(candidates...)

	// It is told to end, and others need not wait for the end of its lease.
	third.await("acts")
	others := without(third)
	await(t, "the others to wait", func() bool { return waiting(t, conn, "leader") == 2 })
	third.signal(syscall.SIGTERM)
	third.wantEnd(0, "steps down: terminated")
	elected(others...)
	for _, p := range others {
		p.signal(syscall.SIGTERM)
	}
	for _, p := range others {
		p.wantEnd(0, "ends")
	}
	if number(t, conn, "EXISTS", "leader") != 0 {
		t.Error("the lock is left")
	}
}

// What the leader does ends when the loss is known, not at the next step.
func TestLeaderHearsOfItsLossInAStep(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	leader := start(t, server, "leader", fmt.Sprint("-watchdog=", 2*lease), "-every=1h")
	leader.await("leads")
	if number(t, server.Dial(t), "DEL", "leader") != 1 {
		t.Fatal("nobody held it")
	}
	leader.await(`steps down: rlock: hold "leader": lease lost`)
}

// Told to end, a leader gives the lock back at once.
func TestLeaderThatEndsIsReplacedAtOnce(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	conn := server.Dial(t)
	first := start(t, server, "leader") // with a lease of 30 s
	first.await("leads")
	second := start(t, server, "leader")
	await(t, "the second to wait", func() bool { return waiting(t, conn, "leader") == 1 })
	first.signal(syscall.SIGTERM)
	second.await("leads")
}

// A leader that is killed says nothing: another leads when its lease ends.
func TestLeaderThatIsKilledIsReplacedWithinTheLease(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	first := start(t, server, "leader", fmt.Sprint("-watchdog=", lease))
	first.await("leads")
	second := start(t, server, "leader", fmt.Sprint("-watchdog=", lease))
	conn := server.Dial(t)
	await(t, "the second to wait", func() bool { return waiting(t, conn, "leader") == 1 })
	first.signal(syscall.SIGKILL)
	second.await("leads")
}
