package simulation

import (
	"math/rand/v2"
	"time"

	"github.com/rlock-go/redisson/rlocktest/simnet"
	"github.com/rlock-go/redisson/rlocktest/simredis"
)

// FaultKind names what a fault does.
type FaultKind string

const (
	Breaks   FaultKind = "breaks"     // connections break, at any byte of either direction
	Resets   FaultKind = "resets"     // connections to the master break at once
	CutOff   FaultKind = "cut off"    // a client is cut off, and its bytes arrive later
	Slow     FaultKind = "slow"       // a server is slow for a client
	Pause    FaultKind = "pause"      // a server stands still
	Kill     FaultKind = "kill"       // a server dies, and starts again with its data
	Lose     FaultKind = "lose"       // a server dies, and starts again empty
	NoScript FaultKind = "no scripts" // SCRIPT FLUSH
	Planned  FaultKind = "failover"   // SENTINEL FAILOVER
	Lag      FaultKind = "lag"        // a replica lags
	Stall    FaultKind = "stall"      // a replica hears nothing
	Flush    FaultKind = "flush"      // FLUSHALL
	Old      FaultKind = "old data"   // a server dies, and starts again with the data that it had before
	Loads    FaultKind = "loading"    // a server dies, and reads its data when it starts again
	Freeze   FaultKind = "freeze"     // a client's process stands still
	Refuses  FaultKind = "refuses"    // a server refuses what it could do: no memory, no disk, busy, no replicas
	Denies   FaultKind = "denies"     // the account may not use a command
	NoKill   FaultKind = "no kill"    // nor CLIENT KILL
	Slots    FaultKind = "slots"      // the slot of an object moves to another master
	Watchers FaultKind = "sentinels"  // a Sentinel dies, stands still, or begins anew
	Replaced FaultKind = "replaced"   // a server dies, and another cluster's gets its address for a while
	Poison   FaultKind = "poison"     // the key of a lock gets another type for a while
	Leaves   FaultKind = "leaves"     // a replica is taken out and calls itself master, for good or until it comes back
)

// drawFault draws from those that a topology can have.
func drawFault(r *rand.Rand, light bool, on Topology) FaultKind {
	kinds := faultKinds(light, on)
	if !light && r.IntN(8) == 0 {
		kinds = append(kinds, rare...)
	}
	return kinds[r.IntN(len(kinds))]
}

// drawSome draws the few kinds of a storm.
func drawSome(r *rand.Rand, light bool, on Topology) (some []FaultKind) {
	kinds := faultKinds(light, on)
	if !light {
		kinds = append(kinds, rare...)
	}
	for range 2 + r.IntN(3) {
		some = append(some, kinds[r.IntN(len(kinds))])
	}
	return some
}

var rare = []FaultKind{Flush, Old, NoKill}

// faultKinds are those that a topology can have, the more likely ones several times, without the rare ones.
func faultKinds(light bool, on Topology) []FaultKind {
	if light {
		return []FaultKind{Breaks, Breaks, Breaks, Resets, Resets, NoScript}
	}
	kinds := []FaultKind{Breaks, Breaks, Resets, CutOff, CutOff, Slow, Pause, Kill, Lose, NoScript, Loads, Freeze, Refuses, Denies}
	if on != OneServer {
		kinds = append(kinds, Planned, Planned, Lag, Stall)
	}
	switch on {
	case Sentinel1, Sentinel2:
		kinds = append(kinds, Watchers)
	case Cluster:
		kinds = append(kinds, Slots, Slots)
	}
	return kinds
}

