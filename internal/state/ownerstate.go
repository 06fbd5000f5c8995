package state

import (
	"slices"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/lease"
	"github.com/rlock-go/redisson/internal/owner"
	"github.com/rlock-go/redisson/watchdog"
)

// OwnerState is the state of one owner on one name: its holds, the lease that they share, and
// its command queue. The commands of an owner are sent one at a time and in order, none while
// the outcome of an earlier one is open (H6). The shard's mutex guards all fields. It is also
// the owner's argument in a command.
type OwnerState struct {
	Name       *Name
	Owner      owner.Owner
	prev, next *OwnerState // in the name's list

	holds     *Hold           // living: neither released nor lost; the latest first
	Lease     *watchdog.Lease // as registered with the watchdog; nil between holds
	Extras    *Extras         // nil: none
	firstHold *Hold           // room for the first hold

	room watchdog.Lease // room for the first registration, which is nearly always the only one

	Held     int32 // how many holds
	Attempts int32 // acquires under way or waiting in the command queue

	alarmed  bool // a hold has its own deadline: its end, by Lease or MaxHold, its Margin, or the age at which it is logged
	Marked   bool // it was not made for one acquisition, or may have acted since
	Mixed    bool // it has held by kinds of two tallies at once
	listed   bool // it is in the name's list
	Busy     bool // a command of this owner is under way
	paused   bool // that command was refused or not sent, and is sent again after a pause
	renewing bool // a renewal runs during such a pause
	calm     bool // no command began since the last look, see package renew
}

// Extras are the fields that few owners need.
type Extras struct {
	Queue []Operation // commands that wait for the one under way

	Lasts time.Duration // until when the server may keep the key because of a command that was not answered; 0: there was none

	KeepUntil time.Duration           // until when the lock stays taken after the last release, see Hold.KeepTaken; if that is past, it is free at once
	keeps     map[*Hold]time.Duration // by the living holds that asked for it, until when
	keepOwed  time.Duration           // until when, by holds that are over: no command may set a lease that ends earlier

	Token int64 // the newest fencing token of its holds; 0: none

	Place *PlaceTaken // in the server's queue, which its grant has ended; nil: it had none, or no failover can bring it back

	failing time.Duration // since when renewals of its lease fail, or last did

	late      lease.Late // commands that were lost on a connection that could not be killed
	dropTimer bool       // a timer that drops them is set
}

// PlaceTaken is a place in the server's queue, with the wait that the server was told. It is made
// once and never changed.
type PlaceTaken struct{ Wait time.Duration }

// RedisArg is the owner as Redis stores it. It is made for each command,
// because locks are held for much longer than they are acquired and released.
func (st *OwnerState) RedisArg() any { return st.Owner.String() }

// AppendArg is RedisArg for a connection that needs no string.
func (st *OwnerState) AppendArg(b []byte) []byte {
	return st.Owner.AppendArg(b)
}

// String is the owner as Redis stores it.
func (st *OwnerState) String() string { return st.Owner.String() }

// Told names the owner in an event.
func (st *OwnerState) Told() eventlog.Lock {
	return eventlog.Lock{Name: st.Name.Lock.Name(), Owner: st}
}

// Operation is a command that waits in its owner's command queue. Start runs with
// the shard locked. Done must be called when the command has ended.
type Operation interface{ Start() }

// operationFunc makes an operation of a function.
type operationFunc func()

func (f operationFunc) Start() { f() }

// NewOwnerState makes the state of an owner that has none.
func (n *Name) NewOwnerState(o owner.Owner) *OwnerState {
	st, first := n.Lock.Client.newOwner()
	st.Name, st.Owner, st.next, st.listed, st.firstHold = n, o, n.States, true, first
	if st.next != nil {
		st.next.prev = st
	}
	n.States = st
	if n.index != nil {
		n.index[o] = st
	}
	return st
}

// Grant makes a living hold. It reports false if the hold can't be trusted any
// more (H3).
func (st *OwnerState) Grant(l *Lock, t *Terms, sent, ttl time.Duration) (*Hold, bool) {
	c := l.Client
	now := st.Name.Now()
	h := st.firstHold
	if h.State != nil {
		h = c.newHold()
	}
	h.Lock, h.State, h.Since = l, st, sent
	switch {
	case t.Lease > 0:
		h.Promise = lease.Fixed(sent, t.Lease)
	case t.MaxHold > 0:
		h.Promise = lease.Bounded(clock.Later(now, t.MaxHold), c.Watchdog)
	default:
		h.Promise = lease.Watched
	}
	margin := l.Margin(t)
	if margin > 0 {
		h.ctxs = &contexts{margin: margin}
	}
	if t.Lease > 0 || t.MaxHold > 0 || margin > 0 || c.LongHold > 0 {
		st.alarmed = true
	}
	if st.Lease != nil && now >= st.Lease.Expiry() {
		st.Lose(nil, ErrExpired) // it has expired, but nothing has ended it yet
	}
	if st.Lease == nil {
		st.Register() // the holds that it would have joined were lost in the meantime
	}
	h.Lease = st.Lease
	st.Mixed = st.Mixed || st.holds != nil && st.holds.Lock.Traits.Tally != l.Traits.Tally
	h.next, st.holds = st.holds, h
	if st.Held++; st.Held == 1 {
		st.Name.Holders++
		if st.Name.FairShare != nil && l.Traits.FairShare {
			st.Name.FairShare.Granted(now)
		}
	}
	if l.Traits.Width == 1 {
		st.Name.Exclusive++
	}
	c.LiveHolds.Add()
	expiry := st.Trust(sent, ttl)
	return h, now < min(h.Promise.End, expiry) && st.Live(sent, expiry)
}

