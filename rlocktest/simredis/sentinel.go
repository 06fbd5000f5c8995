package simredis

import (
	"slices"
	"strings"
	"time"
)

// Sentinel is a process that watches one master with its replicas, and what it believes of
// them. It hears of other Sentinels by their messages only.
type Sentinel struct {
	*Server
	id      string
	epoch   int64
	watched *watched  // nil: it was told to watch nothing
	ticked  time.Time // when it looked last
	tilt    time.Time // until when it acts on nothing, since its clock jumped
	helloAt time.Time
	ticking bool
	changed func() // is called when it may name another master, or begins or ends; nil: nobody
}

// names is called when the Sentinel may name another master.
func (s *Sentinel) names() {
	if s.changed != nil {
		s.changed()
	}
}

// watched is a master as one Sentinel sees it.
type watched struct {
	name            string
	quorum          int
	downAfter       time.Duration
	failoverTimeout time.Duration

	epoch     int64 // of the configuration
	master    *view
	replicas  []*view
	sentinels []*other

	leader      string // whom this Sentinel has elected
	leaderEpoch int64

	failover
}

// view is what a Sentinel knows of a server.
type view struct {
	addr      string
	runID     string
	heard     time.Time // the last good answer
	down      bool
	downSince time.Time
	objective bool // enough Sentinels call it down; of masters only

	asked     time.Time // for INFO
	info      time.Time // when it answered that
	isMaster  bool      // as it says
	roleSince time.Time
	follows   string
	confSince time.Time // since when it follows that
	linkUp    bool
	linkSince time.Time // since when not
	offset    int64

	reconf   reconf
	reconfAt time.Time
}

type reconf uint8

const (
	notAsked reconf = iota
	reconfSent
	reconfGoing
	reconfDone
)

// other is another Sentinel.
type other struct {
	addr, id    string
	heard       time.Time
	helloAt     time.Time
	down        bool
	masterDown  bool // it said so
	saidAt      time.Time
	leader      string
	leaderEpoch int64
}

func newView(addr string, master bool) *view {
	now := time.Now()
	return &view{addr: addr, heard: now, isMaster: master, roleSince: now, confSince: now, linkUp: true}
}

// newSentinel makes one that watches a master of which it knows the address.
func newSentinel(s *Server, name, master string, quorum int, downAfter, failoverTimeout time.Duration) *Sentinel {
	x := &Sentinel{Server: s, id: s.randomID()}
	s.sentinel = x
	x.watch(name, master, quorum, downAfter, failoverTimeout)
	x.started()
	return x
}

func (s *Sentinel) watch(name, master string, quorum int, downAfter, failoverTimeout time.Duration) {
	s.watched = &watched{name: name, quorum: quorum, downAfter: downAfter, failoverTimeout: failoverTimeout, master: newView(master, true)}
}

// started is the begin of the process, which has kept its configuration. That names the promoted server as the master, and
// the former one in its place, as soon as the Sentinel does.
func (s *Sentinel) started() {
	if m := s.watched; m != nil {
		fresh := *m
		fresh.failover, fresh.master, fresh.replicas, fresh.sentinels = failover{}, newView(m.masterAddr(), true), nil, nil
		for _, v := range m.replicas {
			addr := v.addr
			if addr == fresh.master.addr {
				addr = m.master.addr
			}
			fresh.replicas = append(fresh.replicas, newView(addr, false))
		}
		for _, o := range m.sentinels {
			fresh.sentinels = append(fresh.sentinels, &other{addr: o.addr, id: o.id, heard: time.Now()})
		}
		s.watched = &fresh
	}
	s.names()
	s.ticked, s.tilt = time.Now(), time.Time{}
	if !s.ticking {
		s.ticking = true
		s.w.After(time.Duration(s.w.Rand.Int64N(int64(500*time.Millisecond))), s.tick)
	}
}

func (s *Sentinel) resumed() {}

// Remembered is what a Sentinel has in its file.
type Remembered struct {
	epoch   int64
	watched *watched
}

// Remember returns what it has in its file now. One that starts with it later has old data.
func (s *Sentinel) Remember() Remembered {
	r := Remembered{epoch: s.epoch}
	if s.watched != nil {
		m := *s.watched
		m.replicas, m.sentinels = slices.Clone(m.replicas), slices.Clone(m.sentinels)
		r.watched = &m
	}
	return r
}

// StartRemembering starts it again with a file of its own, new or old.
func (s *Sentinel) StartRemembering(r Remembered) {
	s.epoch, s.watched = r.epoch, r.watched
	s.Start(false)
}

// StartAnew starts it again as a Sentinel that has never been there. It knows the address of
// a master, and nothing else.
func (s *Sentinel) StartAnew(master string) {
	m := s.watched
	s.id, s.epoch = s.randomID(), 0
	s.watch(m.name, master, m.quorum, m.downAfter, m.failoverTimeout)
	s.Start(false)
}

func (s *Sentinel) reaches(addr string) *Server {
	if t := at(s.w, addr); !t.down && !t.Paused && !s.w.Between(hostOf(s.Addr), addr).Blocked && !s.w.Between(hostOf(addr), s.Addr).Blocked {
		return t
	}
	return nil
}

// masterAddr is the address that the Sentinel gives for its master.
func (m *watched) masterAddr() string {
	if m.promoted != nil && m.state >= reconfReplicas {
		return m.promoted.addr
	}
	return m.master.addr
}

// say publishes an event. Without an instance the text is all of it.
func (s *Sentinel) say(event string, about any, text string) {
	m := s.watched
	line := text
	switch v := about.(type) {
	case *view:
		if v == m.master {
			line = "master " + m.name + " " + spaced(v.addr)
		} else {
			line = "slave " + v.addr + " " + spaced(v.addr) + " @ " + m.name + " " + spaced(m.master.addr)
		}
		if text != "" {
			line += " " + text
		}
	case *other:
		line = "sentinel " + v.id + " " + spaced(v.addr) + " @ " + m.name + " " + spaced(m.master.addr)
	}
	s.w.Note("%s says %s %s", s.Addr, event, line)
	s.deliver(message{channel: event, text: line})
}

func spaced(addr string) string { return strings.Replace(addr, ":", " ", 1) }
