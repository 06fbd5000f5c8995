package simredis

import (
	"slices"
	"time"
)

// link leads from a master to a replica.
type link struct {
	from, to *Server
	copying  bool // the copy was begun, and what follows is kept for it
	bulk     bool // the copy is on its way
	online   bool
	over     bool
	acked    int64
	heard    time.Time // by the master
	talked   time.Time // to the replica
	last     time.Time // when what was sent last arrives
	Lag      time.Duration
	held     []arrival // what is on its way, or was held back
	stalled  bool
}

type arrival struct {
	at time.Time
	f  func()
}

// replTimeout ends a link in which one end was silent.
const replTimeout = time.Minute

func (l *link) state() string {
	switch {
	case l.online:
		return "connected"
	case l.copying:
		return "sync"
	case l.over:
		return "connect"
	}
	return "connecting"
}

// stuck tells whether nothing passes.
func (l *link) stuck() bool {
	return l.stalled || l.to.Paused || l.to.down || l.from.w.Between(hostOf(l.to.Addr), l.from.Addr).Blocked
}

// send calls f when what is sent now has arrived.
func (l *link) send(f func()) {
	w := l.from.w
	at := time.Now().Add(l.Lag + 20*time.Microsecond + time.Duration(w.Rand.Int64N(int64(300*time.Microsecond))))
	if !at.After(l.last) {
		at = l.last.Add(2 * time.Microsecond)
	}
	l.last = at
	l.held = append(l.held, arrival{at, f})
	w.After(time.Until(at), l.drain)
}

// drain lets pass what has come.
func (l *link) drain() {
	now := time.Now()
	for len(l.held) > 0 && !l.over && !l.stuck() && !l.held[0].at.After(now) {
		f := l.held[0].f
		l.held = l.held[1:]
		l.talked = now
		f()
	}
}

// Stall holds back the stream to a replica, or lets it go on. A stalled replica stays
// connected and says nothing, until the master has had enough of it.
func (s *Server) Stall(stalled bool) {
	s.stalled = stalled
	if l := s.link; l != nil {
		l.stalled = stalled
		l.drain()
	}
}

// Lag sets how late a replica is.
func (s *Server) Lag(d time.Duration) {
	s.lag = d
	if s.link != nil {
		s.link.Lag = d
	}
}

// ack asks a replica for its offset, and takes the answer.
func (l *link) ack() {
	l.send(func() {
		if l.to.link != l || !l.online {
			return
		}
		at := l.to.offset
		l.from.w.After(100*time.Microsecond, func() {
			if !l.over && !l.from.down && !l.from.Paused {
				l.acked, l.heard = max(l.acked, at), time.Now()
				l.from.acknowledged()
			}
		})
	})
}

// broken ends a link. The replica keeps asking its master.
func (l *link) broken() {
	if l.over {
		return
	}
	l.over, l.online, l.copying = true, false, false
	l.from.replicas = slices.DeleteFunc(l.from.replicas, func(o *link) bool { return o == l })
	l.again()
}

// again connects the replica once more, a second later.
func (l *link) again() {
	to := l.to
	to.w.After(time.Second, func() {
		if to.link == l && to.master == l.from && !to.down {
			if to.Paused {
				l.again()
				return
			}
			to.connect()
		}
	})
}

// connect asks the master for what it lacks.
func (s *Server) connect() {
	m := s.master
	l := &link{from: m, to: s, heard: time.Now(), talked: time.Now(), Lag: s.lag, stalled: s.stalled}
	s.link = l
	if m.down || m.Paused || m.Loading || l.stuck() || m.master != nil && (m.link == nil || !m.link.online) {
		l.over = true
		l.again()
		return
	}
	m.replicas = append(m.replicas, l)
	m.backlogged = true
	l.beat()
	if missing, ok := m.since(s.history, s.offset); ok {
		l.online = true
		s.follow(m)
		for _, sent := range missing {
			l.send(func() { s.apply(l, sent) })
		}
		return
	}
	w := s.w
	delay, takes := s.SyncDelay, s.CopyTime
	if delay == 0 {
		delay = 50*time.Millisecond + time.Duration(w.Rand.Int64N(int64(100*time.Millisecond)))
	}
	if takes == 0 {
		takes = time.Duration(w.Rand.Int64N(int64(100 * time.Millisecond)))
	}
	w.After(delay, func() { l.copy(takes) })
}

// copy begins a full copy: what the master has now arrives, and behind it what follows.
func (l *link) copy(takes time.Duration) {
	m, s := l.from, l.to
	if l.over || s.link != l {
		return
	}
	if m.Paused {
		m.w.After(100*time.Millisecond, func() { l.copy(takes) })
		return
	}
	l.copying, l.bulk = true, true
	db, offset, at := make(map[string]*entry, len(m.db)), m.offset, time.Now()
	for k, e := range m.db {
		db[k] = e.clone()
	}
	l.last = time.Now().Add(takes)
	l.send(func() {
		if s.link != l {
			return
		}
		s.db, s.offset, s.followed = db, offset, at
		s.forgetTracked()
		l.online, l.bulk = true, false
		s.follow(m)
	})
}

// follow takes the master's history for its own. Its own replicas have to ask anew.
func (s *Server) follow(m *Server) {
	if s.history != m.history {
		s.backlog = nil
		for _, l := range slices.Clone(s.replicas) {
			l.broken()
		}
	}
	s.history, s.former, s.formerTill = m.history, m.former, m.formerTill
}

// since returns what a replica lacks that has this much of a history; ok: that is known.
func (s *Server) since(history string, offset int64) (missing []sent, ok bool) {
	if history != s.history && (history != s.former || offset > s.formerTill) || offset > s.offset {
		return nil, false
	}
	first := s.offset - int64(len(s.backlog))
	if offset < first {
		return nil, false
	}
	return slices.Clone(s.backlog[offset-first:]), true
}

// beat is what both ends send each second, and where they notice that the other is silent.
func (l *link) beat() {
	w := l.from.w
	if l.over {
		return
	}
	silent := time.Since(l.heard) > replTimeout
	if !l.from.Paused && silent || !l.to.Paused && time.Since(l.talked) > replTimeout {
		w.Note("%s and %s: replication timeout", l.from.Addr, l.to.Addr)
		l.broken()
		return
	}
	l.drain()
	if l.online && !l.from.Paused && !l.from.down {
		l.ack()
	} else if !l.stuck() {
		l.heard, l.talked = time.Now(), time.Now()
	}
	w.After(time.Second, l.beat)
}
