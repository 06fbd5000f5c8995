package simulation

import "time"

// gone is called by a server when a key disappears: nobody may trust a hold of it then.
func (p *play) gone(s server, key, why string) {
	for _, o := range p.objects {
		if o.Name != key {
			continue
		}
		if m := p.site.master(key); m != s { // which s was, if the key's slot moves
			if why == "of another's slot" && o.at == s {
				p.overruled(o, m)
			}
			if why == "deleted" && o.at == s {
				o.deleted = deletion{s, time.Now()}
			}
			p.look(o, m)
			continue
		}
		if why != "deleted" {
			o.value = 0 // nobody counted
		}
		p.look(o, s)
		if why == "expired" {
			p.voids(o, sharedOwner, func(h *hold) bool { return h.common && !h.there(s) })
		}
		if o.Kind.lock() && (why == "expired" || why == "deleted") {
			go p.judgeGone(o, s, why) // in the same instant, without the world's lock
		}
	}
}

func (p *play) judgeGone(o *object, s server, why string) {
	p.w.Mu.Lock()
	var suspects []*hold
	for _, h := range o.holds {
		if !h.ending && h.void == "" && !h.common && o.excused[h.owner] == "" && !h.there(s) {
			suspects = append(suspects, h)
		}
	}
	p.w.Mu.Unlock()
	for _, h := range suspects {
		if valid := h.valid(); valid {
			until := h.until()
			p.w.Mu.Lock()
			p.breach("loss: %s trusts its hold of %s for %v more, and its key was %s", h.who, o.Name, time.Until(until), why)
			p.w.Mu.Unlock()
		}
	}
}

// trusted is for how long a client of Go trusts the hold of a lock, by a clock that runs up to 0.9 % too slow. It is called without
// the world's lock.
func (h *hold) trusted() time.Duration {
	if h.life == nil || !h.o.Kind.lock() || !h.valid() {
		return 0
	}
	return time.Until(h.until()) * 1000 / 1009
}

// judgeTrust judges that a hold is not trusted for longer than its key lives, whether or not its caller stays until then.
func (p *play) judgeTrust(h *hold, trusted time.Duration) {
	m := p.site.master(h.o.Name)
	if h.ending || h.void != "" || h.common || h.o.excused[h.owner] != "" || h.promotion != p.promotions || p.site.torn() || !h.there(m) {
		return
	}
	const apart = 2 * time.Millisecond // as read_unlock.lua has it
	if left := m.Until(h.o.Name); !left.IsZero() && trusted > time.Until(left)+apart {
		p.breach("trust: %s trusts its hold of %s for %v, and its key lives for %v", h.who, h.o.Name, trusted, time.Until(left))
	}
}

// toldWithin is how soon a holder hears in a calm play that its key was deleted: within two seconds
// if the lock is young, and it checks ten times a second at most.
const toldWithin = 2200 * time.Millisecond

// toldWithin is how soon that is in this play: nobody hears but by renewals where the account may not track keys.
func (p *play) toldWithin() time.Duration {
	if p.Untracked {
		return renewedWithin
	}
	return toldWithin
}

// judgeTold reports holds that a calm play's fault has taken and whose owners still trust them.
func (p *play) judgeTold(lost []*hold, within time.Duration) {
	time.Sleep(within)
	for _, h := range lost {
		p.w.Mu.Lock()
		again := h.there(p.site.master(h.o.Name)) // its owner has entered again, and a hold ends only if the owner has nothing
		p.w.Mu.Unlock()
		if !again && h.valid() {
			p.violation("told: %s trusts its hold of %s %v after its key was deleted", h.who, h.o.Name, within)
		}
	}
}

// takenNow are the holds that a fault has just taken. It is called with the world's lock held.
func (p *play) takenNow(o *object) (lost []*hold) {
	for _, h := range o.holds {
		if h.life != nil && !h.ending && h.void != "" && h.void != sharedOwner && !h.common && (h.renewed || !p.Untracked) {
			lost = append(lost, h)
		}
	}
	return lost
}
