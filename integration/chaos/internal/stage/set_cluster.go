package stage

import (
	"fmt"
	"github.com/rlock-go/redisson/integration/chaos/internal/sets"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/chaos/internal/schedule"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/redistest"
)

// failCluster says when all servers agree again, so that nothing is granted that would be taken, and whether what replicas
// had was kept. It returns when a master that was replaced follows the next one, or false after some patience.
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
		// A replica may give it up, if the master is busy.
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
		// It may have been taken for dead.
		testbed.Within(patience, func() bool { return c.MasterOf(slot) >= 0 })
		agreed(true)
	}
	return c.MasterOf(slot) != other || testbed.Within(patience, func() bool { return c.Follows(master) })
}

// settles is how long a slot stays where it is: servers that hear an old claim late believe it.
const settles = 2 * time.Second

// moveSlot has a lock's slot leave its master, and lie in two places for a while.
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
	// The keys that MIGRATE moves have no WAIT: the next failover must not meet them on their way.
	testbed.Within(patience, func() bool { return synced(c.Servers[to]) })
}

// synced tells whether all replicas of a master have acknowledged all that it has written.
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
	// Between two questions more may be written; what was there a second ago is what counts.
	return found && acked > 0 && written-acked < 4096
}
