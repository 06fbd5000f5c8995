package rlock

import (
	"slices"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/watchdog"
)

// ownerState is one owner's dealings with one name: the holds it has, the lease
// they share, and the command queue in which its commands are sent one at a time and
// in order, none while an earlier one's outcome is open (H6). All of it is
// guarded by the shard's mutex. It is also the owner as a command carries it.
type ownerState struct {
	n          *name
	owner      Owner
	prev, next *ownerState // of the name's
	listed     bool        // among them

	busy     bool         // a command of this owner is under way
	paused   bool         // it was refused or not sent, and is sent again after a pause
	renewing bool         // a renewal is under way in such a pause
	extras   *ownerExtras // nil: nothing of it

	holds        *Hold           // living: neither released nor lost; the latest first
	lease        *watchdog.Lease // what the watchdog knows; nil between holds
	held         int32           // how many holds
	attempts     int32           // acquires under way or waiting in the command queue
	stillCounted int32           // holds whose own lease ended before this one, counted by the server until their Unlock
	unsent       int32           // unlocks waiting in the command queue, whose holds the server still counts
	firstHold    Hold            // room for the first hold
}

// ownerExtras is what few owners have.
type ownerExtras struct {
	queue []command // commands that wait for the one under way

	// Commands that were lost on a connection that could not be killed: until
	// late they may still arrive, and the shortest lease that one of them
	// carries is lateLease. late is 0 where there are none.
	lateUntil time.Duration
	lateLease time.Duration
	dropTimer bool // a timer drops them
}

// RedisArg is the owner as Redis holds it. It is made anew for each command:
// locks are held for much longer than they are taken and given up.
func (st *ownerState) RedisArg() any { return st.owner.text() }

// AppendArg is RedisArg for a connection that can do without the string.
func (st *ownerState) AppendArg(b []byte) []byte {
	return codec.AppendOwner(b, st.owner.client, st.owner.thread)
}

// command is a command that waits for its owner's command queue. begin runs with the shard
// locked; done must be called when it has ended.
type command interface{ begin() }

// commandFunc makes an op of a function.
type commandFunc func()

func (f commandFunc) begin() { f() }

// findOwnerState is the owner's state, or nil.
func (n *name) findOwnerState(o Owner) *ownerState {
	for st := n.states; st != nil; st = st.next {
		if st.owner == o {
			return st
		}
	}
	return nil
}

// holds tells whether the owner has a living hold.
func (n *name) holds(o Owner) bool {
	st := n.findOwnerState(o)
	return st != nil && st.held > 0
}

// held tells whether any owner has a living hold. Only one can: a grant to
// another ends it.
func (n *name) held() bool {
	for st := n.states; st != nil; st = st.next {
		if st.held > 0 {
			return true
		}
	}
	return false
}

// ensureOwnerState finds or makes the owner's state.
func (n *name) ensureOwnerState(o Owner) *ownerState {
	if st := n.findOwnerState(o); st != nil {
		return st
	}
	return n.newOwnerState(o)
}

func (n *name) newOwnerState(o Owner) *ownerState {
	st := &ownerState{n: n, owner: o, next: n.states, listed: true}
	if st.next != nil {
		st.next.prev = st
	}
	n.states = st
	return st
}

// ownerStates are the owners that have a state in the name now.
func (n *name) ownerStates() []*ownerState {
	var states []*ownerState
	for st := n.states; st != nil; st = st.next {
		states = append(states, st)
	}
	return states
}

// run begins o, at once or when the commands before it have ended.
func (st *ownerState) run(cmd command) {
	if st.busy {
		r := st.ensureExtras()
		r.queue = append(r.queue, cmd)
		return
	}
	st.busy = true
	cmd.begin()
}

// done ends a command and starts the next.
func (st *ownerState) done() {
	if r := st.extras; r != nil && len(r.queue) > 0 {
		cmd := r.queue[0]
		r.queue[0] = nil
		r.queue = r.queue[1:]
		st.dropEmptyExtras()
		cmd.begin()
		return
	}
	st.busy = false
	st.dropIfIdle()
}

// pause has the command under way, nothing of which can run any more, sent
// again after d. It keeps its place in the command queue, but a renewal of the owner's
// other holds may come in between: the server may do that although it refuses
// the command, and those holds must not pay for it (H6).
func (st *ownerState) pause(d time.Duration, send commandFunc) {
	st.paused = true
	st.n.c.after(d, func() {
		s := st.n.s
		s.lock()
		defer s.unlock()
		if st.renewing {
			// It follows the renewal.
			st.renewing = false
			r := st.ensureExtras()
			r.queue = slices.Insert(r.queue, 0, command(send))
			return
		}
		st.paused = false
		send()
	})
}

