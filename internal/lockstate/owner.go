package lockstate

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/rlock-go/redisson/codec"
)

// Owner is who holds a lock: the field of its hash.
type Owner struct {
	client uuid.UUID
	thread int64
}

// String is the owner as Redis holds it, for what does not leave this client.
func (o Owner) String() string { return codec.Owner(o.client, o.thread) }

// RedisArg is the same, as an argument of a command.
func (o Owner) RedisArg() any { return o.String() }

// Share is String for a text that leaves this client. From then on the owner counts
// as known to other processes.
func (o Owner) Share() string {
	o.share()
	return o.String()
}

// ParseOwner reads what String wrote.
func ParseOwner(s string) (Owner, error) {
	client, thread, err := codec.ParseOwner(s)
	if err != nil {
		return Owner{}, err
	}
	o := Owner{client, thread}
	o.share() // the client that made it may know nothing of its text
	if c := o.actors(); c != nil && thread&1 == odd {
		raise(&c.parsed, thread)
	}
	return o, nil
}

// Who may act as an owner, other than the hold that it was made for, is known by
// a few numbers a client. An owner is
//
//   - shown when it leaves this client as a value (NewOwner, Hold.Owner), when it
//     acts here by As or UnlockAs, or when ParseOwner has read it or a newer one in
//     this process. Others may acquire as it from then on, so its unlock keeps a
//     latch. NewOwner's owners are even, and shown wherever they have a state. Of
//     the odd ones only those that ParseOwner read can act without a mark on the
//     state of the acquisition that they were made for.
//   - shared when its text was asked for or read, or another client of this
//     process acts as it. All older ones count as shared too. See Exclusive.
//   - a stray while an unlock of it may still arrive that no latch keeps from
//     running. It would release what is acquired as that owner, so nothing is.
type actors struct {
	made      sorted       // how many owners the client made
	shared    sorted       // the newest that are shared
	parsed    atomic.Int64 // the newest odd number that ParseOwner has read
	handedOut atomic.Int64 // the newest odd number that was a value's, or has acted here
	strays    strays
}

// sorted is a number for each sort of a client's owners: those that NewOwner
// made are even, those of acquisitions odd.
type sorted [2]atomic.Int64

const (
	even = 0
	odd  = 1
)

func (s *sorted) of(o Owner) *atomic.Int64 { return &s[o.thread&1] }

// raise makes n at least to.
func raise(n *atomic.Int64, to int64) {
	for seen := n.Load(); seen < to; seen = n.Load() {
		if n.CompareAndSwap(seen, to) {
			return
		}
	}
}

// clients are the states of this process that are not closed, by their ids.
var clients sync.Map

// actors are those of the client that made o, nil if it is not of this process.
func (o Owner) actors() *actors {
	if c, ok := clients.Load(o.client); ok {
		return &c.(*State).actors
	}
	return nil
}

// share records that other clients may use the owner from now on. It is called
// before they can.
func (o Owner) share() {
	if c := o.actors(); c != nil {
		raise(c.shared.of(o), o.thread)
	}
}

// ID is the first half of every owner that this client makes.
func (c *State) ID() uuid.UUID { return c.id }

// NewOwner makes an owner that was never handed out before, to be handed out. It
// does no I/O.
func (c *State) NewOwner() Owner { return Owner{c.id, 2 * c.actors.made[even].Add(1)} }

// ownOwner makes an owner for one acquisition.
func (c *State) ownOwner() Owner { return Owner{c.id, 2*c.actors.made[odd].Add(1) - 1} }

// Exclusive tells whether nobody but this client can hold as o: it made the
// owner, and has given away neither its string nor its value.
func (c *State) Exclusive(o Owner) bool {
	return o.client == c.id && o.thread > c.actors.shared.of(o).Load()
}

// Owner is who holds. From then on others may acquire as it.
func (h *Hold) Owner() Owner {
	defer h.l.s.enter(mustNotBlock).leave()
	o := h.st.owner
	h.st.marked = true
	if st := h.l.ownerState(o); st != nil {
		st.marked = true // the hold's may have been dropped
	}
	if o.client == h.l.c.id && o.thread&1 == odd {
		raise(&h.l.c.actors.handedOut, o.thread)
	}
	return o
}

// OwnerText is the owner as Redis holds it, for a text that nobody acts by: the owner
// is not shared by that.
func (h *Hold) OwnerText() string { return h.st.owner.String() }

// mayBeShared tells whether others may act as the owner, now or before its unlock: a
// client that has given away an owner's text may give away the next one's.
func (st *OwnerState) mayBeShared() bool { return st.shown() || st.n.l.c.actors.shared[odd].Load() > 0 }

// shown tells whether others may act as the owner.
func (st *OwnerState) shown() bool {
	return st.marked || st.owner.thread <= st.n.l.c.actors.parsed.Load()
}

// ensureShown is ensureOwnerState for an owner that acts by As.
func (n *name) ensureShown(o Owner) *OwnerState {
	st := n.ensureOwnerState(o)
	st.marked = true
	return st
}

// act asks whether an owner may act by As or UnlockAs. It refuses a number of this
// client's that nobody can have. It must not be called with a shard locked.
func (c *State) act(l *Lock, o Owner) error {
	a := &c.actors
	switch {
	case a.strays.has(o):
		return strayed(o)
	case o.client != c.id:
		return nil
	case o.thread < 1 || o.thread > 2*a.made.of(o).Load():
		return neverHandedOut(o)
	case o.thread&1 == even || o.thread <= a.handedOut.Load():
		return nil
	}
	// Its text was read from Redis or from a log. Once it has acted it counts as
	// handed out.
	if !l.knows(o) && !c.knows(o) {
		return neverHandedOut(o)
	}
	raise(&a.handedOut, o.thread)
	return nil
}

// knows tells whether the owner has a state on l's name, where nearly all of these
// owners have one.
func (l *Lock) knows(o Owner) bool {
	defer l.s.enter(mustNotBlock).leave()
	return l.ownerState(o) != nil
}

// knows tells whether the owner has a state on any name.
func (c *State) knows(o Owner) (known bool) {
	c.eachName(func(n *name) { known = known || n.findOwnerState(o) != nil })
	return known
}

func neverHandedOut(o Owner) error {
	return fmt.Errorf("%w: owner %s is of this client, which never handed it out", ErrInvalidOption, o)
}

// strays are owners whose lost unlock may still arrive and run: its connection could
// not be killed, and it has no latch, or set none because it found nothing.
type strays struct {
	some atomic.Bool // there are any
	mu   sync.Mutex  // guards of
	of   map[Owner]int
}

// stray records that such an unlock of o may arrive from now on. It is reckoned
// with for as long as any lost command is. It is called with a shard locked.
func (c *State) stray(o Owner) {
	s := &c.actors.strays
	s.count(o, 1)
	c.timers.After(c.lateFor(), func() { s.count(o, -1) })
}

// count adds n to the unlocks of o that may arrive.
func (s *strays) count(o Owner, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[Owner]int{}
	}
	if s.of[o] += n; s.of[o] == 0 {
		delete(s.of, o)
	}
	s.some.Store(len(s.of) > 0)
}

func (s *strays) has(o Owner) bool {
	if !s.some.Load() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of[o] > 0
}

// strayed is why nothing is sent for such an owner.
func strayed(o Owner) error {
	return fmt.Errorf("%w: an unlock of owner %s was lost on a connection that could not be killed, and may still run; nothing was sent", ErrUncertain, o)
}
