package simulation

import (
	"slices"
	"strings"
	"time"

	"github.com/rlock-go/redisson/rlocktest/simredis"
)

// ownerCommand is one of the library's scripts that acts as an owner of a lock.
type ownerCommand struct {
	owner    string
	lease    time.Duration // that it gives the key; 0: none, or it is not known
	acquires bool
	places   time.Duration // for how long it asks to keep a fair lock's place
	renews   bool
	keeps    time.Duration // for how long it leaves the lock taken
	keeper   string        // for which owner
}

// ownerCommands are those that a script's arguments say. Read locks have arguments in other places, and are left out.
func (o *object) ownerCommands(script string, args []string) (all []ownerCommand) {
	n := int(number(args[2]))
	if !o.Kind.lock() || script == "" || len(args) < 3+n+2 {
		return nil
	}
	keys, argv := args[3:3+n], args[3+n:]
	if !slices.Contains(keys, o.Name) {
		return nil
	}
	ms := func(i int) time.Duration { return time.Duration(number(argv[i])) * time.Millisecond }
	switch strings.TrimSuffix(script, "_again") {
	case "lock", "non_reentrant_lock", "write_lock":
		return []ownerCommand{{owner: argv[1], lease: ms(0), acquires: true}}
	case "fenced_lock":
		argv = behindNames(args, n, 2)
		return []ownerCommand{{owner: argv[1], lease: ms(0), acquires: true}}
	case "fair_lock":
		argv = behindNames(args, n, 3)
		return []ownerCommand{{owner: argv[1], lease: ms(2), acquires: true, places: ms(3)}}
	case "renew":
		for i, key := range keys {
			if key == o.Name && argv[0] != "0" {
				all = append(all, ownerCommand{owner: argv[i+1], lease: ms(0), renews: true})
			}
		}
	case "unlock_keep":
		return []ownerCommand{{owner: argv[2], lease: ms(1), keeps: ms(6), keeper: argv[5]}}
	case "fair_keep":
		return []ownerCommand{{owner: argv[1], lease: ms(2), keeps: ms(5), keeper: argv[4]}}
	case "unlock", "unlock_to":
		return []ownerCommand{{owner: argv[2], lease: ms(1)}}
	case "fair_unlock":
		argv = behindNames(args, n, 3)
		return []ownerCommand{{owner: argv[1], lease: ms(2)}}
	case "spin_unlock":
		return []ownerCommand{{owner: argv[1], lease: ms(0)}}
	}
	return all
}

// behindNames are a script's arguments behind all names that it takes. While the slot moves, only the first of its names is a key,
// and the others are its first arguments. A release with a latch has one name more, and is never sent so.
func behindNames(args []string, keys, names int) []string {
	return args[3+max(keys, names):]
}

// acting is what is known of one owner of a lock.
type acting struct {
	ran      time.Time     // when its last command ran
	by       string        // the host that sent it
	granted  time.Time     // when it first entered
	trusts   time.Time     // until when its client may trust what its commands gave it
	released time.Time     // when the last release of its client ran, whatever the server said
	over     int           // holds whose leases had ended when they were released: the server may count them until the owner has none
	keepsTo  time.Time     // until when the lock may stay taken behind its release, as AtLeast has it
	places   time.Duration // for how long it asked last to keep a fair lock's place
	queued   bool          // it is a waiter's that has to queue, behind the others of its client
	doubted  time.Time     // when one of its calls last ended that may have changed the count without saying so
	tried    string        // the host that sent its last refused attempt; any may release
	first    int           // its first and last refused attempts, by the object's number of attempts
	last     int
}

func (o *object) acts(owner string) *acting {
	a := o.acting[owner]
	if a == nil {
		if o.acting == nil {
			o.acting = map[string]*acting{}
		}
		a = &acting{queued: true}
		o.acting[owner] = a
	}
	return a
}

// leastApart is how far apart two commands run at least of which the second is sent behind the first one's reply: each way takes 50 µs.
const leastApart = 100 * time.Microsecond