// beginRenewal gives the command queue to a renewal, if it is free or its command pauses.
func (st *ownerState) beginRenewal() bool {
	switch {
	case st.paused:
		st.paused, st.renewing = false, true
	case st.busy:
		return false
	}
	st.busy = true
	return true
}

// endRenewal follows the renewal.
func (st *ownerState) endRenewal() {
	if st.renewing {
		st.paused, st.renewing = true, false
		return
	}
	st.done()
}

// ensureExtras finds or makes what few owners have.
func (st *ownerState) ensureExtras() *ownerExtras {
	if st.extras == nil {
		st.extras = new(ownerExtras)
	}
	return st.extras
}

// dropEmptyExtras drops it if there is nothing left of it.
func (st *ownerState) dropEmptyExtras() {
	if r := st.extras; len(r.queue) == 0 && r.lateUntil == 0 {
		st.extras = nil
	}
}

// mayArrive notes that a command that sets the lease was lost and that its
// connection could not be killed. When it runs after all, it cuts whatever
// lease a later command has set. For how long that can happen nobody can
// tell; it is reckoned with for one watchdog timeout, and at least for as long
// as the server remembers an unlock. The owner may have released by then, and
// hold again.
func (st *ownerState) mayArrive(lease time.Duration) {
	c := st.n.c
	r := st.ensureExtras()
	if r.lateUntil == 0 || lease < r.lateLease {
		r.lateLease = lease
	}
	r.lateUntil = later(c.now(), max(c.o.watchdog, c.latchTTL()))
}

// least is what is left of a lease if a late command cuts it.
func (st *ownerState) least(sent, lease time.Duration) time.Duration {
	if r := st.extras; r != nil && sent < r.lateUntil {
		return min(lease, r.lateLease)
	}
	return lease
}

// trust is until when a lease that was set by a command sent at sent can be
// relied on.
func (st *ownerState) trust(sent, lease time.Duration) time.Duration {
	return watchdog.Trust(sent, st.least(sent, lease))
}

// hasLateCommands tells whether the owner's late commands are a reason to keep what
// is known of it, and has it dropped when they are none any more.
func (st *ownerState) hasLateCommands() bool {
	r, c := st.extras, st.n.c
	if r == nil || r.lateUntil == 0 {
		return false
	}
	left := r.lateUntil - c.now()
	if c.closed() || left <= 0 {
		r.lateUntil = 0
		st.dropEmptyExtras()
		return false
	}
	if !r.dropTimer {
		r.dropTimer = true
		c.after(left, func() {
			s := st.n.s
			s.lock()
			defer s.unlock()
			r.dropTimer = false
			st.dropIfIdle()
		})
	}
	return true
}

// dropIfIdle drops an owner state that nobody needs any more.
func (st *ownerState) dropIfIdle() {
	if st.busy || st.held > 0 {
		return
	}
	if st.lease != nil {
		st.lease.Forget()
		st.lease = nil
	}
	if !st.listed || st.hasLateCommands() {
		return
	}
	n := st.n
	if st.prev == nil {
		n.states = st.next
	} else {
		st.prev.next = st.next
	}
	if st.next != nil {
		st.next.prev = st.prev
	}
	st.prev, st.next, st.listed = nil, nil, false
	n.dropIfIdle()
}

// register makes the watchdog know the lease before an acquire is sent (H5).
func (st *ownerState) register() {
	if st.lease == nil {
		st.lease = st.n.c.watchdog.Register(st)
	}
}

