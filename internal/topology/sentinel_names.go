package topology

import "slices"

// Sentinels may call one server by different names: one by its host's name,
// another by its address. Two names are one server's if its run id is the same.

// mostNames bounds how many names of one server are remembered.
const mostNames = mostSentinels

// master is a server as the Sentinels know it.
type master struct {
	names []string // host:port each; the first is dialled
	run   string   // its run id; empty: unknown
}

// addr returns the address to dial; empty: there is no master.
func (m master) addr() string {
	if len(m.names) == 0 {
		return ""
	}
	return m.names[0]
}

// is tells whether t names m.
func (m master) is(t testimony) bool {
	return slices.Contains(m.names, t.master) || t.run != "" && t.run == m.run
}

// byServer groups testimonies of one epoch by the server that they name. After the
// server restarts, some Sentinels still have its former run id for a while; then the
// names that were seen in that epoch decide.
func (c *choice) byServer(said []testimony) (servers [][]testimony) {
	same := func(a, b testimony) bool {
		return a.master == b.master || a.run != "" && a.run == b.run ||
			a.epoch == c.epoch && slices.Contains(c.master.names, a.master) && slices.Contains(c.master.names, b.master)
	}
	for _, t := range said {
		i := slices.IndexFunc(servers, func(s []testimony) bool { return same(s[0], t) })
		if i < 0 {
			i, servers = len(servers), append(servers, nil)
		}
		servers[i] = append(servers[i], t)
	}
	return servers
}

// spelled picks one of several testimonies for one server: one with the name that is
// dialled already, or else with the name that most use. It adds all names, and the
// replicas that any of them knows. A Sentinel that has just promoted one still lists that
// one too, as a replica of the former master.
func (c *choice) spelled(said []testimony) testimony {
	uses := map[string]int{c.master.addr(): len(said)}
	var names, known, down []string
	promoted := func(replica string) bool { return slices.Contains(names, replica) }
	for _, t := range said {
		uses[t.master]++
		names = append(names, t.master)
		known, down = append(known, t.known...), append(down, t.down...)
	}
	best := slices.MaxFunc(said, func(a, b testimony) int { return uses[a.master] - uses[b.master] })
	best.names, best.known, best.down = names, slices.DeleteFunc(distinct(known), promoted), distinct(down)
	return best
}

// distinct returns each name once, at most mostNames of them.
func distinct(names []string) (once []string) {
	for _, n := range names {
		if !slices.Contains(once, n) && len(once) < mostNames {
			once = append(once, n)
		}
	}
	return once
}

// others returns the replicas that are not the former master.
func (c *choice) others(replicas []string) []string {
	return slices.DeleteFunc(slices.Clone(replicas), func(one string) bool { return slices.Contains(c.former.names, one) })
}
