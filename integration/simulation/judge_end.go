package simulation

import (
	"slices"
	"strings"
	"time"

	"github.com/rlock-go/redisson/rlocktest/simnet"
)

// judgeLeft judges what is on the servers when nobody calls and everything could be undone.
func (p *play) judgeLeft() {
	p.w.Mu.Lock()
	defer p.w.Mu.Unlock()
	for _, o := range p.objects {
		m := p.site.master(o.Name)
		if !o.Kind.lock() {
			continue
		}
		if m.Exists(o.Name) && len(o.excused) == 0 && len(p.closedOnes) == 0 {
			p.breach("left: nobody holds %s, and it is there 12 s after the last call: %s", o.Name, m.Dump(o.Name))
		}
		if waiting := m.List(queueOf(o.Name)); len(waiting) > 0 && p.calm() && len(p.closedOnes) == 0 {
			p.violate("left: nobody waits for %s, and its queue has %q", o.Name, waiting)
		}
	}
	p.judgeCounts()
	p.judgeScripts()
	for _, proc := range p.processes {
		for _, s := range p.site.servers() {
			for _, channel := range s.Channels(proc.host) {
				if !strings.HasPrefix(channel, "__") && p.calm() {
					p.violate("left: %s is subscribed to %s, and nobody has waited for 12 s", proc.host, channel)
				}
			}
		}
	}
}

// judgeStats judges that no client counts a hold or a waiter when nobody calls.
func (p *play) judgeStats() {
	for _, proc := range p.processes {
		if s := proc.client().c.Stats(); s.Holds != 0 || s.Waiters != 0 {
			p.violation("left: %s counts %d holds and %d waiters 12 s after the last call", proc.host, s.Holds, s.Waiters)
		}
	}
}

// judgeClosed judges what is left when all clients are closed.
func (p *play) judgeClosed() {
	p.w.Mu.Lock()
	defer p.w.Mu.Unlock()
	for _, open := range p.w.Conns(func(c *simnet.Conn) bool { return !c.Closed() }) {
		p.violate("left: the connection of %s to %s is open after Close", open.LocalAddr(), open.Server())
	}
	names := map[string]bool{}
	for _, o := range p.objects {
		names[o.Name], names[tokenOf(o.Name)] = !o.Kind.lock(), true
	}
	for _, m := range p.site.masters() {
		for _, k := range m.Keys() {
			if m.Until(k).IsZero() && !names[k] && !p.places(k) {
				p.violate("left: %s never expires: %s", k, m.Dump(k))
			}
		}
	}
	for _, proc := range p.processes {
		p.judgeObserved(proc)
	}
	p.res.Virtual = time.Since(p.begun)
}

// places reports whether a key is the queue of a fair lock with waiters of a client that died, or of Java.
func (p *play) places(key string) bool {
	return slices.ContainsFunc(p.objects, func(o *object) bool {
		return o.Kind == Fair && (key == queueOf(o.Name) || key == placesOf(o.Name)) && !p.calm() || key == timesOf(o.Name)
	})
}

// judgeObserved judges that an observer's events come in pairs.
func (p *play) judgeObserved(proc *process) {
	for _, l := range proc.lives {
		if s := &l.seen; s.acquire.Load() != s.acquired.Load() || s.release.Load() != s.released.Load() {
			p.violate("observer: %s saw %d acquires begin and %d end, %d releases begin and %d end", proc.host,
				s.acquire.Load(), s.acquired.Load(), s.release.Load(), s.released.Load())
		}
	}
}