// judgeOwner judges a command that acts as an owner, at the server that ran it.
func (p *play) judgeOwner(o *object, s server, host string, c ownerCommand, reply any) {
	a := o.acts(c.owner)
	if a.by == host && p.calm() && time.Since(a.ran) < leastApart {
		p.violate("overlap: two commands of %s for %s ran within %v", c.owner, o.Name, time.Since(a.ran))
	}
	a.ran, a.by = time.Now(), host
	_, refused := reply.(simredis.Error)
	ms, taken := reply.(int64)
	switch {
	case c.acquires:
		a.places = c.places
		o.news[host] = news{taken: true, takenAt: time.Now()}
		a.released = time.Time{}
	case !c.renews && o.leaves(c.owner):
		a.released = time.Now()
	}
	if !c.acquires && !c.renews && c.keeps == 0 && taken && ms == 1 {
		a.over = 0
		o.news[host] = news{takenAt: o.news[host].takenAt, freeAt: time.Now()}
	}
	switch {
	case c.keeps > 0:
		p.judgeKeeps(o, s, a, c)
	case refused:
	case c.acquires && taken:
		p.judgeQueued(o, host, c.owner, a)
	default:
		if c.acquires && a.granted.IsZero() {
			a.granted = time.Now()
		}
		if only := o.onlyCall(c.owner); c.acquires && only != nil && p.site.replicated() {
			only.refusedAt = time.Time{} // a refusal may have been lost behind WAIT, and a grant that no replica has is given back
		}
		if l := p.lifeOf(c.owner); l != nil && c.lease > 0 {
			if to := time.Now().Add(l.trusts(c.lease)); to.After(a.trusts) {
				a.trusts = to
			}
		}
	}
	if c.renews {
		p.judgeForgotten(o, c.owner)
	}
}

// mostWaiters are remembered of one object.
const mostWaiters = 32

// judgeQueued judges that the waiters of one client make one attempt at a time: two of them can't both try again and again.
func (p *play) judgeQueued(o *object, host, owner string, a *acting) {
	o.tries++
	if a.first == 0 {
		a.first = o.tries
		o.waiters = append(o.waiters[max(0, len(o.waiters)-mostWaiters):], a)
	}
	defer func() { a.last, a.tried = o.tries, host }()
	if c := o.onlyCall(owner); c != nil && c.refusedAt.IsZero() {
		c.refusedAt = time.Now()
	}
	if a.last == 0 || !a.queued || !p.calm() || o.Kind == Fair || o.Kind == ReadWrite || o.multi {
		return
	}
	for _, x := range o.waiters {
		if x != a && x.queued && x.tried == host && x.first < a.first && x.last > a.first {
			p.violate("queue: two waiters of %s try to get %s by turns", host, o.Name)
			x.queued = false // once
			return
		}
	}
}

// judgeKeeps judges that only a release within AtLeast leaves the lock taken, and for no longer than that. A repetition that finds the
// lock left by an earlier one changes nothing, whatever time it names.
func (p *play) judgeKeeps(o *object, s server, a *acting, c ownerCommand) {
	onItsWay := 25 * time.Millisecond
	if p.site.replicated() {
		onItsWay += time.Second // behind a WAIT
	}
	if !p.calm() && !(p.lull && time.Since(p.lullAt) > commandTimeout) {
		onItsWay += commandTimeout // it may wait for a connection
	}
	over, left := time.Until(a.keepsTo), time.Until(s.Until(o.Name))
	if _, kept := s.Field(o.Name, c.keeper); kept && left > max(over, 0)+onItsWay && time.Now().After(p.delayed) {
		p.breach("atleast: a release by %s leaves %s taken for %v, and it may be so for %v", c.owner, o.Name, left, over)
	}
}

// judgeLeaves judges that a release within AtLeast leaves the lock taken until that is over, by a clock that may be fast.
func (p *play) judgeLeaves(h *hold, m server) {
	a := h.o.acting[h.owner]
	if a == nil || a.granted.IsZero() || h.o.forcedAt.After(h.began) {
		return
	}
	until := a.granted.Add(time.Duration(float64(h.atLeast)*slowest) - 2*time.Millisecond)
	if is := m.Until(h.o.Name); time.Now().Before(until) && is.Before(until) {
		p.breach("atleast: %s released %s, which is to be taken for %v more, and is so for %v", h.who, h.o.Name, time.Until(until), time.Until(is))
	}
}

