package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/rlock-go/redisson/codec"
	gated "github.com/rlock-go/redisson/integration/chaos/internal/sets"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
)

// Faults of one master of a cluster.
const (
	clusterGraceful = "Cluster: planned failover"
	clusterForced   = "Cluster: forced failover"
	clusterTaken    = "Cluster: takeover"
	clusterKilled   = "Cluster: master killed, and back"
	clusterParted   = "Cluster: master cut off from all but its clients"
	clusterPaused   = "Cluster: one shard stands still for 4 s"
	clusterMoved    = "Cluster: slot moved with 1,000 held and waited for"
)

// asked is the CLUSTER command by which an operator starts each failover at a replica.
var asked = map[string][]any{
	clusterGraceful: {"FAILOVER"}, clusterForced: {"FAILOVER", "FORCE"}, clusterTaken: {"FAILOVER", "TAKEOVER"},
}

const (
	masters = gated.Shards
	// dead is the silence after which a server counts as dead.
	dead = 2 * time.Second
	// patient is the same where no failover is wanted.
	patient = time.Minute
	still   = 4 * time.Second
)

// cluster is three masters with a replica each, behind gates.
type cluster struct {
	*topologytest.Cluster
	gates *gated.Set
	t     *testbed.Program
}

// several plays rounds on one cluster.
func several(w row, silence time.Duration, rounds int, tell func(result), play func(c *cluster, i int) result) {
	r := guarded(w, func(t *testbed.Program) result {
		gates := gated.Cluster(t, silence)
		c := &cluster{gates.Cluster, gates, t}
		for i := range rounds {
			delay(t, w.delay, c.Servers...)
			tell(play(c, i))
		}
		return result{row: w}
	})
	if len(r.wrong) > 0 {
		tell(r)
	}
}

func (c *cluster) urls() [2]string { return [2]string{c.ClusterURL(), c.ClusterURL()} }

// on returns names of this form: each[i] of them on master i, as the slots are at the start.
func on(form string, each ...int) (all []string) {
	var found [masters]int
	for i := 0; !slices.Equal(found[:], each); i++ {
		name := fmt.Sprintf(form, i)
		if m := shard(name); found[m] < each[m] {
			found[m]++
			all = append(all, name)
		}
	}
	return all
}

// shard returns the master that has a name at the start.
func shard(name string) int { return min(int(codec.Slot(name))/(16384/masters), masters-1) }

// clusterRounds replaces or cuts off one master after the other, or kills its replica.
func clusterRounds(w row, rounds int, tell func(result)) {
	silence := dead
	if w.kind == clusterOnlyGoes {
		silence = patient
	}
	several(w, silence, rounds, tell, func(c *cluster, i int) result { return c.round(w, i) })
}

func (c *cluster) round(w row, i int) result {
	hit := i % masters
	those := func(what string, n int) []string {
		var each [masters]int
		each[hit] = n
		return on(fmt.Sprintf("%s:%d:%%d", what, i), each[:]...)
	}
	kept := those("kept", 20)
	slot := codec.Slot(kept[0])
	master := c.MasterOf(slot)
	other := c.replicaOf(master)
	s := scene{
		row: w, urls: c.urls(), witness: c.gates.Witness, lease: usual,
		contested: on(fmt.Sprintf("contested:%d:%%d", i), 4, 4, 4), kept: kept,
		going: those("going", 120), unsynced: those("unsynced", 120), over: 2 * time.Second,
		affected: func(name string) bool { return shard(name) == hit },
		strike: func() time.Time {
			return firstAnswer(kept[0], c.Servers[other:other+1], func() { c.leave(w.kind, master, other) })
		},
		settled: func() bool { m := c.MasterOf(slot); return m >= 0 && online(c.Servers[m]) == 1 },
		present: c.present,
	}
	if w.kind == clusterOnlyGoes {
		s.over, s.strike = away, func() time.Time {
			defer c.Redial(other)
			return goAndComeBack(c.Servers[other])
		}
	}
	awaitFed(c.t, s.settled)
	r := s.play()
	c.AwaitAgreement()
	return r
}

