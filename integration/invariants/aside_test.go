package invariants

import (
	"testing"

	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// Where replicas are waited for, acquires and releases have a connection each. The undo of an acquire goes on the one that
// lives, but not before the other was killed.
func TestA5UndoOnAnotherConnectionFollowsTheKillBarrier(t *testing.T) {
	t.Parallel()
	for fault, do := range map[string]faultproxy.Action{"the reply is lost": faultproxy.CutAfter, "the acquire is under way": faultproxy.Withhold} {
		t.Run(fault, func(t *testing.T) {
			r := newRig(t)
			redisserver.AwaitReplication(t, redisserver.Replica(t, r.server))
			c := r.open(rlock.WithReplicaSync(true))
			unlock(t, lock(t, c.NewLock("another"))) // both connections are there now
			late := r.Proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: do})
			got := testbed.Receive(t, "Lock returns", testbed.Enter(t.Context(), c.NewLock(name)))
			if got.Err == nil {
				unlock(t, got.Hold)
			}
			r.Becomes("it is undone", func() bool {
				undos := r.of("unlock", name)
				return len(undos) > 0 && !undos[0].Answered.IsZero()
			})
			tries, undos := r.of("acquire", name), r.of("unlock", name)
			if len(undos) == 0 || undos[0].owners[0] != tries[0].owners[0] {
				t.Fatalf("acquires %v, unlocks %v", tries, undos)
			}
			if earlier := r.of("unlock", "another"); undos[0].Conn != earlier[0].Conn || undos[0].Conn == tries[0].Conn {
				t.Errorf("acquired on connection %d, undone on %d, released on %d before", tries[0].Conn, undos[0].Conn, earlier[0].Conn)
			}
			r.killed(tries[0].Conn, undos[0].at)
			r.Gone(name)
			if do == faultproxy.Withhold {
				if n := late.Release(); n != 0 || !r.Free(name) {
					t.Errorf("the withheld acquire ran: %v", r.fields(name))
				}
			}
		})
	}
}
