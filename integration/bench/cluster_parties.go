package main

import (
	"fmt"
	"slices"
	"testing"

	"github.com/rlock-go/redisson/integration/kit/quantile"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/rlock"
)

// The parties of the cluster part. "rlock" is on one server, as elsewhere; parties that name no other place are on
// three masters. Servers without a replica get no WAIT.
const (
	syncedP      = "rlock, one server, WAIT"
	oneNodeP     = "rlock, one node, SPUBLISH" // a cluster of one master
	shardedP     = "rlock, SPUBLISH"
	bothP        = "rlock, both"
	shardedWaitP = "rlock, SPUBLISH, WAIT"
	bothWaitP    = "rlock, both, WAIT"
	wideP        = "rlock, SPUBLISH, as many callers a master"
	rueidisOneP  = "rueidislock, one server"

	// Commands encoded in advance and sent ahead, with as many in flight as the others have callers.
	bareP        = "bare, one server"
	bareOneNodeP = "bare, one node, SPUBLISH"
	bareShardedP = "bare, SPUBLISH"
	bareBothP    = "bare, both"
	bareWideP    = "bare, SPUBLISH, as many in flight a master"
)

// comparison is of one party with another.
type comparison struct{ of, over, shows string }

var clusterComparisons = []comparison{
	{shardedP, ours, "three masters over one server"},
	{bothP, ours, "the same, with PUBLISH too"},
	{oneNodeP, ours, "a cluster of one node over one server"},
	{shardedP, oneNodeP, "three masters over a cluster of one node"},
	{wideP, ours, "three masters over one server, each with as many callers"},
	{shardedWaitP, syncedP, "three masters over one server, a replica each"},
	{bothWaitP, syncedP, "the same, with PUBLISH too"},
	{syncedP, ours, "one server: with a replica over without"},
	{bareShardedP, bareP, "three masters over one server, without rlock"},
	{bareBothP, bareP, "the same, with PUBLISH too"},
	{bareOneNodeP, bareP, "a cluster of one node over one server, without rlock"},
	{bareWideP, bareP, "three masters over one server, each with as many in flight, without rlock"},
	{ours, bareP, "one server: rlock over the bare commands"},
	{shardedP, bareShardedP, "three masters: rlock over the bare commands"},
	{bothP, bareBothP, "the same, with PUBLISH too"},
	{rueidisP, rueidisOneP, "rueidislock: three masters over one server"},
}

// clustered is a party with its servers and its number of callers.
type clustered struct {
	*contender
	on      *clusterServers
	callers int
}

// clusterSets are the servers of this part.
type clusterSets struct {
	one        *clusterServers // the server of all parts
	synced     *clusterServers // one master, one replica
	oneNode    *clusterServers // a cluster of one
	alone      *clusterServers // a cluster without replicas
	replicated *clusterServers // a cluster with one each
}

func startClusterSets(t testing.TB, one *server) clusterSets {
	return clusterSets{
		one:        &clusterServers{masters: []*server{one}},
		synced:     startReplicated(t),
		oneNode:    startCluster(t, 1, false),
		alone:      startCluster(t, masters, false),
		replicated: startCluster(t, masters, true),
	}
}

// openClustered opens all wanted parties. If it fails, all has those that are open.
func (r *run) openClustered(s clusterSets) (all []*clustered, err error) {
	defer caught(&err)
	add := func(name string, on *clusterServers, callers int, c *contender) {
		c.name = name
		all = append(all, &clustered{c, on, callers})
	}
	addOurs := func(name string, on *clusterServers, callers int, url string, opts ...rlock.Option) {
		c := must(openOursWith(url, opts...))
		add(name, on, callers, &contender{load: fleet{c}.load, close: c.close, usage: ownUsage})
	}
	sharded, both := rlock.WithClusterPublish(rlock.PublishSharded), rlock.WithClusterPublish(rlock.PublishBoth)
	addOurs(ours, s.one, clusterCallers, s.one.addrs())
	addOurs(syncedP, s.synced, clusterCallers, s.synced.addrs(), rlock.WithReplicaSync(true))
	addOurs(oneNodeP, s.oneNode, clusterCallers, s.oneNode.url(), sharded)
	addOurs(shardedP, s.alone, clusterCallers, s.alone.url(), sharded)
	addOurs(bothP, s.alone, clusterCallers, s.alone.url(), both)
	addOurs(shardedWaitP, s.replicated, clusterCallers, s.replicated.url(), sharded)
	addOurs(bothWaitP, s.replicated, clusterCallers, s.replicated.url(), both)
	addOurs(wideP, s.alone, masters*clusterCallers, s.alone.url(), sharded)

	addBare := func(name string, on *clusterServers, depth int, publish luasrc.Arg) {
		add(name, on, clusterCallers, &contender{load: must(bareMasters(on, depth, publish)), usage: ownUsage})
	}
	addBare(bareP, s.one, clusterCallers, luasrc.Publish)
	addBare(bareOneNodeP, s.oneNode, clusterCallers, luasrc.SPublish)
	const third = clusterCallers / masters / 2 * 2 // two chunks are in flight
	addBare(bareShardedP, s.alone, third, luasrc.SPublish)
	addBare(bareBothP, s.alone, third, luasrc.Both)
	addBare(bareWideP, s.alone, clusterCallers, luasrc.SPublish)

	if open := openers[rueidisP]; open != nil && r.wants(rueidisP) {
		for name, on := range map[string]*clusterServers{rueidisP: s.alone, rueidisOneP: s.one} {
			c := must(open(on.addrs()))
			add(name, on, clusterCallers, &contender{load: fleet{c}.load, close: c.close, usage: ownUsage})
		}
	}
	if r.java && r.wants(javaP) {
		add(javaP, s.alone, clusterCallers, must(openJava(s.alone.url())))
	}
	return all, nil
}

// clusterMetrics are the metrics that are compared.
var clusterMetrics = []string{"µs", "client µs", "server µs", "p50 µs"}

// compareClusters returns a row for each comparison in the run: the median of the rounds' ratios, and their range.
func compareClusters(r *Report) (rows []string) {
	for _, c := range clusterComparisons {
		row, some := c.shows, false
		for _, m := range clusterMetrics {
			at := fmt.Sprint(clusterCallers)
			if m == "p50 µs" {
				at = "2 processes"
			}
			q := r.ratios("cluster", c.of, c.over, at, m)
			if len(q) == 0 {
				row += " | –"
				continue
			}
			some = true
			row += fmt.Sprintf(" | %.2f", quantile.Median(q))
			if len(q) > 1 {
				row += fmt.Sprintf(" (%.2f–%.2f)", slices.Min(q), slices.Max(q))
			}
		}
		if some {
			rows = append(rows, row)
		}
	}
	return rows
}
