package rlock

import (
	"slices"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/watchdog"
)

// tenure is one owner's dealings with one name: the holds it has, the lease
// they share, and the lane in which its commands are sent one at a time and
// in order, none while an earlier one's outcome is open (H6). All of it is
// guarded by the shard's mutex. It is also the owner as a command carries it.
type tenure struct {
	n          *name
	owner      Owner
	prev, next *tenure // of the name's
	listed     bool    // among them

	busy   bool  // a command of this owner is under way
	paused bool  // it was refused or not sent, and is sent again after a pause
	lent   bool  // a renewal is under way in such a pause
	rare   *rare // nil: nothing of it

	holds    *Hold           // living: neither released nor lost; the latest first
	lease    *watchdog.Lease // what the watchdog knows; nil between holds
	held     int32           // how many holds
	attempts int32           // acquires under way or waiting in the lane
	owed     int32           // holds whose own lease ended before this one, counted by the server until their Unlock
	unsent   int32           // unlocks waiting in the lane, whose holds the server still counts
	first    Hold            // room for the first hold
}

// rare is what few owners have.
type rare struct {
	queue []op // commands that wait for the one under way

	// Commands that were lost on a connection that could not be fenced: until
	// late they may still arrive, and the shortest lease that one of them
	// carries is lateLease. late is 0 where there are none.
	late      time.Duration
	lateLease time.Duration
	dropping  bool // a timer drops them
}

// RedisArg is the owner as Redis holds it. It is made anew for each command:
// locks are held for much longer than they are taken and given up.
func (t *tenure) RedisArg() any { return t.owner.text() }

// AppendWord is RedisArg for a connection that can do without the string.
func (t *tenure) AppendWord(b []byte) []byte {
	return codec.AppendOwner(b, t.owner.client, t.owner.thread)
}

// op is a command that waits for its owner's lane. begin runs with the shard
// locked; leave is owed for it.
type op interface{ begin() }

// opFunc makes an op of a function.
type opFunc func()

func (f opFunc) begin() { f() }

// find is the owner's dealings with the name, or nil.
func (n *name) find(o Owner) *tenure {
	for t := n.tenures; t != nil; t = t.next {
		if t.owner == o {
			return t
		}
	}
	return nil
}

// holds tells whether the owner has a living hold.
func (n *name) holds(o Owner) bool {
	t := n.find(o)
	return t != nil && t.held > 0
}

// held tells whether any owner has a living hold. Only one can: a grant to
// another ends it.
func (n *name) held() bool {
	for t := n.tenures; t != nil; t = t.next {
		if t.held > 0 {
			return true
		}
	}
	return false
}

// tenure finds or makes the owner's dealings with the name.
func (n *name) tenure(o Owner) *tenure {
	if t := n.find(o); t != nil {
		return t
	}
	return n.newTenure(o)
}

func (n *name) newTenure(o Owner) *tenure {
	t := &tenure{n: n, owner: o, next: n.tenures, listed: true}
	if t.next != nil {
		t.next.prev = t
	}
	n.tenures = t
	return t
}

// all are the owners that have dealings with the name now.
func (n *name) all() []*tenure {
	var ts []*tenure
	for t := n.tenures; t != nil; t = t.next {
		ts = append(ts, t)
	}
	return ts
}

// enter begins o, at once or when the commands before it have ended.
func (t *tenure) enter(o op) {
	if t.busy {
		r := t.rarely()
		r.queue = append(r.queue, o)
		return
	}
	t.busy = true
	o.begin()
}

// leave ends a command and starts the next.
func (t *tenure) leave() {
	if r := t.rare; r != nil && len(r.queue) > 0 {
		o := r.queue[0]
		r.queue[0] = nil
		r.queue = r.queue[1:]
		t.spare()
		o.begin()
		return
	}
	t.busy = false
	t.tidy()
}

