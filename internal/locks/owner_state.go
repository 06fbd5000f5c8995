package locks

import (
	"slices"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/locks/lease"
	"github.com/rlock-go/redisson/watchdog"
)

// OwnerState is the state of one owner on one name: its holds, the lease that they share, and
// its command queue. The commands of an owner are sent one at a time and in order, none while
// the outcome of an earlier one is open (H6). The shard's mutex guards all fields. As its Owner it is
// the owner's argument in a command, so that the text is made for each command: locks are held for
// much longer than they are acquired and released.
type OwnerState struct {
	Owner
	name       *nameState
	prev, next *OwnerState // in the name's list

	holds     *Hold           // living: neither released nor lost; the latest first
	lease     *watchdog.Lease // as registered with the watchdog; nil between holds
	extras    *extras         // nil: none
	firstHold *Hold           // room for the first hold

	room watchdog.Lease // room for the first registration, which is nearly always the only one

	held     int32 // how many holds
	attempts int32 // acquires under way or waiting in the command queue

	alarmed  bool // a hold has its own deadline: its end, by Lease or MaxHold, its Margin, or the age at which it is logged
	marked   bool // it was not made for one acquisition, or may have acted since
	mixed    bool // it may have held by kinds of two tallies at once
	listed   bool // it is in the name's list
	busy     bool // a command of this owner is under way
	paused   bool // that command was refused or not sent, and is sent again after a pause
	renewing bool // a renewal runs during such a pause
	calm     bool // no command began since the last look, see renew_look.go
}

// extras are the fields that few owners need.
type extras struct {
	queue []operation // commands that wait for the one under way

	lasts time.Duration // until when the server may keep the key because of a command that was not answered; 0: there was none

	keepUntil time.Duration           // until when the lock stays taken after the last release, see Hold.KeepTaken; if that is past, it is free at once
	keeps     map[*Hold]time.Duration // by the living holds that asked for it, until when
	keepOwed  time.Duration           // until when, by holds that are over: no command may set a lease that ends earlier

	token int64 // the newest fencing token of its holds; 0: none

	place *placeTaken // in the server's queue, which its grant has ended; nil: it had none, or no failover can bring it back

	failing time.Duration // since when renewals of its lease fail, or last did

	late      lease.Late // commands that were lost on a connection that could not be killed
	dropTimer bool       // a timer that drops them is set
}

// placeTaken is a place in the server's queue, with the wait that the server was told. It is made
// once and never changed.
type placeTaken struct{ wait time.Duration }

// eventLock names the owner in an event.
func (st *OwnerState) eventLock() eventlog.Lock {
	return eventlog.Lock{Name: st.name.lock.name, Owner: st}
}

// operation is a command that waits in its owner's command queue. Start runs with
// the shard locked. done must be called when the command has ended.
type operation interface{ Start() }

// operationFunc makes an operation of a function.
type operationFunc func()

func (f operationFunc) Start() { f() }

// newOwnerState makes the state of an owner that has none.
func (n *nameState) newOwnerState(o Owner) *OwnerState {
	st, first := n.lock.Client.NewState()
	st.name, st.Owner, st.next, st.listed, st.firstHold = n, o, n.states, true, first
	if st.next != nil {
		st.next.prev = st
	}
	n.states = st
	if n.index != nil {
		n.index[o] = st
	}
	return st
}

// grant makes a living hold. It reports false if the hold can't be trusted any
// more (H3).
func (st *OwnerState) grant(l *Lock, t *Terms, sent, ttl time.Duration) (*Hold, bool) {
	c := l.Client
	now := st.name.Now()
	h := st.firstHold
	if h.state != nil {
		h = c.NewHold()
	}
	h.lock, h.state, h.since = l, st, sent
	switch {
	case t.Lease > 0:
		h.promise = lease.Fixed(sent, t.Lease)
	case t.MaxHold > 0:
		h.promise = lease.Bounded(clock.Later(now, t.MaxHold), c.Watchdog)
	default:
		h.promise = lease.Watched
	}
	if t.Margin > 0 {
		h.ctxs = &contexts{margin: t.Margin}
	}
	if t.Lease > 0 || t.MaxHold > 0 || t.Margin > 0 || c.LongHold > 0 {
		st.alarmed = true
	}
	if st.lease != nil && now >= st.lease.Expiry() {
		st.lose(nil, errExpired) // it has expired, but nothing has ended it yet
	}
	if st.lease == nil {
		st.register() // the holds that it would have joined were lost in the meantime
	}
	h.lease = st.lease
	h.next, st.holds = st.holds, h
	if st.held++; st.held == 1 {
		st.name.holders++
		if st.name.fairShare != nil && l.Traits.FairShare {
			st.name.fairShare.Granted(now)
		}
	}
	if l.Traits.Width == 1 {
		st.name.exclusive++
	}
	c.liveHolds.Add()
	expiry := st.trust(sent, ttl)
	return h, now < min(h.promise.End, expiry) && st.live(sent, expiry)
}

