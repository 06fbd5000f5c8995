package main

import (
	"fmt"
	"time"

	"github.com/gomodule/redigo/redis"

	gated "github.com/rlock-go/redisson/integration/chaos/internal/sets"
	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/gate"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// Faults of replicas whose master stays.
const (
	onlyGoes        = "One server: its only replica goes, and comes back"
	firstJoin       = "Sentinel: a master's first replicas join"
	oneOfTwoGoes    = "Sentinel: one of two replicas goes, and comes back"
	bothGo          = "Sentinel: both replicas go, and come back"
	clusterOnlyGoes = "Cluster: a shard's only replica goes, and comes back"
)

// away is how long a replica is gone: longer than a lease.
const away = usual + 2*time.Second

// serverRounds plays each round on a new server, behind a gate that reads the replies to WAIT.
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

// goAndComeBack kills replicas and restarts them after away. It returns when they were killed.
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

// do sends a command to one server, past all gates. online returns how many replicas a master reports as online.
var do, online = gated.Do, gated.Online

// delay sets how long masters wait for further replicas before they feed one. Sets start without a delay, which would make
// their start slow.
func delay(t *testbed.Program, seconds int, servers ...*redistest.Server) {
	for _, s := range servers {
		if _, err := do(s, "CONFIG", "SET", "repl-diskless-sync-delay", seconds); err != nil {
			t.Fatal(err)
		}
	}
}

func has(s *redistest.Server, name, owner string) (bool, error) {
	return redis.Bool(do(s, "HEXISTS", name, owner))
}

// firstAnswer makes a fault, and returns when the first of these servers took a write, or now if none did within patience.
func firstAnswer(name string, next []*redistest.Server, fault func()) time.Time {
	p := watchPromotions(next, "{"+name+"}")
	fault()
	testbed.Within(patience, func() bool { return len(p.so()) > 0 })
	if all := p.end(); len(all) > 0 {
		return all[0]
	}
	return time.Now()
}
