package main

import (
	"fmt"
	"time"

	"github.com/rlock-go/redisson/integration/kit/program"
)

// clusterCallers is the number of callers in the comparison of a cluster with one server.
const clusterCallers = 128

// runCluster compares three masters with one server: what a pair costs its client and its server, and how long a
// hand-off takes. rueidislock and Redisson use the masters without replicas.
func runCluster(r *run) (err error) {
	defer caught(&err)
	t := &program.Program{Title: "bench"}
	defer t.Finish()
	sets := startClusterSets(t, r.server)
	check(r.clusterPairs(sets))
	check(r.clusterHandoff(sets))
	check(r.clusterCrowd(sets))
	check(r.clusterScripts(sets.alone))
	r.say("cluster: done")
	return nil
}

func (r *run) clusterPairs(sets clusterSets) (err error) {
	defer caught(&err)
	all, err := r.openClustered(sets)
	defer closeClustered(all)
	check(err)
	return r.clusterRounds(all, "cluster", fmt.Sprint(clusterCallers), false)
}

func closeClustered(all []*clustered) {
	for _, c := range all {
		if c.close != nil {
			c.close()
		}
	}
}

// clusterRounds measures all at a place. Each caller has its own name, or all share one.
func (r *run) clusterRounds(all []*clustered, part, at string, shared bool) (err error) {
	defer caught(&err)
	for i := range r.sizes.rounds {
		check(round(r, i, all, "a cluster, "+at, func(c *clustered) error {
			s := spec{prefix: prefixFor(part, c.name), callers: c.callers, shared: shared, length: r.sizes.length}
			length := warmUp
			if c.name == javaP && !r.Quick {
				length = javaWarmUp
			}
			if err := c.warm(i, s, length); err != nil {
				return err
			}
			return r.clusterCost(c, s, at)
		}))
	}
	return nil
}

// clusterCost measures one load. The server's time is that of all masters, which is what one master takes for each pair
// that it serves. A server reads a batch, or a part of one, at a time.
func (r *run) clusterCost(c *clustered, s spec, at string) (err error) {
	defer caught(&err)
	var cpu [2]struct{ masters, replicas, client time.Duration }
	var reads [2]float64
	var l loaded
	for i := range cpu {
		if i == 1 {
			l = must(c.load(s))
		}
		used := must(c.usage())
		cpu[i].client = used.cpu
		cpu[i].masters = must(cpuOf(c.on.masters))
		cpu[i].replicas = must(cpuOf(c.on.replicas))
		for _, m := range c.on.masters {
			reads[i] += must(m.info("stats", "total_reads_processed"))
		}
	}
	n := float64(l.grants)
	micros := func(d time.Duration) float64 { return d.Seconds() * 1e6 / n }
	add := func(metric string, value float64) { r.add("cluster", c.name, at, metric, value) }
	if s.shared {
		add("hand-offs/s", float64(l.handoffs)/l.took.Seconds())
	}
	add("µs", micros(l.took))
	add("client µs", micros(cpu[1].client-cpu[0].client))
	add("server µs", micros(cpu[1].masters-cpu[0].masters))
	add("reads of a server", (reads[1]-reads[0])/n)
	if len(c.on.replicas) > 0 {
		add("replicas µs", micros(cpu[1].replicas-cpu[0].replicas))
	}
	return nil
}

func cpuOf(servers []*server) (sum time.Duration, err error) {
	defer caught(&err)
	for _, s := range servers {
		sum += must(s.cpu())
	}
	return sum, nil
}

// clusterCrowd has many clients compete for one name, which belongs to one master. It measures how often that master
// hands the lock over, and what a hand-off costs all masters, with a message to each client.
func (r *run) clusterCrowd(sets clusterSets) (err error) {
	defer caught(&err)
	var all []*clustered
	defer func() { closeClustered(all) }()
	for _, w := range []struct {
		name, argument, addr string
		on                   *clusterServers
	}{
		{ours, "", sets.one.addrs(), sets.one},
		{oneNodeP, shardedArgument, sets.oneNode.url(), sets.oneNode},
		{shardedP, shardedArgument, sets.alone.url(), sets.alone},
		{bothP, "", sets.alone.url(), sets.alone},
	} {
		open := func(addr string) (client, error) { return openOursWith(addr, oursArgument(w.argument)...) }
		f := must(openFleet(&peer{name: w.name, open: open}, w.addr, r.sizes.crowd))
		all = append(all, &clustered{&contender{w.name, f.load, f.close, ownUsage, nil}, w.on, r.sizes.crowd * crowdWaiters})
	}
	return r.clusterRounds(all, "crowd", fmt.Sprint(r.sizes.crowd, " clients at one name"), true)
}
