package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/rlock-go/redisson/internal/luasrc"
)

// An actor makes one call after the other for one client.
type actor struct {
	r     *round
	c     *client
	owner string // "" for a fresh one each time
	rng   *rand.Rand
	holds []*hold // that it has to release
}

func pick(rng *rand.Rand, ws weights) string {
	sum := 0
	for _, w := range ws {
		sum += w.n
	}
	n := rng.IntN(sum)
	for _, w := range ws {
		if n -= w.n; n < 0 {
			return w.what
		}
	}
	panic("not reached")
}

func (a *actor) between(from, to int) time.Duration {
	return time.Duration(from+a.rng.IntN(to-from)) * time.Millisecond
}

// act goes on until the round stops.
func (a *actor) act() {
	for {
		select {
		case <-a.r.stop:
			return
		default:
		}
		switch {
		case a.r.theme.inherit:
			a.inherit()
		case a.r.theme.stuck && a.rng.IntN(2) == 0 && len(a.holds) == 0:
			a.stick()
		default:
			a.step()
		}
		wait(a.between(1, 40), a.r.stop)
	}
}

func (a *actor) step() {
	a.forget()
	what := pick(a.rng, a.r.theme.do)
	if a.owner == "" && len(a.holds) > 0 && what == enters {
		what = releases // it would wait for itself
	}
	switch {
	case what == pauses:
		wait(a.between(20, 400), a.r.stop)
	case what == forces:
		a.perform(what, op{Do: doForce})
	case what == extends && a.fixed() != nil:
		a.perform(what, op{Do: doExtend, Hold: a.fixed().id, Lease: a.lease([]string{shortLease, midLease, longLease, longLease}[a.rng.IntN(4)])})
	case what == releases && len(a.holds) > 0, len(a.holds) > 2:
		i := a.rng.IntN(len(a.holds))
		h := a.holds[i]
		a.holds = append(a.holds[:i], a.holds[i+1:]...)
		o := op{Do: doUnlock, Hold: h.id}
		if a.rng.IntN(10) == 0 {
			o.Ctx = a.between(0, 60) + 1
		}
		a.release(h, o)
	case what == nests && len(a.holds) > 0:
		a.enter(nests, fmt.Sprintf("#%d", a.holds[a.rng.IntN(len(a.holds))].id))
	default:
		a.enter(enters, a.owner)
		if a.owner == "" && len(a.holds) > 0 && a.rng.Float64() < a.r.theme.rival {
			wait(a.between(100, 900), a.r.stop)
		}
	}
}

// forget drops holds that are known to be lost and that nobody should release: the owner's other clients may hold by now.
func (a *actor) forget() {
	a.r.mu.Lock()
	defer a.r.mu.Unlock()
	var left []*hold
	for _, h := range a.holds {
		if h.lost == 0 || !a.r.shared[h.owner] {
			left = append(left, h)
		}
	}
	a.holds = left
}

// fixed is a hold of its own that can be extended.
func (a *actor) fixed() *hold {
	for _, h := range a.holds {
		if h.op.Lease != 0 {
			return h
		}
	}
	return nil
}

// lease draws one; each is different from the others, so that the record tells whose command it was.
func (a *actor) lease(sort string) time.Duration {
	switch sort {
	case shortLease:
		return a.between(60, 500)
	case midLease:
		return a.between(500, 3000)
	}
	return a.between(4000, 20000)
}

// enter acquires.
func (a *actor) enter(what, as string) {
	o := op{Do: []string{doTry, doTryFor, doLock}[a.rng.IntN(3)], As: as}
	switch sort := pick(a.rng, a.r.theme.leases); sort {
	case watched:
	case maxHold:
		o.MaxHold = a.between(50, 1000)
	default:
		o.Lease = a.lease(sort)
	}
	switch {
	case o.Do == doLock:
		o.Ctx = a.between(50, 1200)
	case o.Do == doTryFor:
		o.Wait = a.between(10, 900)
	}
	if o.Do != doLock && a.rng.IntN(15) == 0 {
		o.Ctx = a.between(0, 80) + 1
	}
	a.perform(what, o)
}

// perform makes a call, which may be aimed at, and keeps what it gave.
func (a *actor) perform(what string, o op) reply {
	var at *armed
	aimed := a.r.theme.aimed
	if what == releases && a.c.set.Mute {
		what, aimed = mutely, 0.9 // there are few of them
	}
	if targets := a.r.theme.targets[what]; len(targets) > 0 && a.rng.Float64() < aimed {
		if f := targets[a.rng.IntN(len(targets))]; what == forces && f.how != refused && a.rng.IntN(2) == 0 {
			// Its script has to be loaded first, while others acquire, and then it is lost.
			a.r.forgetForce()
			if first := a.c.arm(fault{command: force, how: lateReply, times: 1, delay: a.between(20, 120)}, a.rng); first != nil {
				defer first.disarm()
			}
			at = a.c.arm(f, a.rng)
		} else {
			at = a.c.arm(a.coded(f), a.rng)
		}
	}
	rep := a.r.order(a.c, o)
	if at != nil {
		at.disarm()
	}
	if rep.Hold != 0 && o.acquires() {
		a.holds = append(a.holds, a.r.holdOf(a.c, rep.Hold))
	}
	return rep
}

// forgetForce has the server know every script but that of the forced unlock.
func (r *round) forgetForce() {
	r.command("SCRIPT", "FLUSH")
	for _, s := range []*luasrc.Script{luasrc.LockScript, luasrc.RenewScript, luasrc.UnlockScript, luasrc.UnlockOnceScript} {
		r.command("SCRIPT", "LOAD", s.Source)
	}
}