// leaves reports whether the release of each hold of an owner has begun.
func (o *object) leaves(owner string) (all bool) {
	for _, h := range o.holds {
		if h.owner == owner {
			if !h.ending || h.common || h.life == nil || h.leftAlone != nil {
				return false
			}
			all = true
		}
	}
	return all
}

// judgeForgotten judges that nobody renews a hold whose last release was sent. A renewal that was sent before may have been on its way.
func (p *play) judgeForgotten(o *object, owner string) {
	const onItsWay = 50 * time.Millisecond
	a := o.acts(owner)
	if !a.released.IsZero() && a.released.After(p.delayed) && time.Since(a.released) > onItsWay && o.excused[owner] == "" && o.leaves(owner) {
		p.violate("renewed: %s is renewed for %s, whose last release was sent %v before", o.Name, owner, time.Since(a.released))
	}
}

// lifeOf is the client of an owner.
func (p *play) lifeOf(owner string) *life { return p.clients[clientOf(owner)] }

// trusts is for how long a client may trust a lease of which the server has just begun to count. It has begun a moment earlier.
func (l *life) trusts(lease time.Duration) time.Duration {
	return time.Duration(float64(lease) * 0.99 / l.rate)
}

// judgeSent judges that trust in a hold counts from before its command was sent. until is when it ends by the client's clock.
func (p *play) judgeSent(h *hold, until time.Time) {
	o := h.o
	a := o.acting[h.owner]
	if h.life == nil || h.common || h.void != "" || a == nil || a.trusts.IsZero() || o.Kind == ReadWrite || o.Kind == Permits {
		return
	}
	const apart = 10 * time.Microsecond
	ends := time.Now().Add(time.Duration(float64(time.Until(until)) / h.life.rate))
	if late := ends.Sub(a.trusts); late > apart {
		p.violate("sent: %s trusts its hold of %s for %v longer than since its last command was sent", h.who, o.Name, late)
	}
}

// judgeShared judges how many holds the server counts of an owner that several callers use, when none of their calls is open.
// A hold whose lease has ended is counted until another one of the owner is released.
func (p *play) judgeShared(o *object, owner string) {
	if a := o.acting[owner]; a == nil || !a.doubted.IsZero() || o.Kind == ReadWrite || o.Kind == NonReentrant || o.excused[owner] != "" || o.isOpen(owner) || !p.steady(time.Now()) {
		return
	}
	least, most := 0, o.acting[owner].over
	for _, h := range o.holds {
		switch {
		case h.owner != owner:
		case h.void != "" || !h.common:
			return
		case h.lease == 0:
			least++
			most++
		default:
			most++
		}
	}
	text, there := p.site.master(o.Name).Field(o.Name, owner)
	if is := int(number(text)); there && (is < least || is > most) {
		p.breach("shared: the server counts %d holds of %s by %s, and its callers have %d to %d", is, o.Name, owner, least, most)
		o.doubt(owner) // once
	}
	p.res.Outcomes["counts of shared owners that were judged"]++
}

// onlyCall is the only open call that acts as an owner; nil: there is none, or another.
func (o *object) onlyCall(owner string) (only *call) {
	for _, c := range o.calls {
		switch {
		case c.as != owner:
		case only != nil:
			return nil
		default:
			only = c
		}
	}
	return only
}

func (o *object) doubt(owner string) { o.acts(owner).doubted = time.Now() }

// undoubted is for how long nothing may be left of an owner before all is known of it again.
const undoubted = 15 * time.Second

// begins forgets what is not known of an owner that several callers use, if nothing is left of it and nothing can come.
func (o *object) begins(owner string) {
	a := o.acts(owner)
	if a.doubted.IsZero() || time.Since(a.doubted) < undoubted || o.isOpen(owner) || slices.ContainsFunc(o.holds, func(h *hold) bool { return h.owner == owner }) {
		return
	}
	m := o.p.site.master(o.Name)
	_, reads := m.Field(o.Name, owner)
	if _, writes := m.Field(o.Name, owner+":write"); !reads && !writes {
		a.doubted = time.Time{}
		delete(o.excused, owner)
	}
}

// isOpen reports whether a call acts as an owner.
func (o *object) isOpen(owner string) bool {
	return slices.ContainsFunc(o.calls, func(c *call) bool { return c.as == owner })
}