// needs is how much lease the living holds were promised beyond now, in whole
// milliseconds rounded up (H6). A hold that the watchdog extends needs a full
// watchdog timeout, unless its MaxHold is over, and no less than its
// ValidUntil said: a longer lease that was nested in it is not cut short under
// it. MaxHold bounds ValidUntil, so that it bounds what such a lease leaves.
func (st *ownerState) needs(now time.Duration) time.Duration {
	var need time.Duration
	for h := st.holds; h != nil; h = h.next {
		if h.fixed {
			need = max(need, h.until-now)
			continue
		}
		if now < h.until {
			need = max(need, st.n.c.o.watchdog)
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

// commandLease is the lease that a command of this owner carries: its own or what the
// living holds still need, whichever is longer, at least a millisecond.
func (st *ownerState) commandLease(own time.Duration) time.Duration {
	if st.held == 0 {
		return max(own, time.Millisecond)
	}
	return max(own, st.needs(st.n.c.early()), time.Millisecond)
}

// renewUntil is when the watchdog stops extending: the last of the living
// holds that want it decides. 0 means that none does.
func (st *ownerState) renewUntil() time.Duration {
	var until time.Duration
	for h := st.holds; h != nil; h = h.next {
		if !h.fixed {
			until = max(until, h.until)
		}
	}
	return until
}

// leased records that a command sent at sent set the key's lease to ttl, and
// has the watchdog follow from there. It reports whether trust lasts.
func (st *ownerState) leased(sent, ttl time.Duration) bool {
	expiry := st.trust(sent, ttl)
	from, until := sent, st.renewUntil()
	if until == 0 {
		from, until = clock.Never, clock.Never
	}
	if !st.lease.Live(expiry, from, until) {
		return false
	}
	st.alarm()
	return true
}

// mayHaveSet notes that a command sent at sent, which sets the key's lease,
// was not answered or failed half way. What did not run at all costs nothing,
// so trust is lowered only here. Until then it need not be: a command passes
// what every living hold was promised, and an Extend counts for its own.
func (st *ownerState) mayHaveSet(sent, lease time.Duration) {
	if st.lease != nil {
		st.lease.Lower(watchdog.Trust(sent, lease))
	}
}

// alarm has the watchdog call when the first of the holds' own leases ends.
func (st *ownerState) alarm() {
	at := clock.Never
	for h := st.holds; h != nil; h = h.next {
		at = min(at, h.own())
	}
	st.lease.SetAlarm(at)
}

// add puts h on the living holds.
func (st *ownerState) add(h *Hold) {
	h.next, st.holds = st.holds, h
	st.held++
}

// drop takes h off the living holds, if it is one.
func (st *ownerState) drop(h *Hold) {
	for at := &st.holds; *at != nil; at = &(*at).next {
		if *at == h {
			*at, h.next = h.next, nil
			st.held--
			return
		}
	}
}

// dropAll takes all holds off the living ones and returns them.
func (st *ownerState) dropAll() []*Hold {
	var holds []*Hold
	for h := st.holds; h != nil; h = st.holds {
		holds = append(holds, h)
		st.drop(h)
	}
	return holds
}

// lose ends every living hold: the key is not ours any more.
func (st *ownerState) lose(cause error) {
	if st.lease != nil {
		st.lease.Forget()
		st.lease = nil
	}
	holds := st.dropAll()
	if share := st.n.fairShare; share != nil && len(holds) > 0 {
		share.Released(st.n.c.early(), false)
	}
	for _, h := range holds {
		h.over(lostBy(cause))
	}
	if len(holds) > 0 {
		st.n.c.log.lost(st, holds, cause)
		// The message of a forced unlock is still to come.
		if cause != errForced {
			st.n.wakeHead()
		}
	}
	st.dropIfIdle()
}

// wakeHead has the head look: who waits for this client's own release has
// nothing to wait for.
func (n *name) wakeHead() {
	if q := n.queue; q != nil && q.size > 0 {
		q.wakePending = true
		q.step()
		n.s.later = append(n.s.later, n.c.node.pipe.WakeWriter)
	}
}

// LeaseLost is how the watchdog says that trust has ended or that the server
// names another owner.
func (st *ownerState) LeaseLost(l *watchdog.Lease, cause error) {
	s := st.n.s
	s.lock()
	defer s.unlock()
	if st.lease == l {
		st.lose(cause)
	}
}

// LeaseAlarm is how the watchdog says that some hold's own lease has ended.
func (st *ownerState) LeaseAlarm(l *watchdog.Lease) {
	s := st.n.s
	s.lock()
	defer s.unlock()
	if st.lease != l {
		return
	}
	for h := st.holds; h != nil; {
		next := h.next
		h.check() // may end it, or all
		h = next
	}
	if st.lease == l {
		// It came a moment early.
		st.updateLease()
	}
}

// updateLease follows every change of the living holds that sent nothing, and
// each command that a hold's end sends comes after it, so what becomes of that
// command does not matter: until when the watchdog extends depends on the
// holds that are left alone. None of them needs no lease, and the watchdog
// forgets it before the last unlock is sent (H5).
func (st *ownerState) updateLease() {
	switch {
	case st.lease == nil:
	case st.held > 0:
		st.lease.RenewUntil(st.renewUntil())
		st.alarm()
	case st.attempts == 0:
		st.lease.Forget()
		st.lease = nil
	}
}
