package simulation

import (
	"errors"
	"slices"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// unlocked judges what a release said, and ends the ledger's entry behind the last one of its owner.
// A release of a hold that was trusted until after its answer can't have found nothing.
func (p *play) unlocked(h *hold, err error, last, trusted bool) {
	p.w.Mu.Lock()
	defer p.w.Mu.Unlock()
	o := h.o
	m := p.site.master(o.Name)
	if last {
		o.holds = without(o.holds, h)
	}
	if h.common && (h.void != "" || err == nil && o.tookAnother(h)) { // whoever lost its count to such a release takes the next one's
		o.lostOne = time.Now()
		o.doubt(h.owner)
	}
	clean := h.void == "" && h.promotion == p.promotions && !p.site.torn() && o.excused[h.owner] == "" && (h.life == nil || !h.life.closed)
	if err == nil && last && clean && trusted && h.atLeast > 0 {
		p.judgeLeaves(h, m)
	}
	switch {
	case errors.Is(err, rlock.ErrNotHeld) && trusted && clean && h.common && o.tookAnother(h):
		p.allow(sharedOwner)
	case errors.Is(err, rlock.ErrNotHeld) && trusted && clean:
		p.breach("false loss: the release of %s by %s, which was trusted beyond it, says: %v", o.Name, h.who, err)
	case err == nil && last && clean && (!h.common || h.sole != nil && h.sole()) && h.atLeast == 0 && h.there(m):
		p.breach("not released: %s got nil for its release of %s, and the server still has %s: %s", h.who, o.Name, h.owner, m.Dump(o.Name))
	case errors.Is(err, rlock.ErrUnavailable):
		o.excuse(h.owner, unavailableKey)
	case errors.Is(err, rlock.ErrUnreplicated):
		o.excuse(h.owner, unreplicatedKey)
	case errors.Is(err, rlock.ErrClosed):
		o.excuse(h.owner, closedKey)
	case errors.Is(err, rlock.ErrUncertain): // also of a hold that was lost before
		o.excuse(h.owner, uncertainKey)
	case err == nil || errors.Is(err, rlock.ErrNotHeld):
		alone := h.life != nil && (!h.common || h.sole != nil && h.sole())
		if h.common && errors.Is(err, rlock.ErrLeaseLost) {
			o.acts(h.owner).over++
		}
		if h.promotion != p.promotions && (err != nil || !alone) { // a former master may have released it, and nobody says so again
			o.excuse(h.owner, sharedUnlock)
		}
	default:
		o.excuse(h.owner, uncertainKey)
	}
	if err != nil && !errors.Is(err, rlock.ErrNotHeld) {
		o.lost = time.Now() // nobody promises when the next one enters
	}
	if h.common {
		p.judgeShared(o, h.owner)
	}
	p.wantsNothing(o)
}

// tookAnother reports whether the release of a lost hold of the same owner ran since a hold began, or of one that had lost its
// count to such a release. It releases the later one. A call may give back a grant that a failover has lost.
func (o *object) tookAnother(h *hold) bool {
	return o.lostOne.After(h.began) || slices.ContainsFunc(o.calls, func(c *call) bool { return c.as == h.owner && o.p.promotedAt.After(c.began) }) || slices.ContainsFunc(o.holds, func(x *hold) bool { return x.owner == h.owner && x.void != "" && x.ending })
}

// there reports whether a server has the hold.
func (h *hold) there(s server) bool {
	if h.o.Kind == Permits {
		for _, id := range s.Members(timesOf(h.o.Name)) {
			for _, mine := range h.ids {
				if id == raw(mine) {
					return true
				}
			}
		}
		return false
	}
	_, is := s.Field(h.o.Name, h.field())
	return is
}