// coded gives a refusal its code.
func (a *actor) coded(f fault) fault { return f.coded(a.rng) }

func (f fault) coded(rng *rand.Rand) fault {
	if f.how == refused && f.code == "" {
		f.code = codes[rng.IntN(len(codes))]
	}
	return f
}

// handOver has the second client take what the others are to release.
func (r *round) handOver() {
	c, owner := r.clients[1], r.owners[0]
	for range 2 + r.rng.IntN(5) {
		o := op{Do: doTry, As: owner, Lease: 12*time.Second + time.Duration(r.rng.IntN(4000))*time.Millisecond}
		if got := r.order(c, o); got.Hold != 0 {
			r.mu.Lock()
			for _, h := range r.holds {
				if h.c == c && h.id == got.Hold {
					h.handed = true
					r.account(owner).handed++
				}
			}
			r.mu.Unlock()
		}
	}
}

// inherit releases what was handed over, or tries to get in.
func (a *actor) inherit() {
	switch {
	case a.owner == "" || a.c.n == 1:
		if a.c.n == 1 {
			wait(a.between(50, 200), a.r.stop)
			return
		}
		if rep := a.perform(enters, op{Do: doTryFor, Wait: a.between(20, 200)}); rep.Hold != 0 {
			a.perform(releases, op{Do: doUnlock, Hold: rep.Hold})
		}
	default:
		o := op{Do: doUnlockAs, As: a.owner}
		if a.rng.IntN(8) == 0 {
			o.Ctx = a.between(0, 100) + 1
		}
		a.perform(releases, o)
		wait(a.between(10, 500), a.r.stop)
	}
}

// stick takes the lock with MaxHold, has others nested in it that end with trouble, and then does nothing any more: the
// key must go.
func (a *actor) stick() {
	outer := a.perform(enters, op{Do: doTryFor, Wait: a.between(20, 600), MaxHold: a.between(50, 600)})
	if outer.Hold == 0 {
		return
	}
	as := fmt.Sprintf("#%d", outer.Hold)
	for range 1 + a.rng.IntN(2) {
		a.enter(nests, as)
	}
	for _, h := range a.holds {
		if h.id != outer.Hold {
			wait(a.between(1, 100), a.r.stop)
			a.perform(releases, op{Do: doUnlock, Hold: h.id})
		}
	}
	a.holds = nil
	a.r.mustEnd(outer.Owner)
	a.r.order(a.c, op{Do: doUnlock, Hold: outer.Hold}) // lost by now
}

// disturb makes faults that nobody aims.
func (r *round) disturb() {
	t := r.theme
	if t.pace == 0 {
		return
	}
	rng := rand.New(rand.NewPCG(r.seed, 3))
	for {
		wait(time.Duration(float64(t.pace)*(0.3+1.4*rng.Float64())), r.stop)
		select {
		case <-r.stop:
			return
		default:
		}
		c := r.clients[rng.IntN(len(r.clients))]
		if len(t.ambient) > 0 && (len(t.events) == 0 || rng.IntN(3) > 0) {
			f := t.ambient[rng.IntN(len(t.ambient))].coded(rng)
			a := c.arm(f, rng)
			if a == nil {
				return
			}
			d := 700 * time.Millisecond
			if f.times == 0 || f.times > 4 {
				d = time.Duration(200+rng.IntN(2300)) * time.Millisecond
			}
			r.faults.Go(func() { wait(d, r.stop); a.disarm() })
			continue
		}
		if len(t.events) > 0 {
			r.event(c, pick(rng, t.events), rng)
		}
	}
}

func (r *round) event(c *client, what string, rng *rand.Rand) {
	long := 40 + rng.IntN(700)
	if rng.IntN(6) == 0 && (r.theme.inherit || r.theme.late) {
		long = 2500 + rng.IntN(1500)
	}
	d := time.Duration(long) * time.Millisecond
	if what != silence {
		r.logf("client %d: %s", c.n, what)
		r.tally.hit(what, 1)
	}
	switch what {
	case silence:
		c.freeze(d)
	case cutAll:
		c.cut()
		c.proxy.CutAll()
	case portClosed:
		c.cut()
		c.proxy.Refuse(true)
		c.proxy.CutAll()
		wait(d, r.heal)
		c.proxy.Refuse(false)
		r.logf("client %d: port open again", c.n)
	case flushScripts:
		r.command("SCRIPT", "FLUSH")
	case killed:
		c.cut()
		for _, conn := range c.proxy.Log() {
			if conn.Open && conn.Addr != "" {
				r.asking.Lock()
				_, _ = r.direct(r.theme).Do("CLIENT", "KILL", "ADDR", conn.Addr) // it may be gone by now
				r.asking.Unlock()
			}
		}
	case deleted, flushed:
		lost := &r.lost
		if what == flushed {
			r.flushing.Lock() // one at a time: it concerns all rounds there
			defer r.flushing.Unlock()
			lost = &r.flushed
		}
		lost.Store(forever)
		if what == deleted {
			r.command("DEL", r.name)
		} else {
			r.command("FLUSHALL")
		}
		lost.Store(now())
	}
}

// cut notes that connections are cut by no rule.
func (c *client) cut() {
	c.disturb()
	c.r.mu.Lock()
	c.cuts = append(c.cuts, now())
	c.r.mu.Unlock()
}

// trouble tells an error of a wait that says more than that it elapsed.
func trouble(text string) bool {
	return strings.Contains(text, "last trouble") || strings.Contains(text, "not answered in time")
}