// run begins cmd, at once or when the commands before it have ended.
func (st *OwnerState) run(cmd operation) {
	if st.busy {
		r := st.ensureExtras()
		r.queue = append(r.queue, cmd)
		return
	}
	st.busy, st.calm = true, false
	cmd.Start()
}

// done ends a command and starts the next. If other owners of this client hold the name too, one of
// them must read the key again: the server does not tell this client of its own writes, but of later
// changes, for all owners.
func (st *OwnerState) done() {
	if n := st.name; n.exclusive == 0 && (n.holders > 1 || n.holders == 1 && st.held == 0) {
		n.readAgain(st)
	}
	st.goOn()
}

// goOn starts the next command.
func (st *OwnerState) goOn() {
	if r := st.extras; r != nil && len(r.queue) > 0 {
		cmd := r.queue[0]
		r.queue[0] = nil
		r.queue = r.queue[1:]
		cmd.Start()
		return
	}
	st.busy = false
	if st.held == 0 {
		st.dropIfIdle()
	}
}

// pause waits for d before the command under way is sent again. The last send can't run any
// more. The command keeps its place in the command queue, but a renewal of the owner's other
// holds may run in between: the server may accept that although it refuses the command, and
// those holds must not be lost because of the pause (H6). It leaves the section while it
// waits.
func (st *OwnerState) pause(d time.Duration) {
	s := st.name.lock.shard
	st.paused = true
	s.without(func() { st.name.lock.Client.sleep(d) })
	if st.renewing { // it follows the renewal
		st.renewing = false
		turn := make(chan struct{})
		r := st.ensureExtras()
		r.queue = slices.Insert(r.queue, 0, operation(operationFunc(func() { close(turn) })))
		s.without(func() { <-turn })
	}
	st.paused = false
}

// ensureExtras finds or makes the extras.
func (st *OwnerState) ensureExtras() *extras {
	if st.extras == nil {
		st.extras = new(extras)
	}
	return st.extras
}

// rare is a copy of the extras, to be read.
func (st *OwnerState) rare() (r extras) {
	if st.extras != nil {
		r = *st.extras
	}
	return r
}

// dropIfIdle drops the state if nothing is held or under way.
func (st *OwnerState) dropIfIdle() {
	if st.busy || st.held > 0 {
		return
	}
	st.forget()
	if !st.listed || st.extras != nil && st.hasLateCommands() {
		return
	}
	n := st.name
	if st.prev == nil {
		n.states = st.next
	} else {
		st.prev.next = st.next
	}
	if st.next != nil {
		st.next.prev = st.prev
	}
	st.prev, st.next, st.listed = nil, nil, false
	if delete(n.index, st.Owner); len(n.index) < indexFrom/2 {
		n.index = nil
	}
	n.dropIfIdle()
}

// drop removes h from the living holds, if it is one.
func (st *OwnerState) drop(h *Hold) {
	for at := &st.holds; *at != nil; at = &(*at).next {
		if *at == h {
			*at, h.next = h.next, nil
			if h.lock.Traits.Width == 1 {
				st.name.exclusive--
			}
			if st.held--; st.held == 0 {
				st.name.holders--
			}
			return
		}
	}
}

// find is a living hold for which such returns true, or nil.
func (st *OwnerState) find(such func(*Hold) bool) *Hold {
	for h := st.holds; h != nil; h = h.next {
		if such(h) {
			return h
		}
	}
	return nil
}

// newLeaver makes the operation that takes the owner, which has waited since began, as want says,
// out of the server's queue. It counts as leaving until the server has answered. left is called then.
func (st *OwnerState) newLeaver(l *Lock, want kind.Want, began time.Duration, left func(on uint64)) operation {
	l.Client.leaving.Add()
	return operationFunc(func() {
		st.name.leaveServer(l, want, began, func(on uint64) {
			left(on)
			st.done()
		})
	})
}