func (c *cluster) leave(kind string, master, next int) {
	switch kind {
	case clusterKilled:
		c.Servers[master].Kill()
		c.AwaitMaster(next)
		c.Servers[master].Restart()
		c.Redial(master)
	case clusterParted:
		c.gates.Network.Isolate(c.gates.Gates[master].Host())
		c.awaitSuccessor(next, master)
		time.Sleep(cutOff)
		c.gates.Network.Isolate()
	default:
		// A replica may give a failover up, if the master is busy.
		for done := false; !done; done = testbed.Within(6*time.Second, func() bool { return c.KnowsMaster(next, next) }) {
			if _, err := do(c.Servers[next], "CLUSTER", asked[kind]...); err != nil {
				c.t.Fatal(err)
			}
		}
		c.AwaitMaster(next)
	}
}

// replicaOf returns the other server of a shard.
func (c *cluster) replicaOf(server int) int { return (server + masters) % (2 * masters) }

func (c *cluster) awaitSuccessor(next, but int) {
	testbed.BecomesWithin(c.t, patience, fmt.Sprintf("server %d takes over from server %d", next, but), func() bool {
		for i := range c.Servers {
			if i != but && !c.KnowsMaster(i, next) {
				return false
			}
		}
		return true
	})
}

func (c *cluster) present(name, owner string) (bool, error) {
	return has(c.Servers[c.MasterOf(codec.Slot(name))], name, owner)
}

// pausedRounds pauses one shard, without a failover.
func pausedRounds(w row, rounds int, tell func(result)) {
	several(w, patient, rounds, tell, func(c *cluster, i int) result {
		hit := i % masters
		var struck, went time.Time
		return scene{
			row: w, urls: c.urls(), witness: c.gates.Witness, lease: brief,
			contested: on(fmt.Sprintf("contested:%d:%%d", i), 4, 4, 4), kept: on(fmt.Sprintf("kept:%d:%%d", i), 10, 10, 10),
			affected: func(name string) bool { return shard(name) == hit },
			strike: func() time.Time {
				struck = time.Now()
				c.Servers[hit].Pause()
				time.Sleep(still)
				c.Servers[hit].Resume()
				went = time.Now()
				return went
			},
			present: c.present,
			inspect: func(l *load, r *result) {
				for _, h := range l.kept {
					if shard(h.hold.Name()) == hit {
						continue
					}
					gaps := c.gates.Witness.Gaps(h.owner, struck, went)
					if len(gaps) == 0 {
						r.violate("%v was not renewed in %v", h.hold, still)
					}
					for _, gap := range gaps {
						r.gap = max(r.gap, gap)
					}
					if h.hold.Err() != nil {
						r.violate("%v, on a shard that worked, ended with %v", h.hold, h.hold.Err())
					}
				}
				if r.gap > brief/3+late {
					r.violate("%v passed between two renewals on shards that worked", r.gap)
				}
			},
		}.play()
	})
}

// crowd is how many locks of one slot are held, and waited for.
const crowd = 1000

// movedRounds moves a slot with all its keys to another master, while they are in use.
func movedRounds(w row, rounds int, tell func(result)) {
	several(w, patient, rounds, tell, func(c *cluster, i int) result {
		slot := codec.Slot("{moved}")
		var from, to int
		return scene{
			row: w, urls: c.urls(), witness: c.gates.Witness, lease: brief,
			contested: names(fmt.Sprintf("{moved}:contested:%d:%%d", i), 8), kept: names(fmt.Sprintf("{moved}:kept:%d:%%d", i), crowd),
			strike: func() time.Time {
				from = c.MasterOf(slot)
				to = (from + 1) % masters
				c.Move(from, to, slot)
				testbed.BecomesWithin(c.t, patience, fmt.Sprintf("the slot comes to server %d", to), func() bool { return c.MasterOf(slot) == to })
				return time.Now()
			},
			present: c.present,
		}.play()
	})
}
