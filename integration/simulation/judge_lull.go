package simulation

import (
	"time"
)

// ghostLooks is at how many looks, two in a second, nobody may know an owner.
const ghostLooks = 16

// watch looks each half second, in a lull or a calm play, whether somebody unknown holds, and
// whether somebody waits for what is free.
func (p *play) watch(over <-chan time.Time, ended <-chan struct{}) {
	p.w.Mu.Lock()
	p.lull, p.lullAt = true, time.Now()
	for _, o := range p.objects {
		clear(o.ghosts)
	}
	p.w.Mu.Unlock()
	defer func() {
		p.w.Mu.Lock()
		p.lull = false
		p.w.Mu.Unlock()
	}()
	for {
		select {
		case <-over:
			return
		case <-ended:
			return
		case <-time.After(500 * time.Millisecond):
		}
		p.w.Mu.Lock()
		for _, o := range p.objects {
			m := p.site.master(o.Name)
			p.look(o, m)
			if !o.freeAt.IsZero() {
				p.judgeLate(o)
			}
			p.judgeGhosts(o, m)
		}
		p.w.Mu.Unlock()
		for _, o := range p.objects {
			p.judgeKept(o)
		}
	}
}

// judgeGhosts reports owners that hold and that nobody has.
func (p *play) judgeGhosts(o *object, m server) {
	if !o.Kind.lock() {
		return
	}
	for _, f := range m.Fields(o.Name) {
		if f == "mode" || o.knows(f) {
			delete(o.ghosts, f)
			continue
		}
		if o.ghosts[f]++; o.ghosts[f] == ghostLooks {
			p.breach("ghost: %s has held %s for 8 s in a lull, and nobody has that hold", f, o.Name)
		}
	}
}

// judgePermits judges that the permits that are free and those that are taken add up. While their slot moves, the two keys may be
// on two servers.
func (p *play) judgePermits(o *object) {
	if !o.count.known {
		return
	}
	text, _ := p.site.master(o.Name).Value(o.Name)
	if is := number(text) + int64(len(p.site.master(timesOf(o.Name)).Members(timesOf(o.Name)))); is < o.count.low || is > o.count.high {
		p.breach("count: %s has %d permits, free and taken, and by the answers of all calls it has from %d to %d", o.Name, is, o.count.low, o.count.high)
		o.count.lost()
	}
}