// strike lets a fault happen.
func (p *play) strike(f Fault, r *rand.Rand) {
	p.w.Mu.Lock()
	defer p.w.Mu.Unlock()
	servers, masters, hosts := p.site.servers(), p.site.masters(), p.hosts()
	s, m, host := servers[r.IntN(len(servers))], masters[r.IntN(len(masters))], hosts[r.IntN(len(hosts))]
	p.res.Faults++
	p.w.Note("fault: %s, %s, %s, for %v", f.What, s.Addr, host, f.Lasts)
	if f.What.harsh() {
		p.harshUntil = time.Now().Add(time.Hour) // until all is healed
	}
	switch f.What {
	case CutOff, Slow, Pause, Freeze:
		if until := time.Now().Add(f.Lasts + oneTimeout); until.After(p.delayed) {
			p.delayed = until
		}
	}
	switch f.What {
	case Breaks:
		for _, c := range p.w.Conns(func(*simnet.Conn) bool { return true }) {
			if r.IntN(2) == 0 {
				c.BreakAfter(r.IntN(2) == 0, r.IntN(400))
			}
		}
	case Resets:
		for _, c := range p.w.Conns(func(c *simnet.Conn) bool { return c.Server() == m.Addr }) {
			if r.IntN(2) == 0 {
				c.Break()
			}
		}
	case CutOff:
		for _, s := range servers {
			p.w.Block(host, s.Addr, true)
		}
		p.w.After(f.Lasts, func() {
			for _, s := range servers {
				p.w.Block(host, s.Addr, false)
			}
		})
	case Slow:
		link := p.w.Between(host, s.Addr)
		link.Slow = between(r, 0, 3500*time.Millisecond)
		p.w.After(f.Lasts, func() { link.Slow = 0 })
	case Pause:
		if s.Running() && !s.Paused {
			s.Paused = true
			p.w.After(f.Lasts, func() {
				if s.Paused {
					s.Resume()
				}
			})
		}
	case Kill, Lose, Old, Loads:
		p.kill(s, f, r)
	case Freeze:
		p.w.Pause(host, true)
		p.w.After(f.Lasts, func() { p.w.Pause(host, false) })
	case Refuses, Denies, NoKill:
		p.refuse(s, f, r)
	case Watchers, Slots, Leaves:
		p.site.disturb(f, r)
	case Replaced:
		p.replace(f, r)
	case NoScript:
		m.ForgetScripts()
	case Planned:
		p.site.planned(r)
	case Lag:
		s.Lag(between(r, 0, 2*time.Second))
		p.w.After(f.Lasts, func() { s.Lag(0) })
	case Stall:
		s.Stall(true)
		p.w.After(f.Lasts, func() { s.Stall(false) })
	case Poison:
		p.poison(f, r)
	case Flush:
		p.loses(m)
		m.FlushAll()
	}
}

// kill ends a server, and starts it again.
func (p *play) kill(s server, f Fault, r *rand.Rand) {
	if !s.Running() {
		return
	}
	if f.What == Old { // it dies in a while
		saved, at := s.Save(), time.Now()
		storm := p.healed
		p.w.After(between(r, 0, 5*time.Second), func() {
			if s.Running() && p.healed == storm {
				p.dies(s, false)
				p.w.After(f.Lasts, func() { p.restart(s, saved, at) })
			}
		})
		return
	}
	p.dies(s, r.IntN(2) == 0)
	if f.What == Lose {
		if p.Topology == OneServer {
			p.loses(s)
		}
		p.w.After(f.Lasts, func() { p.restart(s, simredis.Saved{}, time.Time{}) })
		return
	}
	takes := time.Duration(0)
	if f.What == Loads {
		takes = between(r, time.Millisecond, 8*time.Second)
	}
	p.w.After(f.Lasts, func() {
		if !s.Running() {
			s.StartLoading(s.Save(), takes)
		}
	})
}

// dies kills a server.
func (p *play) dies(s server, silently bool) {
	if o, ok := p.site.(*replicated); ok && s == o.chosen {
		o.takeBack()
	}
	s.Kill(silently)
}

// restart lets a server begin anew with data that were saved at a time, or with none.
func (p *play) restart(s server, with simredis.Saved, saved time.Time) {
	if s.Running() {
		return
	}
	had := map[*object][]string{}
	for _, o := range p.objects {
		had[o] = o.enqueued
	}
	p.loses(s) // of the objects whose master it still is
	s.StartWith(with)
	p.loses(s) // and of those that it has again, although their slot moves and the next server had them
	for _, o := range p.objects {
		o.value = 0 // which fell without a call
		o.excuseOld(s)
		if !saved.IsZero() && p.site.master(o.Name) == s {
			o.refalls(saved)
		}
		p.look(o, p.site.master(o.Name))
		if p.Topology == OneServer { // behind a failover a client leaves its places again
			o.revives(had[o], o.enqueued)
		}
	}
}

// poisoned is for how long a key has another type: for longer than until a renewal meets it.
const poisoned = 14 * time.Second

// poison sets the key of a lock to a text, as a stranger that uses its name may.
func (p *play) poison(f Fault, r *rand.Rand) {
	o := p.objects[r.IntN(len(p.objects))]
	if !o.Kind.lock() {
		return
	}
	sets := func(words ...string) {
		p.site.master(o.Name).Session("10.9.0.1").Do(words...)
		o.lost, o.emptyAt = time.Now(), time.Now()
		p.look(o, p.site.master(o.Name))
	}
	p.voids(o, lostByServer, func(*hold) bool { return true })
	sets("SET", o.Name, "of another type")
	p.w.After(f.Lasts, func() { sets("DEL", o.Name) })
}
