package simredis

import (
	"slices"
	"time"
)

// replication is what a server knows of its replicas and of its master.
type replication struct {
	master   *Server // nil: it is a master
	link     *link   // to master
	replicas []*link

	// A history has an id. A promoted server continues the one that it has followed.
	history, former string
	formerTill      int64
	offset          int64
	backlogged      bool // it has had a replica, so that it keeps what it sends
	backlog         []sent
	said            []message // by the command that runs
	followed        time.Time // when the newest change was made that came from a master

	SyncDelay time.Duration // until a full copy begins
	CopyTime  time.Duration // that it takes
	lag       time.Duration
	stalled   bool
}

// backlogLasts is how many commands a replica may be behind without a full copy.
const backlogLasts = 256

func (r *replication) reset(history string) {
	for _, l := range slices.Clone(r.replicas) {
		l.broken()
	}
	*r = replication{
		master: r.master, history: history, backlogged: r.master != nil, SyncDelay: r.SyncDelay, CopyTime: r.CopyTime, lag: r.lag, stalled: r.stalled,
	}
}

// op is what a command made of a key; a nil entry: nothing is left.
type op struct {
	key   string
	entry *entry // never changed
}

// sent is what one command sends to the replicas.
type sent struct {
	at     time.Time // of the command
	offset int64
	ops    []op
	says   []message
}

// commit ends a command: its changes go to the replicas.
func (s *Server) commit() {
	if len(s.dirty)+len(s.said) == 0 {
		return
	}
	m := sent{at: time.Now(), offset: s.offset + 1, says: s.said}
	if len(s.dirty) > 0 {
		m.ops = make([]op, len(s.dirty))
		for i, k := range s.dirty {
			m.ops[i].key = k
			if e := s.db[k]; e != nil {
				m.ops[i].entry = e.clone()
			}
		}
	}
	s.dirty, s.said = s.dirty[:0], nil
	s.propagate(m)
}

// propagate sends on what has happened.
func (s *Server) propagate(m sent) {
	s.offset = m.offset
	if s.backlog = append(s.backlog, m); len(s.backlog) >= 2*backlogLasts {
		s.backlog = slices.Clone(s.backlog[backlogLasts:])
	}
	for _, l := range s.replicas {
		if l.copying || l.online {
			l.send(func() { l.to.apply(l, m) })
		}
	}
}

// apply does what the master has done.
func (s *Server) apply(l *link, m sent) {
	if s.link != l || m.offset <= s.offset {
		return
	}
	for _, o := range m.ops {
		if o.entry == nil {
			delete(s.db, o.key)
		} else {
			s.db[o.key] = o.entry.clone()
		}
		s.invalidate(o.key, nil)
	}
	for _, said := range m.says {
		s.deliver(said)
	}
	s.followed = m.at
	s.propagate(m)
}

// Replicated is how much of its history the server has.
func (s *Server) Replicated() int64 { return int64(s.offset) }

// SlaveOf makes it a replica of m, or a master if that is nil.
func (s *Server) SlaveOf(m *Server) {
	if s.master == m {
		return
	}
	s.master = m
	if s.link != nil {
		s.link.broken()
		s.link = nil
	}
	s.dirty, s.said = nil, nil
	for _, l := range slices.Clone(s.replicas) {
		l.broken()
	}
	s.w.Note("%s follows %s", s.Addr, addrOf(m))
	if m == nil {
		s.former, s.formerTill, s.history = s.history, s.offset, s.randomID()
		s.revive()
		return
	}
	for _, c := range slices.Clone(s.peers) {
		if c.wait != nil {
			c.wait.end.Stop()
			c.wait = nil
			c.out = appendReply(c.out, Error("UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)"))
			c.end()
		}
	}
	s.backlogged = true
	s.connect()
}

func addrOf(s *Server) string {
	if s == nil {
		return "no one"
	}
	return s.Addr
}

// good is how many replicas have been heard of lately.
func (s *Server) good() (n int) {
	for _, l := range s.replicas {
		if l.online && time.Since(l.heard) <= 10*time.Second {
			n++
		}
	}
	return n
}
