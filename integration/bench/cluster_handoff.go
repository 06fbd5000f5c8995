package main

import "github.com/rlock-go/redisson/integration/kit/quantile"

// clusterHandoff is runHandoff in a cluster, compared with rlock on one server with and without a replica.
func (r *run) clusterHandoff(sets clusterSets) (err error) {
	defer caught(&err)
	const what = "hand-off in a cluster"
	var all handings
	defer all.close()
	wanted := []struct{ name, peer, addr, argument string }{
		{ours, ours, r.server.addr, ""},
		{syncedP, ours, sets.synced.addrs(), syncedArgument},
		{shardedP, ours, sets.alone.url(), shardedArgument},
		{bothP, ours, sets.alone.url(), ""},
		{shardedWaitP, ours, sets.replicated.url(), shardedArgument},
		{bothWaitP, ours, sets.replicated.url(), ""},
		{rueidisP, rueidisP, sets.alone.addrs(), ""},
	}
	for _, w := range wanted {
		if w.peer != rueidisP || openers[rueidisP] != nil && r.wants(rueidisP) {
			must(all.add(w.name, func() (party, error) { return startParty(w.peer, w.addr, w.argument) }))
		}
	}
	if r.java && r.wants(javaP) {
		if _, err := all.addJVMs(sets.alone.url(), "cluster:warm", r.sizes.handoffs); err != nil {
			check(r.failed(javaP, what, err))
		}
	}
	for i := range r.sizes.rounds {
		check(round(r, i, all, what, func(h *handing) error {
			waits, err := handOver(h.parties, "cluster-handoff:"+h.name, max(r.sizes.handoffs/r.sizes.rounds, 4))
			if err == nil {
				r.add("cluster", h.name, "2 processes", "p50 µs", quantile.Median(waits))
			}
			return err
		}))
	}
	return nil
}
