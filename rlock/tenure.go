package rlock

import (
	"slices"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/watchdog"
)

// tenure is one owner's dealings with one name: the holds it has, the lease
// they share, and the lane in which its commands are sent one at a time and
// in order, none while an earlier one's outcome is open (H6). All of it is
// guarded by the shard's mutex.
type tenure struct {
	n     *name
	owner Owner
	field string // the owner as Redis holds it
	word  any    // field, boxed once
	place int    // in the name's list; -1: not there any more

	busy  bool // a command of this owner is under way
	queue []op // those that wait for it

	holds    []*Hold         // living: neither released nor lost
	lease    *watchdog.Lease // what the watchdog knows; nil between holds
	attempts int             // acquires under way or waiting in the lane
	first    Hold            // room for the first hold
	room     [1]*Hold        // and for its place in holds
	owed     int             // holds whose own lease ended before this one, counted by the server until their Unlock
	unsent   int             // unlocks waiting in the lane, whose holds the server still counts
}

// op is a command that waits for its owner's lane. begin runs with the shard
// locked; leave is owed for it.
type op interface{ begin() }

// opFunc makes an op of a function.
type opFunc func()

func (f opFunc) begin() { f() }

// find is the owner's dealings with the name, or nil.
func (n *name) find(o Owner) *tenure {
	for _, t := range n.tenures {
		if t.owner == o {
			return t
		}
	}
	return nil
}

// holds tells whether the owner has a living hold.
func (n *name) holds(o Owner) bool {
	t := n.find(o)
	return t != nil && len(t.holds) > 0
}

// tenure finds or makes the owner's dealings with the name.
func (n *name) tenure(o Owner) *tenure {
	if t := n.find(o); t != nil {
		return t
	}
	return n.newTenure(o)
}

func (n *name) newTenure(o Owner) *tenure {
	t := &tenure{n: n, owner: o, field: o.String(), place: len(n.tenures)}
	t.word = t.field
	t.holds = t.room[:0]
	n.tenures = append(n.tenures, t)
	return t
}

// enter begins o, at once or when the commands before it have ended.
func (t *tenure) enter(o op) {
	if t.busy {
		t.queue = append(t.queue, o)
		return
	}
	t.busy = true
	o.begin()
}

// leave ends a command and starts the next.
func (t *tenure) leave() {
	if len(t.queue) > 0 {
		o := t.queue[0]
		t.queue[0] = nil
		t.queue = t.queue[1:]
		o.begin()
		return
	}
	t.busy = false
	t.tidy()
}

// tidy drops a tenure that nobody needs any more.
func (t *tenure) tidy() {
	if t.busy || len(t.holds) > 0 {
		return
	}
	if t.lease != nil {
		t.lease.Forget()
		t.lease = nil
	}
	if t.place < 0 {
		return
	}
	n := t.n
	last := len(n.tenures) - 1
	n.tenures[t.place] = n.tenures[last]
	n.tenures[t.place].place = t.place
	n.tenures[last] = nil
	n.tenures = n.tenures[:last]
	t.place = -1
	n.tidy()
}

// register makes the watchdog know the lease before an acquire is sent (H5).
func (t *tenure) register() {
	if t.lease == nil {
		t.lease = t.n.c.dog.Register(t)
	}
}

// needs is how much lease the living holds were promised beyond now, in whole
// milliseconds rounded up (H6). A hold that the watchdog extends needs a full
// watchdog timeout, unless its MaxHold is over, and no less than its
// ValidUntil said: a longer lease that was nested in it is not cut short under
// it.
func (t *tenure) needs(now time.Duration) time.Duration {
	var need time.Duration
	for _, h := range t.holds {
		if h.fixed {
			need = max(need, h.promised-now)
			continue
		}
		if now < h.renewUntil {
			need = max(need, t.n.c.o.watchdog)
		}
		need = max(need, watchdog.Lasting(t.lease.Expiry()-now))
	}
	return roundUp(need)
}

func roundUp(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return (d + time.Millisecond - 1).Truncate(time.Millisecond)
}

// pass is the lease that a command of this owner carries: its own or what the
// living holds still need, whichever is longer, at least a millisecond.
func (t *tenure) pass(own time.Duration) time.Duration {
	if len(t.holds) == 0 {
		return max(own, time.Millisecond)
	}
	return max(own, t.needs(t.n.c.early()), time.Millisecond)
}

// renewUntil is when the watchdog stops extending: the last of the living
// holds that want it decides. 0 means that none does.
func (t *tenure) renewUntil() time.Duration {
	var until time.Duration
	for _, h := range t.holds {
		if !h.fixed {
			until = max(until, h.renewUntil)
		}
	}
	return until
}

// leased records that a command sent at sent set the key's lease to ttl, and
// has the watchdog follow from there. It reports whether trust lasts.
func (t *tenure) leased(sent, ttl time.Duration) bool {
	expiry := watchdog.Trust(sent, ttl)
	from, until := sent, t.renewUntil()
	if until == 0 {
		from, until = clock.Never, clock.Never
	}
	if !t.lease.Live(expiry, from, until) {
		return false
	}
	t.alarm()
	return true
}

// alarm has the watchdog call when the first of the holds' own leases ends.
func (t *tenure) alarm() {
	at := clock.Never
	for _, h := range t.holds {
		at = min(at, h.end)
	}
	t.lease.SetAlarm(at)
}

// drop takes h off the living holds. It reports whether it was one.
func (t *tenure) drop(h *Hold) bool {
	for i, x := range t.holds {
		if x == h {
			t.holds = append(t.holds[:i], t.holds[i+1:]...)
			return true
		}
	}
	return false
}

// lose ends every living hold: the key is not ours any more.
func (t *tenure) lose(cause error) {
	if t.lease != nil {
		t.lease.Forget()
		t.lease = nil
	}
	holds := t.holds
	t.holds = nil
	for _, h := range holds {
		h.over(lostBy(cause))
	}
	if len(holds) > 0 {
		t.n.c.log.lost(t, holds, cause)
	}
	t.tidy()
}

// LeaseLost is the watchdog's word that trust has ended or that the server
// names another owner.
func (t *tenure) LeaseLost(l *watchdog.Lease, cause error) {
	s := t.n.s
	s.lock()
	defer s.unlock()
	if t.lease == l {
		t.lose(cause)
	}
}

// LeaseAlarm is the watchdog's word that some hold's own lease has ended.
func (t *tenure) LeaseAlarm(l *watchdog.Lease) {
	s := t.n.s
	s.lock()
	defer s.unlock()
	if t.lease != l {
		return
	}
	for _, h := range slices.Clone(t.holds) {
		h.check()
	}
	if t.lease == l {
		// It came a moment early.
		t.settleLease()
	}
}

// settleLease follows a change of the living holds that sent nothing: none of
// them needs no lease, and the watchdog forgets it before the last unlock is
// sent (H5).
func (t *tenure) settleLease() {
	switch {
	case t.lease == nil:
	case len(t.holds) > 0:
		if t.renewUntil() == 0 {
			t.lease.SetRenew(clock.Never, clock.Never)
		}
		t.alarm()
	case t.attempts == 0:
		t.lease.Forget()
		t.lease = nil
	}
}
