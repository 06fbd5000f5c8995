package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/integration/gate"
	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/internal/redistest"
)

// Replicas of a master that stays.
const (
	onlyGoes        = "One server: its only replica goes, and comes back"
	firstJoin       = "Sentinel: a master's first replicas join"
	oneOfTwoGoes    = "Sentinel: one of two replicas goes, and comes back"
	bothGo          = "Sentinel: both replicas go, and come back"
	clusterOnlyGoes = "Cluster: a shard's only replica goes, and comes back"
)

// away is how long a replica is gone: longer than a lease.
const away = usual + 2*time.Second

// serverRounds are played on a server of its own each, behind a gate that reads what WAIT answered.
func serverRounds(w row, rounds int, tell func(result)) {
	for range rounds {
		tell(guarded(w, func(t *testbed.Program) result {
			witness := gate.NewWitness()
			g := gate.New(t).Gate(func(e faultproxy.Exchange) { witness.See(0, e) })
			master, addr := g.Front().Behind(func(args ...string) *redistest.Server { return redistest.Start(t, args...) },
				"--repl-diskless-sync-delay", "0")
			replica := redistest.Start(t, "--replicaof", "127.0.0.1", fmt.Sprint(master.Port()))
			s := scene{
				row: w, urls: [2]string{"redis://" + addr, "redis://" + addr}, witness: witness, lease: usual,
				contested: names("contested:%d", 8), kept: names("kept:%d", 20),
				going: names("going:%d", 120), unsynced: names("unsynced:%d", 120), over: away,
				strike:  func() time.Time { return goAndComeBack(replica) },
				settled: func() bool { return online(master) == 1 },
				present: func(name, owner string) (bool, error) { return has(master, name, owner) },
			}
			awaitFed(t, s.settled)
			delay(t, w.delay, master)
			return s.play()
		}))
	}
}

// goAndComeBack kills replicas and restarts them, and returns since when they were gone.
func goAndComeBack(replicas ...*redistest.Server) time.Time {
	gone := time.Now()
	kill(replicas)
	time.Sleep(away)
	restart(replicas)
	return gone
}

func kill(replicas []*redistest.Server) {
	for _, r := range replicas {
		r.Kill()
	}
}

func restart(replicas []*redistest.Server) {
	for _, r := range replicas {
		r.Restart()
	}
}

// do sends a command to one server, past all gates.
func do(s *redistest.Server, command string, args ...any) (any, error) {
	c, err := redis.Dial("tcp", s.Addr(), redis.DialConnectTimeout(time.Second), redis.DialReadTimeout(time.Second), redis.DialWriteTimeout(time.Second))
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.Do(command, args...)
}

// delay sets how long masters wait for further replicas before they feed one. Sets are started without: that would take
// as long.
func delay(t *testbed.Program, seconds int, servers ...*redistest.Server) {
	for _, s := range servers {
		if _, err := do(s, "CONFIG", "SET", "repl-diskless-sync-delay", seconds); err != nil {
			t.Fatal(err)
		}
	}
}

// online is how many replicas a master feeds that have all it has.
func online(master *redistest.Server) int {
	info, err := redis.String(do(master, "INFO", "replication"))
	if err != nil {
		return -1
	}
	return strings.Count(info, ",state=online,")
}

// has tells whether a server has a hold.
func has(s *redistest.Server, name, owner string) (bool, error) {
	return redis.Bool(do(s, "HEXISTS", name, owner))
}

// firstAnswer makes a fault, and returns the instant at which one of these servers began to take writes of a lock.
func firstAnswer(name string, next []*redistest.Server, fault func()) time.Time {
	found := make(chan time.Time, len(next))
	over := make(chan struct{})
	for _, s := range next {
		go func() {
			for {
				_, err := do(s, "SET", "{"+name+"}", "", "PX", 1)
				if err == nil {
					found <- time.Now()
					return
				}
				select {
				case <-over:
					return
				case <-time.After(5 * time.Millisecond):
				}
			}
		}()
	}
	fault()
	defer close(over)
	select {
	case at := <-found:
		return at
	case <-time.After(patience):
		return time.Now()
	}
}
