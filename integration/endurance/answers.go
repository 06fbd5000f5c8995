package main

import (
	"strings"

	"github.com/rlock-go/redisson/integration/faultproxy"
)

// judgeAnswers holds what calls were told against what passed the proxies.
func (r *round) judgeAnswers() {
	r.mu.Lock()
	defer r.mu.Unlock()
	records := map[*client][]wire{}
	for _, c := range r.clients {
		records[c] = c.record()
	}
	for i := range r.calls {
		k := &r.calls[i]
		if !k.acquires() || !k.failed() {
			continue
		}
		r.tally.add(nAnswers, 1)
		record := records[k.c]
		var kind, what string
		switch {
		case k.is("locked") && k.Throughout && !r.shared[k.owner] && r.lostBefore() == 0 && !r.forcedSince(k.Start):
			kind, what = "locked", "locked by another owner, where its own has a valid hold"
		case k.is("locked") && !trouble(k.Text) && !r.justified(k, record):
			kind, what = "locked", "locked, where the server has not said so"
		case k.is("uncertain") && !r.wasSent(k, record):
			kind, what = "uncertain", "uncertain, where nothing was sent"
		case !r.mayEnd(k) && r.wasTold(k, record):
			kind, what = "given up", "a wait that was told \"taken\" was given up"
		}
		if what != "" {
			r.violateLocked(kind, "%s: %v of client %d at %.1f: %s", what, k.op, k.c.n, float64(k.Start-r.began)/1e6, k.Text)
		}
	}
}

func (r *round) forcedSince(at int64) bool {
	for _, f := range r.forced {
		if f.to > at || f.open {
			return true
		}
	}
	return false
}

// justified tells whether the server has said "taken" to this call, or to those that it queued behind.
func (r *round) justified(k *call, record []wire) bool {
	from := k.Start
	if k.owner == "" && k.Do != doTry {
		from = r.queuedSince(k)
	}
	if k.owner == "" && k.Do != doTry {
		for _, h := range r.holds {
			if h.c == k.c && h.start < k.End && (h.unlocked == 0 || h.unlocked > from) {
				return true // by somebody of the same client
			}
		}
	}
	for _, w := range record {
		if w.refused() && w.sent >= from-ms && w.answered <= k.End+2*ms && (k.owner == "" || w.over(k.owner)) {
			return true
		}
	}
	return false
}

// queuedSince is since when somebody of the call's client waited without a break.
func (r *round) queuedSince(k *call) int64 {
	from := k.Start
	for again := true; again; {
		again = false
		for i := range r.calls {
			o := &r.calls[i]
			// A queue lives on for a moment behind its last waiter.
			if o.c == k.c && o.acquires() && o.Do != doTry && o.Start < from && o.End > from-int64(k.c.set.Watchdog) {
				from, again = o.Start, true
			}
		}
	}
	return from
}

// wasSent tells whether an acquire left the client during the call. What was written to a connection that was cut is
// in no record.
func (r *round) wasSent(k *call, record []wire) bool {
	if strings.Contains(k.Text, "may still run; nothing was sent") {
		return true // an earlier unlock was
	}
	undecided := strings.Contains(k.Text, "was sent and never answered, and")
	if undecided && k.c.disturbed.Load() != 0 || strings.Contains(k.Text, "EOF") || strings.Contains(k.Text, "reset") || strings.Contains(k.Text, "broken pipe") {
		return true
	}
	end := k.End
	for _, s := range k.c.silences {
		if s.from <= k.End && s.to >= k.Start {
			end = max(end, s.to+200*ms) // read at the thaw
		}
	}
	// The proxy reads late what was written while the machine stood still.
	end += 2 * int64(r.machine.stood(k.Start, end+500*ms))
	for _, at := range k.c.cuts {
		if at >= k.Start-50*ms && at <= end+50*ms {
			return true
		}
	}
	for _, w := range record {
		if w.sent < k.Start-50*ms || w.sent > end+50*ms {
			continue
		}
		if w.did == faultproxy.CutBefore || w.did == faultproxy.CutAfter || w.what == acquire && (k.owner == "" || w.over(k.owner)) {
			return true
		}
	}
	return false
}

// mayEnd tells an error with which a wait may end that was told "taken".
func (r *round) mayEnd(k *call) bool {
	if k.Do == doTry || k.Do == doTryFor && k.End-k.Start >= int64(k.Wait)-2*ms || k.is("ctx") || k.is("canceled") || k.is("locked") || k.is("closed") || k.is("lost") || k.is("gone") {
		return true
	}
	for _, text := range []string{"was sent and never answered, and", "may still run; nothing was sent", "could not be undone", "NOPERM", "WRONGTYPE"} {
		if strings.Contains(k.Text, text) {
			return true
		}
	}
	return false
}

// wasTold tells whether the call has certainly heard that the lock is taken. Only a lease of its own tells its commands
// from those of other calls.
func (r *round) wasTold(k *call, record []wire) bool {
	for _, w := range record {
		if w.refused() && w.did == 0 && w.lease == int64(k.Lease) && w.lease != 0 && w.sent >= k.Start && w.answered+50*ms < k.End &&
			(k.owner == "" || w.over(k.owner)) && !r.spoilt(k.c, w, record) {
			return true
		}
	}
	return false
}

// spoilt tells whether something may have kept a reply from its client.
func (r *round) spoilt(c *client, w wire, record []wire) bool {
	for _, o := range record {
		if o.conn == w.conn && o.did != 0 && o.did != faultproxy.Answer && o.sent <= w.answered+50*ms {
			return true
		}
	}
	for _, at := range c.cuts {
		if at >= w.sent-50*ms && at <= w.answered+50*ms {
			return true
		}
	}
	for _, s := range c.silences {
		if s.from <= w.answered+50*ms && s.to >= w.sent-50*ms {
			return true
		}
	}
	return r.machine.settled(w.sent, w.answered+50*ms) > 0
}
