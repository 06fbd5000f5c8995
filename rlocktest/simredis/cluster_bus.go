package simredis

import (
	"slices"
	"time"
)

// packet is what one node sends to another. Each has the sender's own claims.
type packet struct {
	kind   string // ping, pong, meet, fail, update, hold, ask, vote, publish
	from   string
	addr   string
	epoch  int64
	config int64
	master string
	slots  slotSet // of a replica those of its master
	offset int64
	holds  bool // it holds writes back, for a takeover

	asked   string    // the id that the pinged one is known by, in a ping and its answer
	about   *nodeView // whom a fail or an update is about
	rumours []rumour
	says    message // of a publish
}

// rumour is what a message says of a third node.
type rumour struct {
	id, addr string
	silent   bool
}

// send sends a message. It is lost if the way is cut, or nobody is there.
func (n *node) send(kind, addr string, edit func(m *packet)) {
	if n.s.down || addr == "" || n.c.w.Between(hostOf(n.s.Addr), addr).Blocked {
		return
	}
	claims := n.self
	if n.self.master != "" {
		if m := n.find(n.self.master); m != nil {
			claims = m
		}
	}
	m := &packet{
		kind: kind, from: n.id, addr: n.s.Addr, epoch: n.epoch, config: claims.config, master: n.self.master, slots: claims.slots, offset: n.s.offset,
		holds: n.takeover.by != "" && n.self.master == "",
	}
	if kind == "ping" || kind == "pong" || kind == "meet" {
		for _, o := range n.known {
			if o != n.self && o.addr != "" {
				m.rumours = append(m.rumours, rumour{o.id, o.addr, o.pfail || o.fail})
			}
		}
	}
	if edit != nil {
		edit(m)
	}
	at := time.Now().Add(50*time.Microsecond + time.Duration(n.c.w.Rand.Int64N(int64(500*time.Microsecond))))
	for _, o := range n.known { // in order
		if o.addr == addr {
			if !at.After(o.arrives) {
				at = o.arrives.Add(2 * time.Microsecond)
			}
			o.arrives = at
		}
	}
	n.c.w.After(time.Until(at), func() {
		to, _ := n.c.w.At(addr).(*Server)
		switch {
		case to == nil || to.cluster == nil || to.down || n.c.w.Between(hostOf(m.addr), addr).Blocked:
		case to.Paused:
			to.cluster.inbox = append(to.cluster.inbox, m)
		default:
			to.cluster.receive(m)
		}
	})
}

// all sends a message to each member.
func (n *node) all(kind string, edit func(m *packet)) {
	for _, m := range n.known {
		if m != n.self {
			n.send(kind, m.addr, edit)
		}
	}
}

func (n *node) ping(m *nodeView) {
	if m.pinged.IsZero() {
		m.pinged = time.Now()
	}
	n.send("ping", m.addr, func(p *packet) { p.asked = m.id })
}

// meet makes a server known to this one, if it answers.
func (n *node) meet(addr string) {
	if till, ok := n.meets[addr]; ok && time.Now().Before(till) || addr == n.s.Addr {
		return
	}
	n.meets[addr] = time.Now().Add(max(n.c.NodeTimeout, time.Second))
	n.send("meet", addr, nil)
}

func (n *node) receive(m *packet) {
	now := time.Now()
	sender := n.find(m.from)
	if m.kind == "pong" && m.asked != "" && m.asked != m.from {
		if o := n.find(m.asked); o != nil && o.addr == m.addr {
			o.addr = "" // another server is there by now
		}
	}
	_, greeted := n.meets[m.addr]
	if sender == nil && (m.kind == "meet" || m.kind == "pong" && greeted) {
		sender = n.add(m.from, m.addr)
		sender.master = m.master
	}
	if m.kind == "pong" {
		delete(n.meets, m.addr)
	}
	if m.kind == "ping" || m.kind == "meet" {
		n.send("pong", m.addr, func(p *packet) { p.asked = m.asked })
	}
	if sender == nil || sender == n.self {
		return
	}
	sender.heard, sender.offset, sender.addr = now, m.offset, m.addr
	n.epoch = max(n.epoch, m.epoch)
	sender.config = max(sender.config, m.config)
	switch m.kind {
	case "pong":
		sender.ponged, sender.pinged = now, time.Time{}
		n.answered(sender)
		fallthrough
	case "ping", "meet":
		n.claims(sender, m)
		n.listen(sender, m.rumours)
	case "fail":
		if o := n.find(m.about.id); o != nil && o != n.self && !o.fail {
			n.fails(o)
		}
	case "update":
		o := n.find(m.about.id)
		if o == nil || o.config >= m.about.config {
			return
		}
		o.master, o.config = "", m.about.config
		if o != n.self {
			n.take(o, o.config, &m.about.slots)
		}
	case "hold":
		n.holdFor(sender)
	case "ask":
		n.vote(sender, m)
	case "vote":
		n.counts(sender, m)
	case "publish":
		n.s.deliver(m.says)
	}
	n.state()
}

