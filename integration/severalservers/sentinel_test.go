package severalservers_test

import (
	"testing"

	"github.com/rlock-go/redisson/internal/redistest"
)

// TestBehaviourHoldsBehindSentinels runs the behaviour tests by the URL of the Sentinels of a master with two replicas.
func TestBehaviourHoldsBehindSentinels(t *testing.T) {
	t.Parallel()
	run := build(t)
	all := run.list(t)
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	<-run.start(t, set.URL())
	passed := run.report(t, all)
	t.Logf("%d tests passed, %d excluded, of %d", passed, len(run.excluded), len(all))
}
