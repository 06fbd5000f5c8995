package main

import (
	"fmt"
	"net"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/integration/gate"
	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/internal/redistest"
)

// How a master behind Sentinels is left.
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

// watched is a set behind Sentinels, with gates.
type watched struct {
	*redistest.SentinelSet
	network *gate.Network
	gates   []*gate.Gate
	witness *gate.Witness
}

func startWatched(t *testbed.Program) *watched {
	s := &watched{network: gate.New(t), witness: gate.NewWitness()}
	var nodes, sentinels [3]redistest.Front
	for i := range nodes {
		g := s.network.Gate(func(e faultproxy.Exchange) { s.witness.See(i, e) })
		s.gates = append(s.gates, g)
		nodes[i], sentinels[i] = g.Front(), gate.WatcherFront(i)
	}
	s.SentinelSet = redistest.StartSentinelsFronted(t, redistest.SentinelPasswords{}, nodes, sentinels)
	return s
}

// sentinelRound has one master left, on a set of its own: Sentinels are slow to fail over twice.
func sentinelRound(kind string) result {
	return guarded(kind, func(t *testbed.Program) result {
		set := startWatched(t)
		former := set.Master()
		s := scene{
			kind: kind, urls: [2]string{set.URL(), set.URL()}, witness: set.witness,
			contested: names("contested:%d", 8), kept: names("kept:%d", 20),
			strike:  func() { set.leave(kind, former) },
			present: func(name, owner string) (bool, error) { return has(t, set.Master(), name, owner) },
		}
		if kind == deaf {
			s.urls[0] = set.startLone(t)
			s.present = func(name, owner string) (bool, error) { return has(t, former, name, owner) }
		}
		return s.play()
	})
}

// startLone starts one more Sentinel, which the others do not know. It is with the first master whatever happens.
func (s *watched) startLone(t *testbed.Program) (url string) {
	for _, n := range s.Nodes {
		if _, err := n.Dial(t).Do("ACL", "SETUSER", lone, "reset", "resetchannels", "on", ">"+lone, "+ping", "+info", "+role"); err != nil {
			t.Fatal(err)
		}
	}
	host, port, _ := net.SplitHostPort(s.gates[s.number(s.Master())].Addr())
	sentinel := redistest.StartSentinel(t, "", "bind-source-addr "+s.gates[s.number(s.Master())].Host(),
		fmt.Sprintf("sentinel monitor %s %s %s 2", redistest.MasterName, host, port),
		fmt.Sprintf("sentinel auth-user %s %s", redistest.MasterName, lone), fmt.Sprintf("sentinel auth-pass %s %s", redistest.MasterName, lone))
	return "redis+sentinel://" + sentinel.Addr() + "/" + redistest.MasterName
}

// leave has the set leave its master.
func (s *watched) leave(kind string, former *redistest.Server) {
	switch kind {
	case planned:
		s.Failover(s.Sentinels[2])
		s.AwaitMaster(former)
	case killed:
		former.Kill()
		s.AwaitMaster(former)
		former.Restart()
	case silenced:
		former.Pause()
		s.AwaitMaster(former)
		former.Resume()
	case parted:
		s.network.Isolate(s.gates[s.number(former)].Host())
		s.AwaitMaster(former)
		time.Sleep(cutOff)
		s.network.Isolate()
	case deaf:
		s.network.Isolate(s.gates[s.number(former)].Host())
		s.AwaitMaster(former)
		time.Sleep(lease + cutOff) // until the keys that nobody renews on the next master have expired
	}
}

func (s *watched) number(node *redistest.Server) int {
	for i, n := range s.Nodes {
		if n == node {
			return i
		}
	}
	return -1
}

// has tells whether a server has a hold.
func has(t *testbed.Program, s *redistest.Server, name, owner string) (bool, error) {
	return redis.Bool(s.Dial(t).Do("HEXISTS", name, owner))
}
