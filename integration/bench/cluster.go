package main

import (
	"fmt"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// clusterCallers is the place at which a cluster is compared with one server.
const clusterCallers = 128

// The parties of the part about a cluster. The one that is called rlock is on one server; all else is in a cluster. Masters
// without a replica get no WAIT.
const (
	shardedP     = "rlock, SPUBLISH"
	bothP        = "rlock, both"
	shardedWaitP = "rlock, SPUBLISH, WAIT"
	bothWaitP    = "rlock, both, WAIT"
)

// clustered is a party and the servers that it uses.
type clustered struct {
	*contender
	servers []*server
}

// runCluster compares three masters with one server: what a pair costs its client and its server, and how long a hand-off
// takes. rueidislock and Redisson are on the masters without replicas.
func runCluster(r *run) error {
	var sets [2]*clusterServers // without and with replicas
	for i := range sets {
		c, err := startCluster(i == 1)
		if err != nil {
			return fmt.Errorf("a cluster: %w", err)
		}
		defer c.close()
		sets[i] = c
	}
	if err := r.clusterPairs(sets[0], sets[1]); err != nil {
		return err
	}
	if err := r.clusterHandoff(sets[0], sets[1]); err != nil {
		return err
	}
	if err := r.clusterScripts(sets[0]); err != nil {
		return err
	}
	r.say("cluster: done")
	return nil
}

func (r *run) openClustered(alone, replicated *clusterServers) (all []*clustered, err error) {
	add := func(name string, servers []*server, open func() (client, error)) {
		if err != nil || !r.wants(name) && len(r.only) > 0 && name != shardedP && name != bothP && name != shardedWaitP && name != bothWaitP {
			return
		}
		var c client
		if c, err = open(); err == nil {
			all = append(all, &clustered{&contender{name, fleet{c}, ownUsage, nil}, servers})
		}
	}
	ourCluster := func(name string, c *clusterServers, p rlock.Publish) {
		add(name, c.masters, func() (client, error) { return openOursWith(c.url(), rlock.WithClusterPublish(p)) })
	}
	add(ours, []*server{r.server}, func() (client, error) { return openOurs(r.server.addr) })
	ourCluster(shardedP, alone, rlock.PublishSharded)
	ourCluster(bothP, alone, rlock.PublishBoth)
	ourCluster(shardedWaitP, replicated, rlock.PublishSharded)
	ourCluster(bothWaitP, replicated, rlock.PublishBoth)
	if open := openers[rueidisP]; open != nil {
		add(rueidisP, alone.masters, func() (client, error) { return open(alone.addrs()) })
	}
	if err == nil && r.java && r.wants(javaP) {
		var j javaLoader
		if j, err = openJava(alone.url()); err == nil {
			all = append(all, &clustered{&contender{javaP, j, func() (usage, error) { return processCPU(j.p.PID) }, nil}, alone.masters})
		}
	}
	return all, err
}

func (r *run) clusterPairs(alone, replicated *clusterServers) error {
	all, err := r.openClustered(alone, replicated)
	defer func() {
		for _, c := range all {
			c.loader.close()
		}
	}()
	if err != nil {
		return err
	}
	for i := range r.sizes.rounds {
		for k := range all {
			c := all[(k+i)%len(all)]
			if r.hung[c.name] {
				continue
			}
			s := spec{prefix: "cluster:" + c.name + ":", callers: clusterCallers, length: r.sizes.length}
			if i == 0 {
				warm := s
				if warm.length = warmUp; c.name == javaP && !r.Quick {
					warm.length = javaWarmUp
				}
				if _, err := c.loader.load(warm); err != nil {
					if err := r.failed(c.name, "pairs in a cluster, warming up", err); err != nil {
						return err
					}
					continue
				}
			}
			if err := r.clusterCost(c, s); err != nil {
				if err := r.failed(c.name, "pairs in a cluster", err); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// clusterCost measures one load. The server's time is that of all masters, and so what one of them takes for each pair it
// serves.
func (r *run) clusterCost(c *clustered, s spec) error {
	server, client, grants, took, err := c.spend(s)
	if err != nil {
		return err
	}
	at := fmt.Sprint(clusterCallers)
	r.add("cluster", c.name, at, "µs", took.Seconds()*1e6/grants)
	r.add("cluster", c.name, at, "client µs", client.Seconds()*1e6/grants)
	r.add("cluster", c.name, at, "server µs", server.Seconds()*1e6/grants)
	return nil
}

func (c *clustered) spend(s spec) (server, client time.Duration, grants float64, took time.Duration, err error) {
	cpuBefore, err := cpuOf(c.servers)
	if err != nil {
		return
	}
	before, err := c.usage()
	if err != nil {
		return
	}
	l, err := c.loader.load(s)
	if err != nil {
		return
	}
	after, err := c.usage()
	if err != nil {
		return
	}
	cpu, err := cpuOf(c.servers)
	return cpu - cpuBefore, after.cpu - before.cpu, float64(l.grants), l.took, err
}

func cpuOf(servers []*server) (sum time.Duration, err error) {
	for _, s := range servers {
		cpu, err := s.cpu()
		if err != nil {
			return 0, err
		}
		sum += cpu
	}
	return sum, nil
}
