package main

import "fmt"

// clusterCrowd has many clients at one name, which is one master's: how often that master hands it over, and what a
// hand-off costs all masters, with a message to each client.
func (r *run) clusterCrowd(sets clusterSets) error {
	var all []*clustered
	defer func() {
		for _, c := range all {
			c.loader.close()
		}
	}()
	for _, w := range []struct{ name, argument, addr string }{
		{ours, "", sets.one.addrs()},
		{oneNodeP, shardedArgument, sets.oneNode.url()},
		{shardedP, shardedArgument, sets.alone.url()},
		{bothP, "", sets.alone.url()},
	} {
		on := map[string]*clusterServers{ours: sets.one, oneNodeP: sets.oneNode}[w.name]
		if on == nil {
			on = sets.alone
		}
		open := func(addr string) (client, error) { return openOursWith(addr, oursArgument(w.argument)...) }
		f, err := openFleet(&peer{name: w.name, open: open}, w.addr, r.sizes.crowd)
		if err != nil {
			return err
		}
		all = append(all, &clustered{&contender{w.name, f, ownUsage, nil}, on, r.sizes.crowd * crowdWaiters})
	}
	at := fmt.Sprint(r.sizes.crowd, " clients at one name")
	for i := range r.sizes.rounds {
		for k := range all {
			c := all[(k+i)%len(all)]
			s := spec{prefix: prefixFor("crowd", c.name), callers: c.callers, shared: true, length: r.sizes.length}
			if i == 0 {
				warm := s
				warm.length = warmUp
				if _, err := c.loader.load(warm); err != nil {
					return fmt.Errorf("%s: %w", c.name, err)
				}
			}
			if err := r.clusterCost(c, s, at); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
		}
	}
	return nil
}
