package main

// handing is two processes that pass a lock to and fro.
type handing struct {
	name    string
	parties [2]party
}

func (h *handing) close() {
	for _, p := range h.parties {
		if p != nil {
			p.close()
		}
	}
}

// clusterHandoff is runHandoff in a cluster, beside rlock's on one server, with and without a replica.
func (r *run) clusterHandoff(sets clusterSets) error {
	all, err := r.openHanding(sets)
	defer func() {
		for _, h := range all {
			h.close()
		}
	}()
	if err != nil {
		return err
	}
	for i := range r.sizes.rounds {
		for k := range all {
			h := all[(k+i)%len(all)]
			if r.hung[h.name] {
				continue
			}
			waits, err := handOver(h.parties, "cluster-handoff:"+h.name, max(r.sizes.handoffs/r.sizes.rounds, 4))
			if err != nil {
				if err := r.failed(h.name, "hand-off in a cluster", err); err != nil {
					return err
				}
				continue
			}
			r.add("cluster", h.name, "2 processes", "p50 µs", median(waits))
		}
	}
	return nil
}

// openHanding starts the processes, and has the JVMs compile what they run.
func (r *run) openHanding(sets clusterSets) (all []*handing, err error) {
	wanted := []struct{ name, peer, addr, argument string }{
		{ours, ours, r.server.addr, ""},
		{syncedP, ours, sets.synced.addrs(), syncedArgument},
		{shardedP, ours, sets.alone.url(), shardedArgument},
		{bothP, ours, sets.alone.url(), ""},
		{shardedWaitP, ours, sets.replicated.url(), shardedArgument},
		{bothWaitP, ours, sets.replicated.url(), ""},
	}
	if openers[rueidisP] != nil && r.wants(rueidisP) {
		wanted = append(wanted, struct{ name, peer, addr, argument string }{rueidisP, rueidisP, sets.alone.addrs(), ""})
	}
	for _, w := range wanted {
		h := &handing{name: w.name}
		all = append(all, h)
		for i := range h.parties {
			c, err := startChild("party", w.peer, w.addr, w.argument)
			if err != nil {
				return all, err
			}
			h.parties[i] = goParty{c}
		}
	}
	if !r.java || !r.wants(javaP) {
		return all, nil
	}
	h := &handing{name: javaP}
	all = append(all, h)
	for i := range h.parties {
		j, err := startJava(sets.alone.url())
		if err != nil {
			return all, err
		}
		h.parties[i] = javaParty{j, j.Thread("t")}
	}
	if _, err := handOver(h.parties, "cluster:warm", r.sizes.handoffs); err != nil {
		return all, r.failed(javaP, "hand-off in a cluster", err)
	}
	return all, nil
}
