package simredis

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	tickFast   = 100 * time.Millisecond
	tickSlow   = 500 * time.Millisecond // while all is well
	helloEvery = 2 * time.Second
	infoEvery  = 10 * time.Second
	askEvery   = time.Second
	tiltAfter  = 2 * time.Second
	tiltLasts  = 30 * time.Second
)

// tick looks at all that the Sentinel watches.
func (s *Sentinel) tick() {
	if s.down {
		s.ticking = false
		return
	}
	d := tickSlow
	if !s.Paused && s.watched != nil {
		now := time.Now()
		if now.Sub(s.ticked) > tiltAfter {
			s.tilt = now.Add(tiltLasts)
			s.say("+tilt", nil, "#tilt mode entered")
		} else if !s.tilt.IsZero() && now.After(s.tilt) {
			s.tilt = time.Time{}
			s.say("-tilt", nil, "#tilt mode exited")
		}
		s.ticked = now
		if s.look() {
			d = tickFast
		}
	}
	s.w.After(d+time.Duration(s.w.Rand.Int64N(int64(d/5))), s.tick)
}

// look reports whether something is amiss.
func (s *Sentinel) look() (amiss bool) {
	m, now := s.watched, time.Now()
	for _, v := range append([]*view{m.master}, m.replicas...) {
		s.ping(v)
		if s.watched != m {
			return true
		}
		every := infoEvery
		if v != m.master && (m.master.objective || m.state != noFailover || !v.linkUp) {
			every = time.Second
		}
		if now.Sub(v.asked) >= every {
			v.asked = now
			s.learn(v)
		}
		amiss = amiss || v.down || now.Sub(v.heard) > time.Second || !v.isMaster && v == m.master || v.isMaster && v != m.master
	}
	for _, o := range m.sentinels {
		if s.reaches(o.addr) != nil {
			o.heard = now
		}
		if down := now.Sub(o.heard) > m.downAfter; down != o.down {
			o.down = down
			s.say(sign(down)+"sdown", o, "")
		}
	}
	if now.Sub(s.helloAt) >= helloEvery {
		s.hello()
	}
	if s.watched != m || !s.tilt.IsZero() {
		return true
	}
	s.objective()
	if m.master.objective && m.state == noFailover && now.Sub(m.started) > 2*m.failoverTimeout {
		s.startFailover()
		s.ask(true)
	}
	s.step()
	if s.watched == m && m.master.down {
		s.ask(false)
	}
	return amiss || m.state != noFailover || m.master.objective
}

func sign(on bool) string {
	if on {
		return "+"
	}
	return "-"
}

// ping asks a server whether it is there.
func (s *Sentinel) ping(v *view) {
	m, now := s.watched, time.Now()
	t := s.reaches(v.addr)
	switch {
	case t == nil:
	case t.Busy:
		if v.down {
			t.Busy = false // SCRIPT KILL
		}
	case !t.Broken:
		v.heard = now
	}
	down := now.Sub(v.heard) > m.downAfter || v == m.master && !v.isMaster && now.Sub(v.roleSince) > m.downAfter+2*infoEvery
	if down == v.down {
		return
	}
	if v.down = down; down {
		v.downSince = now
	}
	s.say(sign(down)+"sdown", v, "")
}

// objective decides whether enough Sentinels call the master down.
func (s *Sentinel) objective() {
	m := s.watched
	votes := 0
	if m.master.down {
		votes = 1
		for _, o := range m.sentinels {
			if o.masterDown {
				votes++
			}
		}
	}
	switch enough := m.master.down && votes >= m.quorum; {
	case enough && !m.master.objective:
		m.master.objective = true
		s.say("+odown", m.master, fmt.Sprintf("#quorum %d/%d", votes, m.quorum))
	case !enough && m.master.objective:
		m.master.objective = false
		s.say("-odown", m.master, "")
	}
}

// learn is INFO: what a server says of itself.
func (s *Sentinel) learn(v *view) {
	m, now := s.watched, time.Now()
	t := s.reaches(v.addr)
	if t == nil || t.Busy || t.sentinel != nil {
		return
	}
	v.info = now
	if v.runID != t.runID {
		if v.runID != "" {
			s.say("+reboot", v, "")
		}
		v.runID = t.runID
	}
	if master := t.master == nil; master != v.isMaster {
		v.isMaster, v.roleSince = master, now
		role := "slave"
		if master {
			role = "master"
		} else {
			v.confSince = now
		}
		s.say(sign(master == (v == m.master))+"role-change", v, "new reported role is "+role)
	}
	if t.master != nil {
		if v.follows != t.master.Addr {
			v.follows, v.confSince = t.master.Addr, now
		}
		if up := t.link.online; up != v.linkUp {
			v.linkUp, v.linkSince = up, now
		}
		v.offset = t.offset
	} else if v == m.master {
		for _, l := range t.replicas {
			if !slices.ContainsFunc(m.replicas, func(o *view) bool { return o.addr == l.to.Addr }) {
				s.add(l.to.Addr)
			}
		}
	}
	if s.tilt.IsZero() && v != m.master {
		s.mend(v)
	}
}

func (s *Sentinel) add(addr string) {
	v := newView(addr, false)
	s.watched.replicas = append(s.watched.replicas, v)
	s.say("+slave", v, "")
}

