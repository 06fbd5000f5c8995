package main

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// probeEvery is the pause between two probes.
const probeEvery = 12 * time.Millisecond

func (r *round) probeUntilHealed() {
	for {
		r.probe()
		select {
		case <-r.ended:
			return
		case <-time.After(probeEvery):
		}
	}
}

// survey asks every client for its holds.
func (r *round) survey() map[*hold]sight {
	all := make([]reply, len(r.clients))
	var asking sync.WaitGroup
	for i, c := range r.clients {
		asking.Go(func() { all[i] = c.party.do(op{Do: doSurvey}) })
	}
	asking.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	m := map[*hold]sight{}
	for i, c := range r.clients {
		for _, s := range all[i].Sights {
			if h := r.holdLocked(c, s.Hold); h != nil {
				m[h] = s
				if why := r.seen(h, s, all[i].End); why != "" {
					r.violateLocked("a hold was lost without a cause", "hold %d of client %d, owner %s (%v): %s", h.id, c.n, short(h.owner), h.op, why)
				}
			}
		}
	}
	return m
}

// claim is a hold that was valid throughout a look, and until when it says so.
type claim struct {
	*hold
	until int64
}

// probe reads the server between two readings of the clients, and holds them against each other: trust and
// exclusion.
func (r *round) probe() {
	first := r.survey()
	seen := r.look()
	second := r.survey()
	r.tally.add(nProbes, 1)
	var claims []claim
	for h, a := range first {
		if b, there := second[h]; there && a.Valid && b.Valid && !h.handed {
			if until := min(a.Until, b.Until); until > seen.to {
				claims = append(claims, claim{h, until})
			}
		}
	}
	r.tally.add(nTrusted, len(claims))
	if r.fits(claims, seen) == "" {
		return
	}
	// Something does not fit. What others may have done to it, as is documented, comes off.
	var left []claim
	for _, c := range claims {
		if until := r.believable(c, seen); until > seen.to {
			left = append(left, claim{c.hold, until})
		}
	}
	if what := r.fits(left, seen); what != "" {
		r.violate("trust", "%s\nserver: %v", what, seen)
	}
}

// fits tells what of the claims the server denies.
func (r *round) fits(claims []claim, seen look) string {
	counts := map[string]int{}
	for _, c := range claims {
		counts[c.owner]++
		if seen.to+(seen.ttl+2)*ms < c.until {
			return fmt.Sprintf("%s is trusted for %v, and the key has a PTTL of %d ms", c.hold, time.Duration(c.until-seen.to), seen.ttl)
		}
	}
	for owner, n := range counts {
		if seen.fields[owner] < n {
			return fmt.Sprintf("owner %s has %d valid holds, and the server counts %d", short(owner), n, seen.fields[owner])
		}
		if len(counts) > 1 {
			return fmt.Sprintf("two owners have valid holds at once: %d of %v", len(claims), claims)
		}
	}
	return ""
}

func (h *hold) String() string {
	return fmt.Sprintf("hold %d of client %d, owner %s (%v)", h.id, h.c.n, short(h.owner), h.op)
}

// believable is until when a claim counts, given what the documentation excepts: lost data, forced unlocks, and other
// clients that use the same owner. 0: not at all.
func (r *round) believable(c claim, seen look) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.robbed(c.hold) || r.account(c.owner).tainted != "" {
		return 0
	}
	for _, f := range r.forced {
		switch {
		case f.open && f.c.set.NoKill:
			return 0 // it may run at any time
		case f.c == c.c && seen.from < f.to:
			return 0 // holds that were granted meanwhile end when it returns
		case f.c != c.c && (r.outlived(c.hold, f.to) || f.open && c.start < f.to+2*int64(time.Second)):
			return 0 // told at its next renewal, or never
		}
	}
	if !r.shared[c.owner] {
		return c.until
	}
	if r.cut(c.owner) {
		return 0
	}
	return min(c.until, r.others(c.hold, seen))
}

// robbed tells whether somebody may have deleted the key since the hold was acquired. mu is held.
func (r *round) robbed(h *hold) bool { return r.outlived(h, r.lostBefore()) }

// outlived tells whether the hold, or one of the same owner that is or was released later, was acquired before an
// instant. Where the key was deleted in between, the owner's count is less than its holds.
func (r *round) outlived(h *hold, at int64) bool {
	if at == 0 {
		return false
	}
	for _, o := range r.holds {
		if o.owner == h.owner && o.start < at && (o == h || o.unlocked == 0 || o.unlocked > at) {
			return true
		}
	}
	return false
}

// cut tells whether a client may have had the key of a shared owner expire under another one's hold, by a lease shorter
// than that one's. The other does not know it (an owner is shared, the trust is not): whatever it says of that hold later,
// and its unlock, meets holds that were acquired since. mu is held.
func (r *round) cut(owner string) bool {
	var all []wire
	by := map[int]*client{}
	for _, c := range r.clients {
		for _, w := range c.record() {
			if w.over(owner) && w.sets() {
				by[len(all)] = c
				all = append(all, w)
			}
		}
	}
	for i, w := range all {
		end := w.sent + w.lease
		later := func(m wire) bool { return m.sent > w.answered && m.answered != 0 && m.answered < end && !m.again }
		if w.answered == 0 || w.again || slices.ContainsFunc(all, later) {
			continue
		}
		for _, o := range r.holds {
			if o.owner == owner && o.c != by[i] && o.start < end && (o.unlocked == 0 || o.unlocked > end) {
				return true
			}
		}
	}
	return false
}

// others is until when the key lives for an owner, going by what other clients that use it have sent: each sets its own
// lease, unless a later command of this client's has set it again before it was over.
func (r *round) others(h *hold, seen look) int64 {
	until := forever
	mine := h.c.record()
	for _, c := range r.clients {
		if c == h.c {
			continue
		}
		for _, w := range c.record() {
			if !w.over(h.owner) || !w.sets() {
				continue
			}
			later := false
			for _, m := range mine {
				later = later || m.over(h.owner) && m.lease != 0 && !m.again && m.sets() && w.answered != 0 && m.sent > w.answered && m.sent < w.sent+w.lease && m.answered != 0 && m.answered < seen.from
			}
			if !later {
				until = min(until, w.sent+w.lease)
			}
		}
	}
	return until
}
