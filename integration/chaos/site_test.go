package chaos

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
)

// fault strikes, and returns when all servers serve again.
type fault struct {
	what   string
	loses  bool // what nobody but the former master had is lost
	strike func()
}

// site is where the locks are.
type site struct {
	url     string
	faults  []fault
	last    []fault             // strikes once, in the end: it leaves fewer servers behind, or freer ones
	masters func() []redis.Conn // that serve now
}

func between(r *rand.Rand, a, b time.Duration) time.Duration {
	return a + time.Duration(r.Int64N(int64(b-a)))
}

// ends closes connections at a server, from its side.
func ends(t *testing.T, r *rand.Rand, masters func() []redis.Conn) fault {
	return fault{what: "CLIENT KILL", strike: func() {
		for _, c := range masters() {
			testbed.Do(t, c, "CLIENT", "KILL", "TYPE", []string{"normal", "pubsub"}[r.IntN(2)], "SKIPME", "yes")
		}
	}}
}

// oneServer has its clients behind a proxy. It writes each change into a file before it answers, so a restart loses nothing.
func oneServer(t *testing.T, r *rand.Rand) *site {
	server := redisserver.Local(t, "--appendonly", "yes", "--appendfsync", "no")
	proxy := faultproxy.Start(t, server.Addr())
	loses := func(do faultproxy.Action) func() {
		return func() {
			h := proxy.Add(faultproxy.Rule{Do: do, Times: 1 + r.IntN(5), Skip: r.IntN(10)})
			<-time.After(between(r, 50*time.Millisecond, time.Second))
			h.Remove()
			proxy.CutAll() // a connection that is silent stays silent
			proxy.Forget()
		}
	}
	conn := redisserver.Dial(t, server)
	masters := func() []redis.Conn {
		if _, err := conn.Do("PING"); err != nil {
			conn = redisserver.Dial(t, server)
		}
		return []redis.Conn{conn}
	}
	return &site{url: "redis://" + proxy.Addr(), masters: masters, faults: []fault{
		ends(t, r, masters),
		{what: "connections cut", strike: proxy.CutAll},
		{what: "commands lost", strike: loses(faultproxy.CutBefore)},
		{what: "replies lost", strike: loses(faultproxy.CutAfter)},
		{what: "replies lost in silence", strike: loses(faultproxy.DropReply)},
		{what: "scripts forgotten", strike: func() { testbed.Do(t, masters()[0], "SCRIPT", "FLUSH") }},
		{what: "the server stands still", strike: func() {
			server.Pause()
			<-time.After(between(r, 20*time.Millisecond, 2*time.Second))
			server.Resume()
		}},
		{what: "the server is killed, and back", strike: func() { server.Kill(); server.Restart() }},
	}}
}

func sentinels(t *testing.T, r *rand.Rand) *site {
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	masters := func() []redis.Conn { return []redis.Conn{set.Master().Dial(t)} }
	return &site{url: set.URL(), masters: masters,
		faults: []fault{
			ends(t, r, masters),
			{what: "planned failover", loses: true, strike: func() {
				former := set.Master()
				set.Failover(set.Sentinels[r.IntN(len(set.Sentinels))])
				set.AwaitMaster(former)
				set.AwaitSettled()
			}},
			{what: "a replica restarts", strike: func() {
				for _, n := range set.Nodes {
					if n != set.Master() {
						n.Kill()
						n.Restart()
						break
					}
				}
				set.AwaitSettled()
			}},
		},
		last: []fault{{what: "the master is killed", loses: true, strike: func() {
			set.AllowFailover()
			former := set.Master()
			former.Kill()
			set.AwaitMaster(former)
		}}},
	}
}

// deaf is how long a cluster's server must be silent to be replaced: longer than a busy machine lets one wait.
const deaf = 30 * time.Second

func cluster(t *testing.T, r *rand.Rand) *site {
	c := topologytest.StartReplicatedFronted(t, deaf, nil, 1, 1, 1)
	slot := codec.Slot(names[0])
	serves := func() (servers []int) { // each has slots
		for i := range 3 {
			if replica := c.Replica(i); c.AllKnowMaster(replica) {
				servers = append(servers, replica)
			} else {
				servers = append(servers, i)
			}
		}
		return servers
	}
	masters := func() (all []redis.Conn) {
		for _, i := range serves() {
			all = append(all, c.Servers[i].Dial(t))
		}
		return all
	}
	return &site{url: c.ClusterURL(), masters: masters,
		faults: []fault{
			{what: "CLIENT KILL", strike: func() {
				ends(t, r, masters).strike()
				for i := range c.Servers {
					c.Redial(i) // those of the cluster's own have ended too
				}
			}},
			{what: "planned failover", strike: func() {
				shard := r.IntN(3)
				other := shard + c.Replica(shard) - serves()[shard] // of its two servers
				c.AwaitReplica(other)
				testbed.BecomesWithin(t, patience, "the replica takes over", func() bool {
					_, _ = c.Conn(other).Do("CLUSTER", "FAILOVER") // a busy server forgets it after five seconds
					return testbed.Within(6*time.Second, func() bool { return c.AllKnowMaster(other) })
				})
			}},
			{what: "a slot moves", strike: func() {
				from := c.MasterOf(slot)
				for _, to := range serves() {
					if to != from {
						c.Move(from, to, slot)
						break
					}
				}
			}},
		},
		last: []fault{{what: "a master is killed", loses: true, strike: func() {
			from := serves()[0]
			c.AwaitReplica(c.Replica(0) - from)
			c.Servers[from].Kill()
			c.TakeOver(c.Replica(0) - from)
		}}},
	}
}