// pause has the command under way, nothing of which can run any more, sent
// again after d. It keeps its place in the lane, but a renewal of the owner's
// other holds may come in between: the server may do that although it refuses
// the command, and those holds must not pay for it (H6).
func (t *tenure) pause(d time.Duration, send opFunc) {
	t.paused = true
	t.n.c.after(d, func() {
		s := t.n.s
		s.lock()
		defer s.unlock()
		if t.lent {
			// It follows the renewal.
			t.lent = false
			r := t.rarely()
			r.queue = slices.Insert(r.queue, 0, op(send))
			return
		}
		t.paused = false
		send()
	})
}

// lend gives the lane to a renewal, if it is free or its command pauses.
func (t *tenure) lend() bool {
	switch {
	case t.paused:
		t.paused, t.lent = false, true
	case t.busy:
		return false
	}
	t.busy = true
	return true
}

// handBack follows the renewal.
func (t *tenure) handBack() {
	if t.lent {
		t.paused, t.lent = true, false
		return
	}
	t.leave()
}

// rarely finds or makes what few owners have.
func (t *tenure) rarely() *rare {
	if t.rare == nil {
		t.rare = new(rare)
	}
	return t.rare
}

// spare drops it if there is nothing left of it.
func (t *tenure) spare() {
	if r := t.rare; len(r.queue) == 0 && r.late == 0 {
		t.rare = nil
	}
}

// mayArrive notes that a command that sets the lease was lost and that its
// connection could not be fenced. When it runs after all, it cuts whatever
// lease a later command has set. For how long that can happen nobody can
// tell; it is reckoned with for one watchdog timeout, and at least for as long
// as the server remembers an unlock. The owner may have released by then, and
// hold again.
func (t *tenure) mayArrive(lease time.Duration) {
	c := t.n.c
	r := t.rarely()
	if r.late == 0 || lease < r.lateLease {
		r.lateLease = lease
	}
	r.late = later(c.now(), max(c.o.watchdog, c.latchTTL()))
}

// least is what is left of a lease if a late command cuts it.
func (t *tenure) least(sent, lease time.Duration) time.Duration {
	if r := t.rare; r != nil && sent < r.late {
		return min(lease, r.lateLease)
	}
	return lease
}

// trust is until when a lease that was set by a command sent at sent can be
// relied on.
func (t *tenure) trust(sent, lease time.Duration) time.Duration {
	return watchdog.Trust(sent, t.least(sent, lease))
}

// remembers tells whether the owner's late commands are a reason to keep what
// is known of it, and has it dropped when they are none any more.
func (t *tenure) remembers() bool {
	r, c := t.rare, t.n.c
	if r == nil || r.late == 0 {
		return false
	}
	left := r.late - c.now()
	if c.closed() || left <= 0 {
		r.late = 0
		t.spare()
		return false
	}
	if !r.dropping {
		r.dropping = true
		c.after(left, func() {
			s := t.n.s
			s.lock()
			defer s.unlock()
			r.dropping = false
			t.tidy()
		})
	}
	return true
}

