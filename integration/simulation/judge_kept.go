package simulation

import (
	"slices"
	"time"
)

// A client renews its holds every third of the watchdog's timeout, which is the default.
const (
	watchdogTimeout = 30 * time.Second
	renewedWithin   = watchdogTimeout/3 + time.Second
)

// kept is what a look at one hold saw.
type kept struct {
	*hold
	valid bool
}

// judgeKept judges that the watchdog keeps what it renews while nothing breaks, and that a holder hears in time of a loss that it slept
// through. It is called without the world's lock.
func (p *play) judgeKept(o *object) {
	p.w.Mu.Lock()
	var seen []kept
	for _, h := range o.holds {
		if h.renewed && !h.ending && !h.life.closed {
			seen = append(seen, kept{hold: h})
		}
	}
	p.w.Mu.Unlock()
	for i, h := range seen {
		seen[i].valid = h.hold.valid()
	}
	p.w.Mu.Lock()
	defer p.w.Mu.Unlock()
	m, well := p.site.master(o.Name), time.Since(p.lullAt)
	for _, h := range seen {
		if h.ending || h.life.closed || !slices.Contains(o.holds, h.hold) {
			continue
		}
		there := h.there(m)
		if there || !h.valid {
			h.goneAt = time.Time{}
		} else if h.goneAt.IsZero() {
			h.goneAt = time.Now()
		}
		left := time.Until(m.Until(o.Name))
		switch {
		case h.void == "" && !h.valid && there && h.began.After(p.lullAt) && !o.forces(h.life.host): // which ends its own holds first
			p.once(h.hold, "kept: %s has lost its hold of %s since %v, and nothing was wrong since: %s", h.who, o.Name, h.since, m.Dump(o.Name))
		case h.valid && there && left < watchdogTimeout-renewedWithin && (p.calm() || well > renewedWithin):
			p.once(h.hold, "kept: the key of %s, which %s holds since %v, lives for %v more", o.Name, h.who, h.since, left)
		case h.valid && !there && well > renewedWithin && time.Since(h.goneAt) > p.toldWithin():
			p.once(h.hold, "told: %s trusts its hold of %s since %v, and the server lacks it for %v", h.who, o.Name, h.since, time.Since(h.goneAt))
		}
	}
}

// once reports a hold, and does not look at it again.
func (p *play) once(h *hold, format string, args ...any) {
	h.renewed = false
	p.breach(format, args...)
}