// claims takes over who the sender says that it is, and which slots it has.
func (n *node) claims(sender *nodeView, m *packet) {
	if n.takeover.ours && n.self.master == sender.id && m.holds && n.takeover.offset < 0 {
		n.takeover.offset = m.offset
	}
	if m.master != "" && sender.master == "" { // it was a master
		sender.slots.each(func(slot uint16) bool { n.give(slot, nil); return true })
	}
	sender.master = m.master
	of := sender
	if sender.master != "" {
		of = n.find(sender.master)
	}
	if of != nil && (of.slots != m.slots || n.unclaimed != (slotSet{})) {
		if of == sender {
			n.take(sender, m.config, &m.slots)
		}
		m.slots.each(func(slot uint16) bool { // what it claims may be known to be another's
			o := n.owner(slot)
			if o == nil || o == sender || o == of || o.config <= m.config || n.unclaimed.has(slot) {
				return true
			}
			about := *o
			n.send("update", sender.addr, func(p *packet) { p.about = &about })
			return false
		})
	}
	if sender.master == "" && n.self.master == "" && m.config == n.self.config && n.id < sender.id {
		n.epoch++
		n.self.config = n.epoch
	}
}

// take gives a master the slots that it claims, unless a newer claim is known.
func (n *node) take(sender *nodeView, config int64, claimed *slotSet) {
	mine := n.self
	if n.self.master != "" {
		mine = n.find(n.self.master)
	}
	var dirty []uint16
	moved := 0
	claimed.each(func(slot uint16) bool {
		o := n.owner(slot)
		if o == sender {
			n.unclaimed.set(slot, false)
			return true
		}
		if _, importing := n.importing[slot]; importing || o != nil && o.config >= config && !n.unclaimed.has(slot) {
			return true
		}
		if o == n.self && len(n.keys(slot, 1)) > 0 {
			dirty = append(dirty, slot)
		}
		if o != nil && o == mine {
			moved++
		}
		n.give(slot, sender)
		return true
	})
	for i := range claimed {
		n.unclaimed[i] |= sender.slots[i] &^ claimed[i]
	}
	switch {
	case moved > 0 && mine.slots.none() && (n.c.Empties || moved == claimed.count()):
		n.follow(sender)
	case len(dirty) > 0:
		for _, slot := range dirty {
			for _, k := range n.keys(slot, slotCount) {
				n.s.delete(k, nil)
				n.s.gone(k, "of another's slot")
			}
		}
		n.s.commit()
	}
	for _, slot := range sorted(n.migrating) {
		if !n.self.slots.has(slot) {
			delete(n.migrating, slot)
		}
	}
}

// listen takes what a member says of others.
func (n *node) listen(sender *nodeView, rumours []rumour) {
	for _, r := range rumours {
		m := n.find(r.id)
		if m != nil && (m.pfail || m.fail) && !r.silent {
			m.addr = r.addr // where the member that hears of it reaches it
		}
		switch {
		case m == n.self:
		case m == nil:
			if time.Now().After(n.forgot[r.id]) {
				n.meet(r.addr)
			}
		case sender.master == "":
			m.reports = slices.DeleteFunc(m.reports, func(x report) bool { return x.by == sender.id })
			if r.silent {
				m.reports = append(m.reports, report{sender.id, time.Now()})
				n.judge(m)
			}
		}
	}
}

// spread passes a message that was published here to the other nodes; a sharded one to
// those of this shard.
func (n *node) spread(m message) {
	for _, o := range n.known {
		if o == n.self || m.sharded && o.master != n.id && o.id != n.self.master && (o.master == "" || o.master != n.self.master) {
			continue
		}
		n.send("publish", o.addr, func(p *packet) { p.says = m })
	}
}
