package main

import (
	"fmt"
	"net"
	"slices"
	"time"

	gated "github.com/rlock-go/redisson/integration/chaos/internal/sets"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// Faults of a master behind Sentinels.
const (
	planned  = "Sentinel: planned failover"
	killed   = "Sentinel: master killed, restarted empty"
	silenced = "Sentinel: master silenced, goes on later"
	parted   = "Sentinel: master cut off from all but its clients"
	deaf     = "Sentinel: master cut off with a client that hears of no other"
)

// lone is the account of a Sentinel that may neither speak to others nor hear them: it names the first master for ever.
const lone = "lone"

// cutOff is how long a master stays cut off after another one was named.
const cutOff = 2 * time.Second

// brief is a short lease, for short faults and for a round that waits until leases end.
const brief = 9 * time.Second

type watched struct {
	*redistest.SentinelSet
	gates *gated.Set
}

// sentinelRounds plays each round on a new set, because Sentinels are slow to fail over twice.
func sentinelRounds(w row, rounds int, tell func(result)) {
	for range rounds {
		tell(guarded(w, func(t *testbed.Program) result { return sentinelRound(t, w) }))
	}
}

func sentinelRound(t *testbed.Program, w row) result {
	gates := gated.Sentinels(t)
	set := &watched{gates.Watched, gates}
	former, epoch := set.Master(), set.Epoch()
	replicas := slices.DeleteFunc(slices.Clone(set.Nodes), func(n *redistest.Server) bool { return n == former })
	s := scene{
		row: w, urls: [2]string{set.URL(), set.URL()}, witness: set.gates.Witness, lease: usual,
		contested: names("contested:%d", 8), kept: names("kept:%d", 20),
		going: names("going:%d", 120), unsynced: names("unsynced:%d", 120), over: 2 * time.Second,
		strike: func() time.Time {
			return firstAnswer("contested:0", replicas, func() { set.leave(w.kind, former) })
		},
		settled: func() bool { m := set.Master(); return m != nil && online(m) == len(replicas) },
		present: func(name, owner string) (bool, error) { return has(set.Master(), name, owner) },
		excused: func() string {
			if n := set.Epoch() - epoch; n > 1 {
				return fmt.Sprintf("the Sentinels failed over %d times", n)
			}
			return ""
		},
	}
	awaitFed(t, s.settled)
	switch w.kind {
	case deaf:
		s.lease, s.going, s.unsynced, s.settled = brief, nil, nil, nil
		s.urls[0] = set.startLone(t)
		s.present = func(name, owner string) (bool, error) { return has(former, name, owner) }
		s.excused = func() string { return "the client that holds can't reach the next master" }
	case oneOfTwoGoes:
		s.over, s.strike = away, func() time.Time { return goAndComeBack(replicas[1]) }
	case bothGo:
		s.over, s.strike = away, func() time.Time { return goAndComeBack(replicas...) }
	}
	delay(t, w.delay, set.Nodes...)
	if w.kind == firstJoin {
		// With so small a backlog the replicas need a full copy when they come back.
		if _, err := do(former, "CONFIG", "SET", "repl-backlog-size", 16<<10); err != nil {
			t.Fatal(err)
		}
		kill(replicas)
		s.strike = func() time.Time {
			defer restart(replicas)
			return time.Now()
		}
	}
	return s.play()
}

// startLone starts one more Sentinel, which the others do not know. It is always on the first master's side of a cut.
func (s *watched) startLone(t *testbed.Program) (url string) {
	for _, n := range s.Nodes {
		if _, err := do(n, "ACL", "SETUSER", lone, "reset", "resetchannels", "on", ">"+lone, "+ping", "+info", "+role"); err != nil {
			t.Fatal(err)
		}
	}
	gate := s.gates.Gates[slices.Index(s.Nodes, s.Master())]
	host, port, _ := net.SplitHostPort(gate.Addr())
	sentinel := redistest.StartSentinel(t, "", "bind-source-addr "+gate.Host(),
		fmt.Sprintf("sentinel monitor %s %s %s 2", redistest.MasterName, host, port),
		fmt.Sprintf("sentinel auth-user %s %s", redistest.MasterName, lone), fmt.Sprintf("sentinel auth-pass %s %s", redistest.MasterName, lone))
	return "redis+sentinel://" + sentinel.Addr() + "/" + redistest.MasterName
}

func (s *watched) leave(kind string, former *redistest.Server) {
	host := s.gates.Gates[slices.Index(s.Nodes, former)].Host()
	switch kind {
	case planned, killed, silenced:
		replace(s.SentinelSet, kind, former)
	case parted:
		s.gates.Network.Isolate(host)
		s.AwaitMaster(former)
		time.Sleep(cutOff)
		s.gates.Network.Isolate()
	case deaf:
		s.gates.Network.Isolate(host)
		s.AwaitMaster(former)
		time.Sleep(brief + cutOff) // until the keys that nobody renews on the next master have expired
	}
}

func replace(set *redistest.SentinelSet, kind string, former *redistest.Server) (next *redistest.Server) {
	switch kind {
	case planned:
		set.Failover(set.Sentinels[2])
	case killed:
		former.Kill()
		defer former.Restart()
	case silenced:
		former.Pause()
		defer former.Resume()
	}
	return set.AwaitMaster(former)
}
