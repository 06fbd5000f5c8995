package simulation

import (
	"slices"
	"time"
)

// settled is how long after a promotion a former master may still have granted.
const settled = 8 * time.Second

// steady reports whether no former master can have answered a call that began then.
func (p *play) steady(began time.Time) bool {
	return p.promotions == 0 || began.After(p.promotedAt.Add(settled)) && !p.site.torn()
}

// forces reports whether a ForceUnlock of a host has no answer yet.
func (o *object) forces(host string) bool {
	return slices.ContainsFunc(o.calls, func(x *call) bool { return x.what == "ForceUnlock" && x.host == host })
}

// entered records a hold, and looks for others of its object that are valid in this instant.
func (p *play) entered(c *call, h *hold) *hold {
	o := h.o
	valid, until := h.valid(), h.until()
	p.w.Mu.Lock()
	m := p.site.master(o.Name)
	h.who, h.since, h.began, h.promotion, h.now = c.who, p.w.Since(), c.began, p.promotions, make(chan struct{}, 1)
	p.res.Entries++
	if !h.alike(m, m) && (c.began.Before(o.lost) || !p.steady(time.Now())) {
		h.void = formerMaster // granted by a server whose data were lost before its answer came
		p.allow(formerMaster)
	}
	if !h.alike(m, m) && h.void == "" && !c.began.After(o.forcedAt) {
		h.void = forced
		p.allow(forced)
		// While its ForceUnlock has no answer, the client can't know that it ran behind the acquire.
		if valid && h.life != nil && h.life.host == o.forcedBy && !h.common && !o.forces(o.forcedBy) {
			p.breach("forced: %s trusts its hold of %s, which its own client has taken from it", h.who, o.Name)
		}
	}
	others := slices.Clone(o.holds)
	o.holds = append(o.holds, h)
	p.judgeToken(c, h)
	p.judgeOnce(h, m)
	if h.common {
		p.judgeShared(o, h.owner)
	}
	if valid {
		p.judgeSent(h, until)
	}
	if h.atLeast > 0 {
		o.acts(h.owner).keepsTo = time.Now().Add(h.atLeast + h.atLeast/100)
	}
	p.w.Note("%s holds %s as %s", h.who, o.Name, h.owner)
	p.w.Mu.Unlock()
	inside := 0
	for _, x := range others {
		if !valid || !x.valid() {
			continue
		}
		p.w.Mu.Lock()
		if x.void == "" { // what a fault has taken is none of the permits that there are
			inside += x.permits
		}
		if h.excludes(x, inside) && !x.ending {
			switch {
			case h.void != "":
				p.allow(h.void)
			case x.void != "":
				p.allow(x.void)
			default:
				p.breach("exclusion: %s entered %s as %s while %s holds it as %s, since %v", h.who, o.Name, h.owner, x.who, x.owner, x.since)
			}
		}
		p.w.Mu.Unlock()
	}
	return h
}

// excludes reports whether two may not hold at the same time. Permits are counted.
func (h *hold) excludes(x *hold, inside int) bool {
	switch {
	case h.permits > 0:
		return h.o.total > 0 && inside+h.permits > h.o.total
	case h.owner == x.owner:
		return h.o.Kind == NonReentrant
	}
	return !h.reads || !x.reads
}

// leaves records that a release begins.
func (p *play) leaves(h *hold) {
	trusted, valid, until := h.trusted(), h.valid(), h.until()
	p.w.Mu.Lock()
	defer p.w.Mu.Unlock()
	p.judgeTrust(h, trusted)
	if valid {
		p.judgeSent(h, until)
	} else if a := h.o.acting[h.owner]; a != nil {
		a.keepsTo = time.Time{} // whoever knows of the loss leaves nothing
	}
	if !h.ending {
		h.ending, h.endingAt = true, time.Now()
	}
}

func without[T comparable](all []T, one T) []T {
	return slices.DeleteFunc(all, func(x T) bool { return x == one })
}
