package simredis

import (
	"slices"
	"time"
)

// election is a replica's try to be elected in its master's place.
type election struct {
	at    time.Time // when it asks for votes
	sent  bool
	epoch int64
	rank  int
	votes int
}

// takeover is a planned failover, as CLUSTER FAILOVER begins it. It ends after a while if
// it does not come about.
type takeover struct {
	ends   time.Time
	ours   bool   // this replica takes over
	force  bool   // without its master
	offset int64  // that its master has stopped at; -1: not known yet
	by     string // the replica that takes over from this master
	holds  time.Time
}

const takeoverLasts = 5 * time.Second

// tick is the node's round, ten times a second.
func (n *node) tick() {
	n.ticks++
	now, timeout := time.Now(), n.c.NodeTimeout
	var oldest *nodeView
	for range 5 {
		m := n.known[n.c.w.Rand.IntN(len(n.known))]
		if m != n.self && m.pinged.IsZero() && (oldest == nil || m.ponged.Before(oldest.ponged)) {
			oldest = m
		}
	}
	if n.ticks%10 == 0 && oldest != nil {
		n.ping(oldest)
	}
	for _, m := range n.known {
		if m == n.self {
			continue
		}
		waits := now.Sub(m.pinged)
		switch {
		case m.pinged.IsZero() && (now.Sub(m.ponged) > timeout/2 || !n.linked(m) || m.id == n.takeover.by):
			n.ping(m)
			continue
		case m.pinged.IsZero():
			continue
		case waits > timeout/2 && n.ticks%5 == 0 || m.id == n.takeover.by: // on a new connection
			n.ping(m)
		}
		if min(waits, now.Sub(m.heard)) > timeout && !m.pfail && !m.fail {
			m.pfail = true
			n.judge(m)
		}
	}
	if n.takeover != (takeover{}) && now.After(n.takeover.ends) {
		n.takeoverEnds()
	}
	if n.self.master != "" {
		if m := n.server(n.self.master); m != nil && n.s.master != m {
			n.s.SlaveOf(m) // its address was not known
		}
		if !n.s.NoFailover || n.takeover.ours {
			n.elect()
		}
	}
	n.state()
}

// linked tells whether there is a connection to a member.
func (n *node) linked(m *nodeView) bool {
	s, _ := n.c.w.At(m.addr).(*Server)
	if s == nil || s.down && !s.silent {
		return false
	}
	return m.pinged.IsZero() || time.Since(m.pinged) < n.c.NodeTimeout/2
}

// judge calls a member dead if most masters find it silent.
func (n *node) judge(m *nodeView) {
	if !m.pfail || m.fail {
		return
	}
	m.reports = slices.DeleteFunc(m.reports, func(r report) bool { return time.Since(r.at) > 2*n.c.NodeTimeout })
	votes := len(m.reports)
	if n.self.master == "" {
		votes++
	}
	if votes < n.size()/2+1 {
		return
	}
	n.fails(m)
	if n.self.master == "" {
		n.all("fail", func(p *packet) { p.about = m })
	}
}

func (n *node) fails(m *nodeView) {
	m.fail, m.pfail, m.failed = true, false, time.Now()
	n.c.w.Note("%s calls %s dead", n.s.Addr, m.addr)
	n.state()
}

// answered is called when a member has answered a ping.
func (n *node) answered(m *nodeView) {
	m.pfail = false
	if m.fail && (m.master != "" || m.slots.none() || time.Since(m.failed) > 2*n.c.NodeTimeout) {
		m.fail = false
	}
}

// elect is a replica's part of a failover.
func (n *node) elect() {
	now, t := time.Now(), &n.takeover
	master := n.find(n.self.master)
	if master == nil || master.slots.none() {
		return
	}
	ready := t.ours && (t.force || t.offset >= 0 && t.offset == n.s.offset)
	if !master.fail && !ready {
		return
	}
	e := &n.election
	lasts := max(2*n.c.NodeTimeout, 2*time.Second)
	if now.Sub(e.at) > 2*lasts || ready && !e.sent {
		*e = election{at: now, rank: n.rank()}
		if !ready {
			e.at = now.Add(500*time.Millisecond + time.Duration(n.c.w.Rand.Int64N(int64(500*time.Millisecond))) + time.Duration(e.rank)*time.Second)
			for _, m := range n.known {
				if m.master == n.self.master {
					n.send("pong", m.addr, nil) // with the offset
				}
			}
			return
		}
	}
	if r := n.rank(); !e.sent && !ready && r > e.rank {
		e.at, e.rank = e.at.Add(time.Duration(r-e.rank)*time.Second), r
	}
	if now.Before(e.at) || now.Sub(e.at) > lasts || e.sent {
		return
	}
	n.epoch++
	e.sent, e.epoch = true, n.epoch
	n.all("ask", func(p *packet) { p.holds = ready })
}

