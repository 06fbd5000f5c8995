package simulation

import "time"

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
	for _, s := range p.Storms {
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
		p.strike(f, stream(p.Seed, ofFaults, i))
		if f.What == Flush {
			p.w.Mu.Lock()
			var lost []*hold
			for _, o := range p.objects {
				lost = append(lost, p.takenNow(o)...)
			}
			p.w.Mu.Unlock()
			go p.judgeTold(lost, toldWithin)
		}
	}
}

// heal makes all well again.
func (p *play) heal() {
	p.w.Mu.Lock()
	defer p.w.Mu.Unlock()
	p.w.Note("heal")
	p.healed++
	p.site.heal()
	for _, h := range p.hosts() {
		p.w.Pause(h, false)
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
