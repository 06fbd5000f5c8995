package main

import (
	"strings"

	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/rlock"
)

// The parties of the part about a cluster. The one that is called rlock is on one server, as elsewhere; what names no
// other place is on three masters. Servers without a replica get no WAIT.
const (
	syncedP      = "rlock, one server, WAIT"
	oneNodeP     = "rlock, one node, SPUBLISH" // a cluster of one master
	shardedP     = "rlock, SPUBLISH"
	bothP        = "rlock, both"
	shardedWaitP = "rlock, SPUBLISH, WAIT"
	bothWaitP    = "rlock, both, WAIT"
	wideP        = "rlock, SPUBLISH, as many callers a master"
	rueidisOneP  = "rueidislock, one server"

	// Encoded beforehand and sent ahead, with as many commands in flight as there are callers.
	bareP        = "bare, one server"
	bareOneNodeP = "bare, one node, SPUBLISH"
	bareShardedP = "bare, SPUBLISH"
	bareBothP    = "bare, both"
	bareWideP    = "bare, SPUBLISH, as many in flight a master"
)

// comparison is of two parties.
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

// clustered is a party, the servers that it uses, and how many callers it has.
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

func startClusterSets(one *server) (s clusterSets, err error) {
	s.one = &clusterServers{masters: []*server{one}}
	for _, start := range []struct {
		to    **clusterServers
		start func() (*clusterServers, error)
	}{
		{&s.synced, startReplicated},
		{&s.oneNode, func() (*clusterServers, error) { return startCluster(1, false) }},
		{&s.alone, func() (*clusterServers, error) { return startCluster(masters, false) }},
		{&s.replicated, func() (*clusterServers, error) { return startCluster(masters, true) }},
	} {
		if *start.to, err = start.start(); err != nil {
			s.close()
			return s, err
		}
	}
	return s, nil
}

func (s clusterSets) close() {
	for _, c := range []*clusterServers{s.synced, s.oneNode, s.alone, s.replicated} {
		if c != nil {
			c.close()
		}
	}
}

// openClustered opens all that are wanted.
func (r *run) openClustered(s clusterSets) (all []*clustered, err error) {
	add := func(name string, on *clusterServers, callers int, open func() (loader, error)) {
		if err != nil || !r.wantsClustered(name) {
			return
		}
		var l loader
		if l, err = open(); err == nil {
			all = append(all, &clustered{&contender{name, l, ownUsage, nil}, on, callers})
		}
	}
	addOurs := func(name string, on *clusterServers, callers int, url string, opts ...rlock.Option) {
		add(name, on, callers, func() (loader, error) {
			c, err := openOursWith(url, opts...)
			return fleet{c}, err
		})
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
		add(name, on, clusterCallers, func() (loader, error) { return openBare(on, depth, publish) })
	}
	addBare(bareP, s.one, clusterCallers, luasrc.Publish)
	addBare(bareOneNodeP, s.oneNode, clusterCallers, luasrc.SPublish)
	const third = clusterCallers / masters / 2 * 2 // two chunks are in flight
	addBare(bareShardedP, s.alone, third, luasrc.SPublish)
	addBare(bareBothP, s.alone, third, luasrc.Both)
	addBare(bareWideP, s.alone, clusterCallers, luasrc.SPublish)

	if open := openers[rueidisP]; open != nil {
		for name, on := range map[string]*clusterServers{rueidisP: s.alone, rueidisOneP: s.one} {
			add(name, on, clusterCallers, func() (loader, error) {
				c, err := open(on.addrs())
				return fleet{c}, err
			})
		}
	}
	if err == nil && r.java && r.wants(javaP) {
		var j javaLoader
		if j, err = openJava(s.alone.url()); err == nil {
			all = append(all, &clustered{&contender{javaP, j, func() (usage, error) { return processCPU(j.p.PID) }, nil}, s.alone, clusterCallers})
		}
	}
	return all, err
}

// wantsClustered is wants, where a peer is several parties. rlock's and the bare ones always are.
func (r *run) wantsClustered(name string) bool {
	of, _, _ := strings.Cut(name, ",")
	return !r.hung[name] && (of != rueidisP || r.wants(rueidisP))
}