// Run begins cmd, at once or when the commands before it have ended.
func (st *OwnerState) Run(cmd Operation) {
	if st.Busy {
		r := st.EnsureExtras()
		r.Queue = append(r.Queue, cmd)
		return
	}
	st.Busy, st.calm = true, false
	cmd.Start()
}

// Done ends a command and starts the next.
func (st *OwnerState) Done() {
	st.tellOthers()
	st.goOn()
}

// goOn starts the next command.
func (st *OwnerState) goOn() {
	if r := st.Extras; r != nil && len(r.Queue) > 0 {
		cmd := r.Queue[0]
		r.Queue[0] = nil
		r.Queue = r.Queue[1:]
		cmd.Start()
		return
	}
	st.Busy = false
	if st.Held == 0 {
		st.dropIfIdle()
	}
}

// Pause waits for d before the command under way is sent again. The last send can't run any
// more. The command keeps its place in the command queue, but a renewal of the owner's other
// holds may run in between: the server may accept that although it refuses the command, and
// those holds must not be lost because of the pause (H6). Pause leaves the section while it
// waits.
func (st *OwnerState) Pause(d time.Duration) {
	s := st.Name.Lock.Shard
	st.paused = true
	s.Without(func() { st.Name.Lock.Client.Sleep(d) })
	if st.renewing { // it follows the renewal
		st.renewing = false
		turn := make(chan struct{})
		r := st.EnsureExtras()
		r.Queue = slices.Insert(r.Queue, 0, Operation(operationFunc(func() { close(turn) })))
		s.Without(func() { <-turn })
	}
	st.paused = false
}

// beginRenewal gives the command queue to a renewal, if no command is under way
// or the one under way pauses.
func (st *OwnerState) beginRenewal() bool {
	switch {
	case st.paused:
		st.paused, st.renewing = false, true
	case st.Busy:
		return false
	}
	st.Busy, st.calm = true, false
	return true
}

// endRenewal gives the command queue back after the renewal.
func (st *OwnerState) endRenewal() {
	if st.renewing {
		st.paused, st.renewing = true, false
		return
	}
	st.goOn()
}

// EnsureExtras finds or makes the extras.
func (st *OwnerState) EnsureExtras() *Extras {
	if st.Extras == nil {
		st.Extras = new(Extras)
	}
	return st.Extras
}

// Rare is a copy of the extras, to be read.
func (st *OwnerState) Rare() (r Extras) {
	if st.Extras != nil {
		r = *st.Extras
	}
	return r
}

// dropIfIdle drops the state if nothing is held or under way.
func (st *OwnerState) dropIfIdle() {
	if st.Busy || st.Held > 0 {
		return
	}
	st.Forget()
	if !st.listed || st.Extras != nil && st.hasLateCommands() {
		return
	}
	n := st.Name
	if st.prev == nil {
		n.States = st.next
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
	n.DropIfIdle()
}

// Drop removes h from the living holds, if it is one.
func (st *OwnerState) Drop(h *Hold) {
	for at := &st.holds; *at != nil; at = &(*at).next {
		if *at == h {
			*at, h.next = h.next, nil
			if h.Lock.Traits.Width == 1 {
				st.Name.Exclusive--
			}
			if st.Held--; st.Held == 0 {
				st.Name.Holders--
			}
			return
		}
	}
}

// Find is a living hold for which such returns true, or nil.
func (st *OwnerState) Find(such func(*Hold) bool) *Hold {
	for h := st.holds; h != nil; h = h.next {
		if such(h) {
			return h
		}
	}
	return nil
}

// NewLeaver makes the operation that takes the owner, which has waited since began, as want says,
// out of the server's queue. It counts as leaving until the server has answered. left is called then.
func (st *OwnerState) NewLeaver(l *Lock, want kind.Want, began time.Duration, left func(on uint64)) Operation {
	l.Client.Waits.Leaving.Add()
	return operationFunc(func() {
		st.Name.Leave(&l.Lock, want, began, func(on uint64) {
			left(on)
			st.Done()
		})
	})
}