// tidy drops a tenure that nobody needs any more.
func (t *tenure) tidy() {
	if t.busy || t.held > 0 {
		return
	}
	if t.lease != nil {
		t.lease.Forget()
		t.lease = nil
	}
	if !t.listed || t.remembers() {
		return
	}
	n := t.n
	if t.prev == nil {
		n.tenures = t.next
	} else {
		t.prev.next = t.next
	}
	if t.next != nil {
		t.next.prev = t.prev
	}
	t.prev, t.next, t.listed = nil, nil, false
	n.dropIfIdle()
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
// it. MaxHold bounds ValidUntil, so that it bounds what such a lease leaves.
func (t *tenure) needs(now time.Duration) time.Duration {
	var need time.Duration
	for h := t.holds; h != nil; h = h.next {
		if h.fixed {
			need = max(need, h.until-now)
			continue
		}
		if now < h.until {
			need = max(need, t.n.c.o.watchdog)
		}
		need = max(need, watchdog.Lasting(h.trust()-now))
	}
	return roundUp(need)
}

// roundUp gives whole milliseconds, none for less than nothing.
func roundUp(d time.Duration) time.Duration {
	return later(max(d, 0), time.Millisecond-1).Truncate(time.Millisecond)
}

// later is an instant d after another, or Never if there is none so late.
func later(at, d time.Duration) time.Duration {
	if d > clock.Never-at {
		return clock.Never
	}
	return at + d
}

// pass is the lease that a command of this owner carries: its own or what the
// living holds still need, whichever is longer, at least a millisecond.
func (t *tenure) pass(own time.Duration) time.Duration {
	if t.held == 0 {
		return max(own, time.Millisecond)
	}
	return max(own, t.needs(t.n.c.early()), time.Millisecond)
}

// renewUntil is when the watchdog stops extending: the last of the living
// holds that want it decides. 0 means that none does.
func (t *tenure) renewUntil() time.Duration {
	var until time.Duration
	for h := t.holds; h != nil; h = h.next {
		if !h.fixed {
			until = max(until, h.until)
		}
	}
	return until
}

// leased records that a command sent at sent set the key's lease to ttl, and
// has the watchdog follow from there. It reports whether trust lasts.
func (t *tenure) leased(sent, ttl time.Duration) bool {
	expiry := t.trust(sent, ttl)
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

// mayHaveSet notes that a command sent at sent, which sets the key's lease,
// was not answered or failed half way. What did not run at all costs nothing,
// so trust is lowered only here. Until then it need not be: a command passes
// what every living hold was promised, and an Extend counts for its own.
func (t *tenure) mayHaveSet(sent, lease time.Duration) {
	if t.lease != nil {
		t.lease.Lower(watchdog.Trust(sent, lease))
	}
}

// alarm has the watchdog call when the first of the holds' own leases ends.
func (t *tenure) alarm() {
	at := clock.Never
	for h := t.holds; h != nil; h = h.next {
		at = min(at, h.own())
	}
	t.lease.SetAlarm(at)
}

// add puts h on the living holds.
func (t *tenure) add(h *Hold) {
	h.next, t.holds = t.holds, h
	t.held++
}

// drop takes h off the living holds, if it is one.
func (t *tenure) drop(h *Hold) {
	for at := &t.holds; *at != nil; at = &(*at).next {
		if *at == h {
			*at, h.next = h.next, nil
			t.held--
			return
		}
	}
}

// dropAll takes all holds off the living ones and returns them.
func (t *tenure) dropAll() []*Hold {
	var holds []*Hold
	for h := t.holds; h != nil; h = t.holds {
		holds = append(holds, h)
		t.drop(h)
	}
	return holds
}

// lose ends every living hold: the key is not ours any more.
func (t *tenure) lose(cause error) {
	if t.lease != nil {
		t.lease.Forget()
		t.lease = nil
	}
	holds := t.dropAll()
	if turn := t.n.turn; turn != nil && len(holds) > 0 {
		turn.Released(t.n.c.early(), false)
	}
	for _, h := range holds {
		h.over(lostBy(cause))
	}
	if len(holds) > 0 {
		t.n.c.log.lost(t, holds, cause)
		// The message of a forced unlock is still to come.
		if cause != errForced {
			t.n.wakeHead()
		}
	}
	t.tidy()
}

// wakeHead has the head look: who waits for this client's own release has
// nothing to wait for.
func (n *name) wakeHead() {
	if q := n.queue; q != nil && q.size > 0 {
		q.wakePending = true
		q.step()
		n.s.later = append(n.s.later, n.c.node.pipe.Kick)
	}
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
	for h := t.holds; h != nil; {
		next := h.next
		h.check() // may end it, or all
		h = next
	}
	if t.lease == l {
		// It came a moment early.
		t.settleLease()
	}
}

// settleLease follows every change of the living holds that sent nothing, and
// each command that a hold's end sends comes after it, so what becomes of that
// command does not matter: until when the watchdog extends depends on the
// holds that are left alone. None of them needs no lease, and the watchdog
// forgets it before the last unlock is sent (H5).
func (t *tenure) settleLease() {
	switch {
	case t.lease == nil:
	case t.held > 0:
		t.lease.RenewUntil(t.renewUntil())
		t.alarm()
	case t.attempts == 0:
		t.lease.Forget()
		t.lease = nil
	}
}
