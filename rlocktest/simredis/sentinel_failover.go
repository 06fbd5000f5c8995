package simredis

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// state is how far a failover has come.
type state uint8

const (
	noFailover state = iota
	waitStart
	selectReplica
	sendNoOne
	waitPromotion
	reconfReplicas
	updateConfig
)

// failover is one that a Sentinel leads, or wants to.
type failover struct {
	state         state
	stateSince    time.Time
	started       time.Time // when it begins; nobody tries again for twice the timeout
	failoverEpoch int64
	forced        bool // by SENTINEL FAILOVER, without a vote
	promoted      *view
}

func (m *watched) become(s state) { m.state, m.stateSince = s, time.Now() }

func (s *Sentinel) desync() time.Duration {
	return time.Duration(s.w.Rand.Int64N(int64(time.Second)))
}

func (s *Sentinel) startFailover() {
	m := s.watched
	s.epoch++
	m.failoverEpoch, m.forced, m.promoted = s.epoch, false, nil
	m.started = time.Now().Add(s.desync())
	m.become(waitStart)
	s.say("+new-epoch", nil, fmt.Sprint(s.epoch))
	s.say("+try-failover", m.master, "")
}

func (s *Sentinel) abort(why string) {
	m := s.watched
	s.say("-failover-abort-"+why, m.master, "")
	m.forced, m.promoted = false, nil
	m.become(noFailover)
}

// ask asks the other Sentinels whether the master is down, and for their votes.
func (s *Sentinel) ask(now bool) {
	m := s.watched
	for _, o := range m.sentinels {
		if age := time.Since(o.saidAt); age > 5*askEvery {
			o.masterDown, o.leader = false, ""
		} else if !now && age < askEvery {
			continue
		}
		candidate := ""
		if m.state != noFailover {
			candidate = s.id
		}
		addr, epoch := m.master.addr, s.epoch
		s.w.After(300*time.Microsecond, func() {
			t := s.reaches(o.addr)
			if t == nil || t.sentinel == nil || s.down {
				return
			}
			down, leader, leaderEpoch := t.sentinel.answers(addr, epoch, candidate)
			s.w.After(300*time.Microsecond, func() {
				if s.down || s.Paused {
					return
				}
				o.masterDown, o.saidAt = down, time.Now()
				if leader != "" {
					o.leader, o.leaderEpoch = leader, leaderEpoch
				}
			})
		})
	}
}

// answers is SENTINEL IS-MASTER-DOWN-BY-ADDR.
func (s *Sentinel) answers(addr string, epoch int64, candidate string) (down bool, leader string, leaderEpoch int64) {
	m := s.watched
	if m == nil || m.master.addr != addr {
		return false, "", 0
	}
	if candidate != "" {
		leader, leaderEpoch = s.vote(epoch, candidate)
	}
	return m.master.down && s.tilt.IsZero(), leader, leaderEpoch
}

// vote elects the first candidate of an epoch.
func (s *Sentinel) vote(epoch int64, candidate string) (leader string, of int64) {
	m := s.watched
	s.raise(epoch)
	if m.leaderEpoch < epoch && s.epoch <= epoch {
		m.leader, m.leaderEpoch = candidate, s.epoch
		s.say("+vote-for-leader", nil, fmt.Sprintf("%s %d", candidate, m.leaderEpoch))
		if candidate != s.id { // it does not try by itself for a while
			m.started = time.Now().Add(s.desync())
		}
	}
	return m.leader, m.leaderEpoch
}

