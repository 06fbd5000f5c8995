package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
)

// masters is how many masters a cluster has here, except the one-node cluster.
const masters = 3

// clusterServers is a cluster, with or without a replica for each master, or a master without a cluster.
type clusterServers struct{ masters, replicas []*server }

// startCluster starts masters that share the slots evenly, and a replica for each if replicas is set.
func startCluster(t testing.TB, masters int, replicas bool) *clusterServers {
	const silence = 15 * time.Second // so that a busy machine does not cause a failover
	shares := slices.Repeat([]int{1}, masters)
	var all []*redistest.Server
	if replicas {
		all = topologytest.StartReplicatedFronted(t, silence, nil, shares...).Servers
	} else {
		all = topologytest.Start(t, shares...).Servers
	}
	c := &clusterServers{}
	for i, s := range all {
		if i < masters {
			c.masters = append(c.masters, asked(t, s))
		} else {
			c.replicas = append(c.replicas, asked(t, s))
		}
	}
	return c
}

// startReplicated starts a master and its replica, without a cluster.
func startReplicated(t testing.TB) *clusterServers {
	master := redistest.Start(t)
	return &clusterServers{[]*server{asked(t, master)}, []*server{asked(t, master.StartReplica(t))}}
}

// addrs are the masters' addresses, separated by commas.
func (c *clusterServers) addrs() string {
	var all []string
	for _, s := range c.masters {
		all = append(all, s.addr)
	}
	return strings.Join(all, ",")
}

func (c *clusterServers) url() string { return "redis+cluster://" + c.addrs() }
