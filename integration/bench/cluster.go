package main

import (
	"fmt"
	"time"
)

// clusterCallers is the place at which a cluster is compared with one server.
const clusterCallers = 128

// runCluster compares three masters with one server: what a pair costs its client and its server, and how long a hand-off
// takes. rueidislock and Redisson are on the masters without replicas.
func runCluster(r *run) error {
	sets, err := startClusterSets(r.server)
	if err != nil {
		return fmt.Errorf("a cluster: %w", err)
	}
	defer sets.close()
	if err := r.clusterPairs(sets); err != nil {
		return err
	}
	if err := r.clusterHandoff(sets); err != nil {
		return err
	}
	if err := r.clusterCrowd(sets); err != nil {
		return err
	}
	if err := r.clusterScripts(sets.alone); err != nil {
		return err
	}
	r.say("cluster: done")
	return nil
}

func (r *run) clusterPairs(sets clusterSets) error {
	all, err := r.openClustered(sets)
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
			s := spec{prefix: prefixFor("cluster", c.name), callers: c.callers, length: r.sizes.length}
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
			if err := r.clusterCost(c, s, fmt.Sprint(clusterCallers)); err != nil {
				if err := r.failed(c.name, "pairs in a cluster", err); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// clusterCost measures one load. The server's time is that of all masters, and so what one of them takes for each pair it
// serves. A read of a server has one batch, or a part of it.
func (r *run) clusterCost(c *clustered, s spec, at string) error {
	var cpu [2]struct{ masters, replicas, client time.Duration }
	var reads [2]float64
	var l loaded
	for i := range cpu {
		var err error
		if i == 1 {
			if l, err = c.loader.load(s); err != nil {
				return err
			}
		}
		used, err := c.usage()
		if err != nil {
			return err
		}
		cpu[i].client = used.cpu
		if cpu[i].masters, err = cpuOf(c.on.masters); err != nil {
			return err
		}
		if cpu[i].replicas, err = cpuOf(c.on.replicas); err != nil {
			return err
		}
		for _, m := range c.on.masters {
			n, err := m.info("stats", "total_reads_processed")
			if err != nil {
				return err
			}
			reads[i] += n
		}
	}
	n := float64(l.grants)
	micros := func(d time.Duration) float64 { return d.Seconds() * 1e6 / n }
	if s.shared {
		r.add("cluster", c.name, at, "hand-offs/s", float64(l.handoffs)/l.took.Seconds())
	}
	r.add("cluster", c.name, at, "µs", micros(l.took))
	r.add("cluster", c.name, at, "client µs", micros(cpu[1].client-cpu[0].client))
	r.add("cluster", c.name, at, "server µs", micros(cpu[1].masters-cpu[0].masters))
	r.add("cluster", c.name, at, "reads of a server", (reads[1]-reads[0])/n)
	if len(c.on.replicas) > 0 {
		r.add("cluster", c.name, at, "replicas µs", micros(cpu[1].replicas-cpu[0].replicas))
	}
	return nil
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
