package lockstate

import "github.com/rlock-go/redisson/watchdog"

// While a cluster moves a slot, its keys are in two places. An unlock has the
// lock, its channel and perhaps a latch as keys, of which only the lock exists
// before it runs. No server has all of them, so that the unlock is answered
// TRYAGAIN until the slot has settled, which may never happen. Nothing of it runs
// until then.
//
// The form without a latch is sent in another way at once: with the lock as its
// only key, which one of the two servers has. The form with a latch is repeated
// until the slot has settled, or the server has dropped what is released. Its
// caller is told at the limit, as always.
//
// A ForceUnlock has the lock and its channel as keys, and is sent again in the same
// way, with the lock as its only key.

// sentAlone takes an unlock that was answered TRYAGAIN, and reports whether it was
// sent again. It is called with the shard locked.
func (r *release) sentAlone() bool {
	if !r.once {
		// UnlockAs has no unheld: its caller may send another one after the limit.
		if r.split = true; r.req.First == 0 && r.req.Until != watchdog.Never {
			r.req.Until = max(r.req.Until, r.unheld)
		}
		return false
	}
	if r.want.Alone || r.st.shown() {
		return false
	}
	r.want.Alone = true
	call := r.call()
	r.l.fill(&r.req, call)
	r.send()
	return true
}

// sentAlone takes a ForceUnlock that was answered TRYAGAIN, and reports whether it
// was sent again. It is called with the shard locked.
func (f *forcing) sentAlone() bool {
	if f.want.Alone {
		return false
	}
	f.want.Alone, f.req.Whole, f.req.Until = true, false, watchdog.Never
	f.l.fill(&f.req, f.l.kind.Force(&f.want))
	f.n.forces++ // for those who were queued since
	return f.n.l.s.sec.enqueue(&f.req)
}