// rank is the number of replicas of the same master that have more data.
func (n *node) rank() (rank int) {
	for _, m := range n.known {
		if m != n.self && m.master == n.self.master && m.offset > n.s.offset {
			rank++
		}
	}
	return rank
}

// vote gives a replica this master's vote, once an epoch.
func (n *node) vote(by *nodeView, m *packet) {
	master := n.find(by.master)
	switch {
	case n.self.master != "" || n.self.slots.none() || m.epoch < n.epoch || n.voted == n.epoch || master == nil:
		return
	case !master.fail && !m.holds || time.Since(master.votedFor) < 2*n.c.NodeTimeout:
		return
	}
	stale := false
	m.slots.each(func(slot uint16) bool {
		o := n.owner(slot)
		stale = o != nil && o.config > m.config && !n.unclaimed.has(slot)
		return !stale
	})
	if stale {
		return
	}
	n.voted, master.votedFor = n.epoch, time.Now()
	n.send("vote", by.addr, nil)
}

// counts counts a vote.
func (n *node) counts(by *nodeView, m *packet) {
	e := &n.election
	if by.master != "" || by.slots.none() || m.epoch < e.epoch || !e.sent || n.self.master == "" || time.Since(e.at) > max(2*n.c.NodeTimeout, 2*time.Second) {
		return
	}
	if e.votes++; e.votes >= n.size()/2+1 {
		n.replaces(e.epoch)
	}
}

// replaces makes this replica the master of all its master's slots.
func (n *node) replaces(epoch int64) {
	former := n.find(n.self.master)
	was := n.s.master
	n.self.master, n.self.config, n.self.slots = "", max(n.self.config, epoch), former.slots
	former.slots = slotSet{}
	n.election = election{}
	n.s.SlaveOf(nil)
	n.c.Failovers++
	n.c.w.Note("promoted %s", n.s.Addr)
	if n.c.Promoted != nil {
		n.c.Promoted(was, n.s)
	}
	n.takeoverEnds()
	n.state()
	n.all("pong", nil)
}

// failover is CLUSTER FAILOVER.
func (n *node) failover(how string) any {
	m := n.find(n.self.master)
	switch {
	case m == nil:
		return Error("ERR You should send CLUSTER FAILOVER to a replica")
	case how == "" && (m.fail || !n.linked(m)):
		return Error("ERR Master is down or failed, please use CLUSTER FAILOVER FORCE")
	}
	n.takeoverEnds()
	if how == "TAKEOVER" {
		n.bump()
		n.replaces(n.self.config)
		return Status("OK")
	}
	n.election = election{}
	n.takeover = takeover{ends: time.Now().Add(takeoverLasts), ours: true, force: how == "FORCE", offset: -1}
	if how == "" {
		n.send("hold", m.addr, nil)
	}
	return Status("OK")
}

// holdFor makes a master hold back writes until its replica has taken over.
func (n *node) holdFor(by *nodeView) {
	if by.master != n.id {
		return
	}
	n.takeoverEnds()
	now := time.Now()
	n.takeover = takeover{ends: now.Add(takeoverLasts), by: by.id, holds: now.Add(2 * takeoverLasts), offset: -1}
	n.c.w.Note("%s holds writes back", n.s.Addr)
}

// takeoverEnds ends a planned failover. Commands that were held back run.
func (n *node) takeoverEnds() {
	held := n.takeover.by != ""
	n.takeover = takeover{}
	if !held {
		return
	}
	for _, c := range slices.Clone(n.s.peers) {
		if c.wait == nil {
			c.serve()
		}
	}
}
