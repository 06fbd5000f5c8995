package main

import "time"

// order has a client make a call, and keeps account of what it says and of what it must say.
func (r *round) order(c *client, o op) reply {
	r.before(c, o)
	rep := c.party.do(o)
	r.after(c, o, rep)
	r.tally.add(nCalls, 1)
	r.logf("client %d: [%.1f] %v -> %v", c.n, float64(rep.Start-r.began)/1e6, o, rep)
	r.inTime(c, o, rep)
	return rep
}

// before notes what counts from the call on.
func (r *round) before(c *client, o op) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := now()
	switch o.Do {
	case doUnlock:
		r.holdLocked(c, o.Hold).unlocking = at
	case doShow:
		r.holdLocked(c, o.Hold).shown = span{at, forever}
	case doForce:
		r.forced = append(r.forced, &forcing{c: c, from: at, to: forever})
	case doExtend:
		h := r.holdLocked(c, o.Hold)
		h.extending = min(h.promise, least(at, o.Lease))
		h.most = max(h.most, at+int64(o.Lease)+int64(time.Second))
	}
}

// least is until when a lease that was asked for at an instant lasts at least.
func least(at int64, lease time.Duration) int64 { return at + int64(lease)*99/100 - 2*ms }

func (r *round) after(c *client, o op, rep reply) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := call{c: c, op: o, owner: rep.Owner, reply: rep}
	switch o.Do {
	case doLock, doTry, doTryFor:
		r.acquired(c, o, rep)
	case doUnlock:
		k.owner = r.released(c, o, rep)
	case doExtend:
		h := r.holdLocked(c, o.Hold)
		k.owner = h.owner
		switch {
		case !rep.failed():
			h.promise = least(rep.Start, o.Lease)
			h.most = rep.End + int64(o.Lease)
		case rep.is("uncertain"):
			h.promise = h.extending
		}
		h.extending = 0
		if rep.Until != 0 {
			h.until = rep.Until
		}
	case doUnlockAs:
		a := r.account(o.As)
		k.owner = o.As
		switch {
		case !rep.failed():
			a.handed--
		case rep.is("uncertain") || c.disturbed.Load() != 0:
			a.handed--
			a.slack++
			if c.set.NoKill {
				a.tainted = "an unlock may come at any time"
			}
		}
	case doShow:
		r.holdLocked(c, o.Hold).shown.to = rep.End
	case doForce:
		for _, f := range r.forced {
			if f.c == c && f.to == forever {
				f.to, f.open = rep.End, rep.is("uncertain")
				break
			}
		}
	}
	r.calls = append(r.calls, k)
}

// released notes an unlock, and returns its owner. mu is held.
func (r *round) released(c *client, o op, rep reply) (owner string) {
	h := r.holdLocked(c, o.Hold)
	a := r.account(h.owner)
	h.unlocked = rep.End
	if h.op.Lease == 0 && h.op.MaxHold == 0 {
		h.most = rep.End + int64(c.set.Watchdog)
	}
	if rep.failed() && !r.goesOn(h, rep) {
		a.slack++
		a.unreleased++
	}
	if rep.End-rep.Start > 20*ms {
		// Repeated, it sets again what the others needed when it was first sent.
		a.most = max(a.most, rep.End+max(int64(c.set.Watchdog), r.need(h.owner, rep.Start)))
	}
	if c.set.NoKill && rep.is("uncertain") && !r.theme.once {
		a.tainted = "an unlock may come at any time"
	}
	if r.shared[h.owner] && (rep.failed() || rep.End > h.until) {
		a.tainted = "an unlock of a hold that was over may have taken another's"
	}
	return h.owner
}

// need is how much longer the leases of an owner's holds last than an instant. mu is held.
func (r *round) need(owner string, at int64) (need int64) {
	for _, h := range r.holds {
		if h.owner == owner {
			need = max(need, h.most-at)
		}
	}
	return need
}

func (r *round) acquired(c *client, o op, rep reply) {
	if rep.Hold == 0 {
		if rep.Owner == "" {
			return
		}
		a := r.account(rep.Owner)
		if rep.is("uncertain") || c.disturbed.Load() != 0 && !(rep.is("locked") && !trouble(rep.Text)) {
			a.slack++
			if r.shared[rep.Owner] && !rep.is("uncertain") {
				a.tainted = "an acquire that failed may be given back late, and take another's"
			}
		} else if o.As != "" && (rep.is("ctx") || rep.is("canceled")) {
			a.given = append(a.given, span{rep.Start, rep.End + int64(c.set.Timeout)})
		}
		a.most = max(a.most, rep.End+int64(max(o.Lease, c.set.Watchdog))+int64(2*time.Second))
		return
	}
	h := &hold{c: c, id: rep.Hold, op: o, owner: rep.Owner, start: rep.Start, end: rep.End, until: rep.Until}
	switch {
	case o.Lease != 0:
		h.promise, h.most = least(rep.Start, o.Lease), rep.End+int64(o.Lease)
	case o.MaxHold != 0:
		h.promise, h.most = rep.Start+int64(o.MaxHold), rep.End+int64(o.MaxHold)+int64(c.set.Watchdog)
	}
	r.holds = append(r.holds, h)
	r.tally.add(nHolds, 1)
}

func (r *round) holdOf(c *client, id int) *hold {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.holdLocked(c, id)
}

func (r *round) holdLocked(c *client, id int) *hold {
	for _, h := range r.holds {
		if h.c == c && h.id == id {
			return h
		}
	}
	return nil
}

// seen notes that a hold was lost, the first time that it is seen to be, and judges whether it could be. mu is held.
func (r *round) seen(h *hold, s sight, at int64) (complaint string) {
	if h.lost != 0 || h.unlocking != 0 || s.Text == "" {
		return ""
	}
	h.lost = at
	if h.op.Lease == 0 && h.op.MaxHold == 0 {
		h.most = at + int64(h.c.set.Watchdog)
	}
	promise := h.promise
	if h.extending != 0 {
		promise = min(promise, h.extending)
	}
	switch {
	case h.handed || r.shared[h.owner] || h.c.disturbed.Load() != 0 || r.robbed(h) || len(r.forced) > 0:
	case promise != 0 && at > promise:
	case r.machine.settled(at-int64(h.c.set.Watchdog), at) > h.c.set.Watchdog/10:
	default:
		return s.Text
	}
	return ""
}
