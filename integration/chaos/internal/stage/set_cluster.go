package stage

import (
	"fmt"
	"strings"
	"time"

	"github.com/rlock-go/redisson/integration/chaos/internal/sets"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/chaos/internal/schedule"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// failCluster carries out a fault of slot's master. It calls agreed when all servers agree again, so that no later grant is
// lost; kept says whether the replicas' data survived. It returns false if a replaced master does not follow the new one.
func (s *set) failCluster(f schedule.Fault, slot uint16, agreed func(kept bool)) (followed bool) {
	c := s.Cluster
	if !testbed.Within(patience, func() bool { return c.MasterOf(slot) >= 0 }) {
		agreed(true)
		return true
	}
	master := c.MasterOf(slot)
	other := (master + shards) % (2 * shards)
	switch f.Kind {
	case schedule.Failover, schedule.Forced, schedule.TakenOver:
		args := map[schedule.Kind][]any{schedule.Failover: {"FAILOVER"}, schedule.Forced: {"FAILOVER", "FORCE"}, schedule.TakenOver: {"FAILOVER", "TAKEOVER"}}[f.Kind]
		// A replica may give up if the master is busy.
		for range 5 {
			if _, err := sets.Do(c.Servers[other], "CLUSTER", args...); err == nil &&
				testbed.Within(6*time.Second, func() bool { return c.MasterOf(slot) == other }) {
				break
			}
		}
		agreed(true)
	case schedule.KillMaster:
		c.Servers[master].Kill()
		replaced := testbed.Within(patience, func() bool { return c.AllKnowMaster(other) })
		if replaced {
			agreed(true)
		}
		c.Servers[master].Restart()
		c.Redial(master)
		if !replaced { // the servers were too busy for an election
			testbed.Within(patience, func() bool { return c.MasterOf(slot) >= 0 })
			agreed(false)
		}
	case schedule.StopServer:
		c.Servers[master].Pause()
		time.Sleep(f.For)
		c.Servers[master].Resume()
		// The other servers may have counted it as dead.
		testbed.Within(patience, func() bool { return c.MasterOf(slot) >= 0 })
		agreed(true)
	}
	return c.MasterOf(slot) != other || testbed.Within(patience, func() bool { return c.Follows(master) })
}

// settles is how long a slot stays where it is: a server that receives an old claim late believes it.
const settles = 2 * time.Second

// moveSlot moves a lock's slot to another master. For a while the slot is migrating.
func (s *set) moveSlot(f schedule.Fault, slot uint16) {
	c := s.Cluster
	from := c.MasterOf(slot)
	to := -1
	for i := range c.Servers {
		if i != from && c.Servers[i].Pid() != 0 && len(c.Slots(i)) > 0 {
			to = i
		}
	}
	if from < 0 || to < 0 || time.Since(s.moved[slot]) < settles {
		return
	}
	c.Begin(slot, from, to)
	time.Sleep(f.For / 2)
	c.MoveKeys(slot, from, to, 100)
	time.Sleep(f.For / 2)
	for c.MoveKeys(slot, from, to, 100) > 0 {
	}
	c.End(slot, from, to)
	s.moved[slot] = time.Now()
	// Nothing waits for the replica to get the keys that MIGRATE moved. They must be there before the next failover.
	testbed.Within(patience, func() bool { return synced(c.Servers[to]) })
}

// synced reports whether a master's first replica has acknowledged all but the last 4 KB that the master wrote.
func synced(master *redistest.Server) bool {
	info, err := redis.String(sets.Do(master, "INFO", "replication"))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(info, "master_repl_offset:")
	offset, _, _ := strings.Cut(rest, "\r")
	var written, acked int64
	fmt.Sscan(offset, &written)
	_, rest, found := strings.Cut(info, "offset=")
	offset, _, _ = strings.Cut(rest, ",")
	fmt.Sscan(offset, &acked)
	// The load goes on writing, and a replica acknowledges once a second: it is always a little behind.
	return found && acked > 0 && written-acked < 4096
}
