package severalservers_test

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/topologytest"
)

// TestBehaviourHoldsOnACluster runs the behaviour tests by the URL of a cluster whose masters have replicas, while
// slots move between two of them.
func TestBehaviourHoldsOnACluster(t *testing.T) {
	t.Parallel()
	untilNoSlotIsLost(t, playOnACluster)
}

func playOnACluster(t *testing.T, last bool) (again bool) {
	run := build(t)
	all := run.list(t)
	c := topologytest.StartReplicated(t, 1, 1, 1)
	m := &mover{T: t, c: c, moved: map[uint16]placed{}, two: true}
	ended := run.start(t, c.ClusterURL())
	for running := true; running; {
		select {
		case <-ended:
			running = false
		case <-time.After(20 * time.Millisecond):
			m.move()
		}
	}
	if run.err != nil && m.lost > 0 && !last {
		t.Logf("%v, and %d slots were lost with their keys: it is played again", run.err, m.lost)
		return true
	}
	passed := run.report(t, all)
	redirected := 0
	for i := range 3 {
		t.Logf("server %d ran %d scripts, and redirected %d commands", i, m.scripts(i), m.redirections(i))
		redirected += m.redirections(i)
	}
	t.Logf("%d tests passed, %d excluded, of %d; %d slots were moved in use", passed, len(run.excluded), len(all), m.moves)
	if m.moves == 0 || redirected == 0 {
		t.Error("nothing was redirected: nothing was shown")
	}
	return false
}
