package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/faultproxy"
)

// finish ends the faults, and holds what is left against what was granted and released.
func (r *round) finish() {
	r.healed.Store(true)
	close(r.heal)
	r.mu.Lock()
	all := append([]*armed(nil), r.armed...)
	r.mu.Unlock()
	for _, a := range all {
		a.disarm()
	}
	r.faults.Wait()
	for _, a := range all {
		r.tally.hit(a.command+": "+a.how, a.handle.Hits())
		if a.how == refused {
			r.tally.hit("refused with "+a.code, a.handle.Hits())
		}
	}
	r.logf("healed")
	r.settle()
	r.letGo()
	close(r.ended)
	r.probes.Wait()
	r.leave()
	r.judgeAnswers()
	if r.theme.once {
		r.judgeUnlocks()
	}
	for _, wrong := range r.tb.Errors() {
		r.violate("rig", "%s", wrong)
	}
	r.buryAt(r.name, now()+int64(r.longest()))
}

func (r *round) longest() (d time.Duration) {
	for _, c := range r.clients {
		d = max(d, 5*c.set.Timeout+time.Second)
	}
	return d
}

// settle waits until the count is what it must be, for as long as what is open may take.
func (r *round) settle() {
	limit := r.longest() + time.Second
	began := now()
	for {
		wrong, exact := r.miscounted()
		if wrong == "" {
			if exact {
				r.tally.add(nCounted, 1)
			} else {
				r.tally.add(nSlack, 1)
			}
			return
		}
		if took := time.Duration(now() - began); took > limit+r.machine.slack(began, now()) {
			r.violate("count", "%v after the faults ended: %s", took, wrong)
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// maybeLost is how many of those acquires were perhaps lost though no fault was made: the machine stood still. Their callers
// were gone by then, and whether the count is one too high is not known.
func (r *round) maybeLost(a *account) (n int) {
	for _, g := range a.given {
		if r.machine.stood(g.from, g.to) > 0 {
			n++
		}
	}
	return n
}

// miscounted holds the server's counts against what was granted and released. exact: no call's outcome is uncertain.
func (r *round) miscounted() (wrong string, exact bool) {
	first := r.survey()
	seen := r.look()
	second := r.survey()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lostBefore() != 0 || len(r.forced) > 0 {
		return "", false // holds of others don't know yet
	}
	valid, unclear := map[string]int{}, map[string]int{}
	for _, h := range r.holds {
		a, b := first[h], second[h]
		switch {
		case h.handed || h.unlocking != 0:
		case a.Valid && b.Valid && min(a.Until, b.Until) > seen.to:
			valid[h.owner]++
		default:
			unclear[h.owner]++
		}
	}
	exact = true
	owners := map[string]bool{}
	for o := range seen.fields {
		owners[o] = true
	}
	for o := range valid {
		owners[o] = true
	}
	for o := range owners {
		a := r.account(o)
		if a.tainted != "" {
			exact = false
			continue
		}
		slack := a.slack + unclear[o] + max(r.refusedUnlocks(o)-a.unreleased, 0) + r.maybeLost(a)
		least, most := valid[o]+a.handed, valid[o]+a.handed+slack
		if a.handed < 0 {
			most = max(most, valid[o])
			least = min(least, valid[o])
		}
		if exact = exact && slack == 0; r.shared[o] && (seen.ttl < 0 || r.cut(o)) {
			continue // another's shorter lease
		}
		if n := seen.fields[o]; n < least || n > most {
			wrong = fmt.Sprintf("owner %s has %d valid holds, %d handed over, %d uncertain; the server counts %d (%v)", short(o), valid[o], a.handed, slack, n, seen)
		}
	}
	return wrong, exact
}

// refusedUnlocks is how many unlocks of an owner were refused to the end, those among them that were to give back what a
// call got that had failed by then.
func (r *round) refusedUnlocks(owner string) (n int) {
	for _, c := range r.clients {
		refused := map[string]bool{}
		for _, w := range c.record() {
			if w.unlocks() && w.over(owner) {
				refused[w.latch] = w.did == faultproxy.Answer
			}
		}
		for _, was := range refused {
			if was {
				n++
			}
		}
	}
	return n
}

// letGo releases all that is held.
func (r *round) letGo() {
	var all sync.WaitGroup
	for _, c := range r.clients {
		r.mu.Lock()
		var own []*hold
		for _, h := range r.holds {
			if h.c == c && !h.handed && h.unlocking == 0 && h.lost == 0 {
				own = append(own, h)
			}
		}
		r.mu.Unlock()
		all.Go(func() {
			for _, h := range own {
				r.order(c, op{Do: doUnlock, Hold: h.id})
			}
		})
	}
	all.Wait()
	r.free()
}

// mustEnd waits until an owner's last lease has ended. Nobody calls for it meanwhile.
func (r *round) mustEnd(owner string) {
	r.mu.Lock()
	end := r.account(owner).most
	for _, h := range r.holds {
		if h.owner == owner {
			end = max(end, h.most)
		}
	}
	r.mu.Unlock()
	if time.Duration(end-now()) > 6*time.Second {
		return // a long lease
	}
	r.logf("waiting for the end of %s's leases", short(owner))
	for {
		seen := r.look()
		n := seen.fields[owner]
		if n == 0 {
			return
		}
		if late := time.Duration(seen.from - end); late > delay && late > delay+2*r.machine.settled(end, seen.from) {
			r.violate("lease", "owner %s has %d, %v after the last of its leases has ended (%v)", short(owner), n, late, seen)
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// free waits until the key is gone, unless it may be another's or uncertain calls have left something of it.
func (r *round) free() {
	r.mu.Lock()
	certain := r.lostBefore() == 0 && len(r.forced) == 0
	for _, a := range r.accounts {
		certain = certain && a.slack == 0 && a.handed == 0 && a.tainted == "" && r.maybeLost(a) == 0
	}
	for _, h := range r.holds {
		certain = certain && h.unlocking != 0 && !h.handed
	}
	r.mu.Unlock()
	// Fresh owners whose acquires failed are given back by the time that counts were settled.
	began := now()
	for certain {
		seen := r.look()
		left := 0
		r.mu.Lock()
		for owner, n := range seen.fields {
			left += max(0, n-r.refusedUnlocks(owner))
		}
		r.mu.Unlock()
		if left == 0 {
			break
		}
		if took := time.Duration(now() - began); took > 300*time.Millisecond+r.machine.slack(began, now()) {
			r.violate("count", "all is released, and after %v the server has %v", took, seen)
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	r.command("DEL", r.name)
}

// leave ends the clients and looks for what they leave.
func (r *round) leave() {
	began := now()
	subscribed := func() int64 {
		n, _ := redis.Values(r.command("PUBSUB", "NUMSUB", codec.Channel(r.name)), nil)
		count, _ := n[1].(int64)
		return count
	}
	for subscribed() > 0 {
		if time.Duration(now()-began) > 3*time.Second+r.machine.slack(began, now()) {
			r.violate("left", "a subscription")
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	var all sync.WaitGroup
	for _, c := range r.clients {
		all.Go(func() { r.end(c) })
	}
	all.Wait()
	for _, c := range r.clients {
		began := now()
		for open := true; open; time.Sleep(5 * time.Millisecond) {
			open = false
			for _, conn := range c.proxy.Log() {
				open = open || conn.Open
			}
			if open && time.Duration(now()-began) > 2*time.Second+r.machine.slack(began, now()) {
				r.violate("left", "client %d is closed and keeps a connection", c.n)
				break
			}
		}
	}
}

// end shuts a client down, in good order if it holds nothing.
func (r *round) end(c *client) {
	holding := false
	r.mu.Lock()
	for _, h := range r.holds {
		holding = holding || h.c == c && h.unlocking == 0 && h.lost == 0
	}
	r.mu.Unlock()
	if !holding {
		o := op{Do: doShutdown, Ctx: 20 * time.Second}
		if rep := r.order(c, o); rep.failed() {
			r.violate("shutdown", "client %d holds nothing, and Shutdown says %v", c.n, rep)
		}
	}
	if rep := r.order(c, op{Do: doClose}); rep.Lent > 0 {
		r.violate("left", "client %d is closed and did not return %d connections", c.n, rep.Lent)
	}
}
