package topology_test

import (
	"testing"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// An operator makes a replica the master, and has the Sentinels watch it. Their epoch is 0 then.
// Nobody makes the former master a replica.
func TestMasterThatSentinelsWatchAnewIsFollowed(t *testing.T) {
	t.Parallel()
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	top := openSet(t, set.URL(), nil)
	top.OnlyLookWhenTold()
	first := set.Master()
	set.Failover(set.Sentinels[0])
	former := set.AwaitMaster(first)
	set.AwaitSettled()
	becomes(t, "at the master, whose epoch is not 0", func() bool { return port(t, top) == former.Port() })
	var next *redistest.Server
	for _, n := range set.Nodes {
		if n != first && n != former {
			next = n
		}
	}
	if _, err := next.Dial(t).Do("REPLICAOF", "NO", "ONE"); err != nil {
		t.Fatal(err)
	}
	set.Monitor(next)
	becomes(t, "at the next master", func() bool { return port(t, top) == next.Port() })
}
