package simulation

import (
	"slices"
	"time"

	"github.com/rlock-go/redisson/rlocktest/simnet"
)

// settles is how long after a storm something of it may still go on: a failover that was under
// way, a command timeout, a pause.
func (s Storm) settles() time.Duration {
	if s.Light {
		return 4 * time.Second
	}
	return 14 * time.Second
}

// lasts is how long a lull is watched.
const lullLasts = 30 * time.Second

// storms strikes with the faults of the plan, heals behind each storm, and watches the lull.
func (p *play) storms(ended <-chan struct{}) {
	begun := time.Now()
	wait := func(at time.Duration) bool {
		select {
		case <-ended:
			return false
		case <-time.After(time.Until(begun.Add(at))):
			return true
		}
	}
	defer p.heal()
	next := 0
	storming := func(is bool) {
		p.w.Mu.Lock()
		defer p.w.Mu.Unlock()
		p.storming = is
	}
	defer storming(false)
	for _, s := range p.Storms {
		storming(true)
		for ; next < len(p.Faults) && p.Faults[next].At < s.To; next++ {
			if !wait(p.Faults[next].At) {
				return
			}
			if p.strikes(next) {
				p.strike(p.Faults[next], stream(p.Seed, ofFaults, next))
			}
		}
		if !wait(s.To) {
			return
		}
		storming(false)
		p.heal()
		if !wait(s.To + s.settles()) {
			return
		}
		p.watch(time.After(lullLasts), ended)
	}
	wait(p.Lasts)
}

// calmFaults are the few of a calm play, after which nobody's connection is broken.
func (p *play) calmFaults(ended <-chan struct{}) {
	begun := time.Now()
	for i, f := range p.Faults {
		select {
		case <-ended:
			return
		case <-time.After(time.Until(begun.Add(f.At))):
		}
		if !p.strikes(i) {
			continue
		}
		if i > 0 && !p.awaitHold(ended) || time.Since(begun)+f.Lasts > p.Lasts {
			return
		}
		p.strike(f, stream(p.Seed, ofFaults, i))
		p.w.Mu.Lock()
		var lost []*hold
		for _, o := range p.objects {
			lost = append(lost, p.takenNow(o)...)
		}
		p.w.Mu.Unlock()
		go p.judgeTold(lost, p.toldWithin())
	}
}

// heal makes all well again.
func (p *play) heal() {
	p.w.Mu.Lock()
	defer p.w.Mu.Unlock()
	p.w.Note("heal")
	if p.harshUntil.After(time.Now()) {
		p.harshUntil = time.Now().Add(mildly)
	}
	p.healed++
	p.site.heal()
	for _, h := range p.hosts() {
		p.w.Pause(h, false)
	}
	for _, c := range p.w.Conns(func(*simnet.Conn) bool { return true }) {
		c.BreakAfter(true, -1)
		c.BreakAfter(false, -1)
	}
	for _, s := range p.site.servers() {
		for _, h := range p.hosts() {
			p.w.Between(h, s.Addr).Slow = 0
			p.w.Block(h, s.Addr, false)
		}
		s.Lag(0)
		s.Stall(false)
		p.permit(s)
		if s.Paused {
			s.Resume()
		}
		if !s.Running() {
			s.Start(true)
		}
	}
}

// hosts are those of all clients.
func (p *play) hosts() (all []string) {
	for _, proc := range p.processes {
		all = append(all, proc.host)
	}
	for _, j := range p.javas {
		all = append(all, j.host)
	}
	return all
}

// awaitHold waits for a while until somebody has held a lock for so long that it may go on. It reports whether the play goes on.
func (p *play) awaitHold(ended <-chan struct{}) bool {
	const looks, holdsOn = 40, time.Second
	for range looks {
		p.w.Mu.Lock()
		there := slices.ContainsFunc(p.objects, func(o *object) bool {
			return slices.ContainsFunc(o.holds, func(h *hold) bool {
				return h.renewed && !h.ending && h.void == "" && !h.common && p.w.Since()-h.since > holdsOn
			})
		})
		p.w.Mu.Unlock()
		if there {
			break
		}
		select {
		case <-ended:
			return false
		case <-time.After(500 * time.Millisecond):
		}
	}
	return true
}