// elected returns the Sentinel that has enough votes.
func (s *Sentinel) elected(epoch int64) string {
	m := s.watched
	votes := map[string]int{}
	best := func() (winner string) {
		for id, n := range votes {
			if winner == "" || n > votes[winner] || n == votes[winner] && id < winner {
				winner = id
			}
		}
		return winner
	}
	for _, o := range m.sentinels {
		if o.leader != "" && o.leaderEpoch == s.epoch {
			votes[o.leader]++
		}
	}
	mine, of := s.vote(epoch, cmp.Or(best(), s.id))
	if mine != "" && of == epoch {
		votes[mine]++
	}
	winner := best()
	if voters := len(m.sentinels) + 1; winner != "" && votes[winner] >= voters/2+1 && votes[winner] >= m.quorum {
		return winner
	}
	return ""
}

// step brings a failover one step on.
func (s *Sentinel) step() {
	m, now := s.watched, time.Now()
	late := now.Sub(m.stateSince) > m.failoverTimeout
	switch m.state {
	case waitStart:
		if !m.forced && s.elected(m.failoverEpoch) != s.id {
			if now.Sub(m.started) > min(10*time.Second, m.failoverTimeout) {
				s.abort("not-elected")
			}
			return
		}
		s.say("+elected-leader", m.master, "")
		m.become(selectReplica)
		s.say("+failover-state-select-slave", m.master, "")
	case selectReplica:
		best := s.best()
		if best == nil {
			s.abort("no-good-slave")
			return
		}
		s.say("+selected-slave", best, "")
		m.promoted = best
		m.become(sendNoOne)
		s.say("+failover-state-send-slaveof-noone", best, "")
	case sendNoOne:
		if s.closed(m.promoted.addr) {
			if late {
				s.abort("slave-timeout")
			}
			return
		}
		s.order(m.promoted, "")
		m.become(waitPromotion)
		s.say("+failover-state-wait-promotion", m.promoted, "")
	case waitPromotion:
		if late {
			s.abort("slave-timeout")
		}
	case reconfReplicas:
		s.reconfigure(late)
	case updateConfig:
		s.switchTo(m.promoted.addr)
	}
}

// best is the replica that is fit to be the master.
func (s *Sentinel) best() (best *view) {
	m, now := s.watched, time.Now()
	fresh := 3 * infoEvery
	if m.master.down {
		fresh = 5 * time.Second
	}
	linkDown := 10 * m.downAfter
	if m.master.down {
		linkDown += now.Sub(m.master.downSince)
	}
	for _, v := range m.replicas {
		switch {
		case v.down || s.closed(v.addr) || now.Sub(v.heard) > 5*time.Second || now.Sub(v.info) > fresh || v.isMaster:
		case !v.linkUp && now.Sub(v.linkSince) > linkDown:
		case best == nil || v.offset > best.offset || v.offset == best.offset && v.runID < best.runID:
			best = v
		}
	}
	return best
}

// reconfigure makes the other replicas follow the new master, one after the other.
func (s *Sentinel) reconfigure(late bool) {
	m, now := s.watched, time.Now()
	left, going := 0, 0
	for _, v := range m.replicas {
		if v != m.promoted && v.reconf != reconfDone && !v.down {
			left++
		}
		if v.reconf == reconfSent && now.Sub(v.reconfAt) > 10*time.Second {
			s.say("-slave-reconf-sent-timeout", v, "")
			v.reconf = notAsked
		}
		going += int(bit(v.reconf == reconfSent || v.reconf == reconfGoing))
	}
	switch {
	case left > 0 && !late:
		i := slices.IndexFunc(m.replicas, func(v *view) bool {
			return v != m.promoted && v.reconf == notAsked && !s.closed(v.addr)
		})
		if going == 0 && i >= 0 {
			v := m.replicas[i]
			v.reconf, v.reconfAt = reconfSent, now
			s.order(v, m.promoted.addr)
			s.say("+slave-reconf-sent", v, "")
		}
		return
	case late:
		s.say("+failover-end-for-timeout", m.master, "")
		for _, v := range m.replicas {
			if v != m.promoted && v.reconf == notAsked {
				s.order(v, m.promoted.addr)
			}
		}
	}
	s.say("+failover-end", m.master, "")
	m.become(updateConfig)
}