// mend changes a replica that does not follow the master.
func (s *Sentinel) mend(v *view) {
	m, now := s.watched, time.Now()
	sane := m.master.isMaster && !m.master.down && !m.master.objective && now.Sub(m.master.info) < 2*infoEvery
	calm := func(d time.Duration) bool { return v.downSince.IsZero() || now.Sub(v.downSince) > d }
	const patience = 4 * helloEvery
	switch {
	case v.isMaster && v == m.promoted && m.state == waitPromotion:
		m.epoch = m.failoverEpoch
		m.become(reconfReplicas)
		s.say("+promoted-slave", v, "")
		s.say("+failover-state-reconf-slaves", m.master, "")
		s.names()
		s.helloAt = time.Time{} // tell the others at once
	case v.isMaster && v != m.promoted && sane && calm(patience) && now.Sub(v.roleSince) > patience:
		s.say("+convert-to-slave", v, "")
		s.order(v, m.master.addr)
	case !v.isMaster && v.follows != m.master.addr && m.state == noFailover && sane && calm(m.failoverTimeout) && now.Sub(v.confSince) > m.failoverTimeout:
		s.say("+fix-slave-config", v, "")
		s.order(v, m.master.addr)
	case v.reconf == reconfSent && m.promoted != nil && v.follows == m.promoted.addr:
		v.reconf = reconfGoing
		s.say("+slave-reconf-inprog", v, "")
	}
	if v.reconf == reconfGoing && v.linkUp {
		v.reconf = reconfDone
		s.say("+slave-reconf-done", v, "")
	}
}

// order is SLAVEOF, which ends the connections of the server's clients. A server that
// stands still obeys when it goes on, whatever has become of the failover.
func (s *Sentinel) order(v *view, master string) {
	s.w.After(200*time.Microsecond, func() {
		t := at(s.w, v.addr)
		if t.down || s.down || s.w.Between(hostOf(s.Addr), v.addr).Blocked {
			return
		}
		obey := func() {
			if master == "" {
				t.SlaveOf(nil)
			} else {
				t.SlaveOf(at(s.w, master))
			}
			t.killAll(func(*client) bool { return true }, nil)
		}
		if t.Paused {
			t.orders = append(t.orders, obey)
			return
		}
		obey()
	})
}

// hello tells the other Sentinels of itself and of its master, by way of the servers and directly.
func (s *Sentinel) hello() {
	m := s.watched
	s.helloAt = time.Now()
	var servers []*Server
	for _, v := range append([]*view{m.master}, m.replicas...) {
		if t := s.reaches(v.addr); t != nil {
			servers = append(servers, t)
		}
	}
	addr, epoch := m.masterAddr(), m.epoch
	told := map[*Sentinel]bool{s: true}
	tell := func(o *Sentinel) {
		if o != nil && !told[o] && o.watched != nil && o.watched.name == m.name && !o.down && !o.Paused {
			told[o] = true
			o.hears(s, addr, epoch)
		}
	}
	for _, o := range s.w.Handlers() {
		if x, ok := o.(*Server); ok && x.sentinel != nil && x.sentinel.watched != nil {
			for _, t := range servers {
				if x.sentinel.follows(t.Addr) && x.sentinel.reaches(t.Addr) != nil {
					tell(x.sentinel)
					break
				}
			}
		}
	}
	for _, o := range m.sentinels {
		if t := s.reaches(o.addr); t != nil {
			tell(t.sentinel)
		}
	}
}

// follows tells whether it listens at a server.
func (s *Sentinel) follows(addr string) bool {
	m := s.watched
	return m.master.addr == addr || slices.ContainsFunc(m.replicas, func(v *view) bool { return v.addr == addr })
}

// hears takes another Sentinel's message.
func (s *Sentinel) hears(from *Sentinel, master string, epoch int64) {
	m := s.watched
	i := slices.IndexFunc(m.sentinels, func(o *other) bool { return o.id == from.id && o.addr == from.Addr })
	if i < 0 {
		o := &other{addr: from.Addr, id: from.id, heard: time.Now()}
		if j := slices.IndexFunc(m.sentinels, func(o *other) bool { return o.id == from.id }); j >= 0 {
			m.sentinels = slices.Delete(m.sentinels, j, j+1)
			s.say("+sentinel-address-switch", m.master, fmt.Sprintf("ip %s", strings.ReplaceAll(from.Addr, ":", " port ")))
		} else {
			for _, x := range m.sentinels {
				if x.addr == from.Addr { // its address is not known any more
					s.say("+sentinel-invalid-addr", x, "")
					x.addr = hostOf(x.addr) + ":0"
				}
			}
			s.say("+sentinel", o, "")
		}
		m.sentinels = append(m.sentinels, o)
		i = len(m.sentinels) - 1
	}
	o := m.sentinels[i]
	o.helloAt = time.Now()
	s.raise(from.epoch)
	if epoch <= m.epoch {
		return
	}
	m.epoch = epoch
	if master != m.master.addr {
		s.say("+config-update-from", o, "")
		s.switchTo(master)
	}
}

func (s *Sentinel) raise(epoch int64) {
	if epoch > s.epoch {
		s.epoch = epoch
		s.say("+new-epoch", nil, fmt.Sprint(epoch))
	}
}

// switchTo makes another server the master. The former one is a replica from now on.
func (s *Sentinel) switchTo(master string) {
	m := s.watched
	s.say("+switch-master", nil, m.name+" "+spaced(m.master.addr)+" "+spaced(master))
	former := m.master.addr
	var replicas []string
	for _, v := range m.replicas {
		if v.addr != master {
			replicas = append(replicas, v.addr)
		}
	}
	if former != master {
		replicas = append(replicas, former)
	}
	m.failover, m.leader = failover{}, ""
	m.master, m.replicas = newView(master, true), nil
	for _, addr := range replicas {
		s.add(addr)
	}
	s.names()
}
