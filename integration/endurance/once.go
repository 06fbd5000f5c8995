package main

import (
	"strings"
	"time"

	"github.com/rlock-go/redisson/integration/faultproxy"
)

// What follows a lost or refused unlock without a latch, beside its repetitions.
const (
	asksWhetherItRan = "asked whether a refused unlock without latch had run"
	asksCount        = "asked for the count of an owner that was shown when its unlock was lost"
)

// release calls Unlock. Where owners are used once, some are shown while their unlock is lost: then it must not be sent
// again.
func (a *actor) release(h *hold, o op) {
	if !a.r.theme.once || a.r.theme.quiet || a.rng.IntN(5) > 0 {
		a.perform(releases, o)
		return
	}
	how := []string{lostSilent, lostSilent, swallowed, lateBytes}[a.rng.IntN(4)]
	at := a.c.arm(fault{command: unlockOnce, how: how, times: 1}, a.rng)
	if at == nil {
		a.perform(releases, o)
		return
	}
	shown := make(chan struct{})
	after := time.Duration(a.rng.Int64N(int64(a.c.set.Timeout)))
	go func() {
		defer close(shown)
		wait(after, a.r.heal)
		a.r.order(a.c, op{Do: doShow, Hold: h.id})
	}()
	a.r.order(a.c, o)
	<-shown
	at.disarm()
}

// goesOn tells of an unlock without a latch that failed whether it is repeated until it is answered or the lease is over.
// Then nothing is left of it in the end. mu is held.
func (r *round) goesOn(h *hold, rep reply) bool {
	if !r.theme.once || h.shown.from != 0 || rep.is("lost") {
		return false
	}
	if rep.is("notheld") && !rep.is("uncertain") || strings.HasPrefix(rep.Text, "released, but") {
		return true // it is over
	}
	for _, text := range []string{"it is repeated while the lease lasts", "it goes on in the background", "is still without an answer"} {
		if strings.Contains(rep.Text, text) {
			return true
		}
	}
	return false
}

// judgeUnlocks holds what unlocks without a latch were told, and how often they were sent, against what passed the proxies.
func (r *round) judgeUnlocks() {
	r.mu.Lock()
	defer r.mu.Unlock()
	records := map[*client][]wire{}
	for _, c := range r.clients {
		records[c] = c.record()
		for _, w := range records[c] {
			switch w.what {
			case hexists:
				r.tally.hit(asksWhetherItRan, 1)
			case hget:
				r.tally.hit(asksCount, 1)
			}
		}
	}
	for i := range r.calls {
		k := &r.calls[i]
		if k.Do != doUnlock {
			continue
		}
		r.tally.add(nUnlocks, 1)
		h := r.holdLocked(k.c, k.op.Hold)
		record := records[k.c]
		what := ""
		switch {
		case k.is("lost"): // it has a latch
		case h.shown.from == 0 && sentWith(unlock, k.owner, record):
			what = "sent with a latch, where its owner was used once"
		case h.shown.from != 0 && r.repeated(h, record):
			what = "sent again, where its owner was shown before the connection was killed"
		case !k.failed() && !answered(k, h, record):
			what = "released, where no answer says so"
		case k.is("notheld") && lostBetween(k, record):
			what = "not held, where an earlier send had no answer"
		case k.is("notheld") && k.End < h.until && !k.c.set.NoKill && r.lostBefore() == 0:
			what = "not held, where it was"
		}
		if what != "" {
			r.violateLocked("unlock", "%s: %v of %v at %.1f: %v", what, k.op, h, float64(k.Start-r.began)/1e6, k.reply)
		}
	}
}

func sentWith(form, owner string, record []wire) bool {
	for _, w := range record {
		if w.what == form && w.over(owner) {
			return true
		}
	}
	return false
}

// reached tells whether the server's answer may have come to the client.
func (w wire) reached() bool {
	if _, refused := w.reply.(faultproxy.Error); refused || w.answered == 0 {
		return false
	}
	switch w.did {
	case faultproxy.CutBefore, faultproxy.CutAfter, faultproxy.DropReply, faultproxy.Blackhole, faultproxy.Answer:
		return false
	}
	return true
}

// answered tells whether an answer to the unlock came in time to say that nothing is left, or to the question that takes
// its place when its owner was shown.
func answered(k *call, h *hold, record []wire) bool {
	for _, w := range record {
		says := w.unlocks() && w.over(k.owner) || w.what == hget && h.shown.from != 0
		if says && w.reached() && w.sent >= k.Start-50*ms && w.answered <= k.End+2*ms {
			return true
		}
	}
	return false
}

// lostBetween tells whether a send of the unlock that is not the last had no answer. Refusals are answers, those of
// scripts that are not known among them.
func lostBetween(k *call, record []wire) bool {
	lost := false
	for _, w := range record {
		if w.what != unlockOnce || !w.over(k.owner) || w.sent > k.End {
			continue
		}
		if lost {
			return true
		}
		_, said := w.reply.(faultproxy.Error)
		lost = !said && w.did != faultproxy.Answer
	}
	return false
}

// repeated tells whether the unlock was sent again, although its owner was shown before the connection of the lost send
// was killed.
func (r *round) repeated(h *hold, record []wire) bool {
	var lost, killed int64
	for _, w := range record {
		switch {
		case w.what == kill && lost != 0 && killed == 0 && !h.c.set.NoKill && w.sent > h.shown.to+20*ms:
			killed = w.sent
		case w.what == kill && lost != 0 && killed == 0:
			return false // it may have been under way again when the owner was shown
		case w.what != unlockOnce || !w.over(h.owner):
		case killed != 0:
			return true
		case w.did != faultproxy.Answer && w.sent < h.shown.to:
			if _, said := w.reply.(faultproxy.Error); !said {
				lost = w.sent
			}
		}
	}
	return false
}
