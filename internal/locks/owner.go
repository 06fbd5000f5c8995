package locks

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/rlock-go/redisson/codec"
)

// Owner identifies who holds a lock: it is the field of the lock's hash. The zero Owner is nobody.
type Owner struct {
	client uuid.UUID
	thread int64
}

// String is the owner as Redis stores it, for texts that do not leave its client.
func (o Owner) String() string { return codec.Owner(o.client, o.thread) }

// RedisArg is String as an argument of a command.
func (o Owner) RedisArg() any { return o.String() }

// AppendArg is RedisArg for a connection that needs no string.
func (o Owner) AppendArg(b []byte) []byte { return codec.AppendOwner(b, o.client, o.thread) }

// Share is String for texts that leave its client. From then on the owner is foreign.
func (o Owner) Share() string {
	o.share()
	return o.String()
}

// share makes the owner foreign. It is called before others can act as it.
func (o Owner) share() {
	if a := o.actors(); a != nil {
		a.foreign[o.thread&1].add(o.thread)
	}
}

// ParseOwner reads what String wrote. The owner is foreign from then on.
func ParseOwner(s string) (Owner, error) {
	o, err := readOwner(s)
	if err == nil {
		o.share() // the client that made it may not know that its text left
	}
	return o, err
}

// readOwner reads the text of an owner that the server sent. It makes the owner no foreign one: a call
// that acts as it does.
func readOwner(s string) (Owner, error) {
	client, thread, err := codec.ParseOwner(s)
	return Owner{client, thread}, err
}

// strayed is the error of a call for an owner that is a stray. Nothing was sent.
func strayed(o Owner) error {
	return fmt.Errorf("%w: an unlock of owner %s was lost on a connection that could not be killed, and may still run; nothing was sent", ErrUncertain, o)
}

func neverHandedOut(o Owner) error {
	return fmt.Errorf("%w: owner %s is of this client, which never handed it out", ErrInvalidOption, o)
}

// actors know who may act as the owners of one client. All methods are safe for concurrent use.
type actors struct {
	client    uuid.UUID
	made      [2]atomic.Int64 // how many owners the client made, of each sort
	keepers   atomic.Int64    // and how many that nobody acts as
	foreign   [2]foreign      // those that others may act as, of each sort
	handedOut atomic.Int64    // the newest odd number that left as a value, or has acted here
	strays    strays
}

// The sorts of a client's owners, by their numbers.
const (
	even = 0
	odd  = 1
)

// raise makes n at least as large as to.
func raise(n *atomic.Int64, to int64) {
	for seen := n.Load(); seen < to; seen = n.Load() {
		if n.CompareAndSwap(seen, to) {
			return
		}
	}
}

// allActors are the actors of this process that are in use, by their clients.
var allActors sync.Map

// actors are those of the client that made o, nil if that client is not in this process.
func (o Owner) actors() *actors {
	if a, ok := allActors.Load(o.client); ok {
		return a.(*actors)
	}
	return nil
}

// init makes the zero actors those of a client, and registers them in this process until Close.
func (a *actors) init(client uuid.UUID) {
	a.client = client
	allActors.Store(client, a)
}

// Close removes them from this process's register.
func (a *actors) Close() { allActors.Delete(a.client) }

// new makes a new owner, to be handed out.
func (a *actors) new() Owner { return Owner{a.client, 2 * a.made[even].Add(1)} }

// ofAcquire makes an owner for one acquisition.
func (a *actors) ofAcquire() Owner { return Owner{a.client, 2*a.made[odd].Add(1) - 1} }

// keeper makes an owner to whom a released lock is left. Nobody acts as it.
func (a *actors) keeper() Owner { return Owner{a.client, codec.Keeper(a.keepers.Add(1))} }

// exclusive tells whether o is the client's own: only the client can hold as it.
func (a *actors) exclusive(o Owner) bool {
	return o.client == a.client && !a.foreign[o.thread&1].has(o.thread)
}

// handOut records that o leaves the client as a value.
func (a *actors) handOut(o Owner) {
	if o.client == a.client && o.thread&1 == odd {
		raise(&a.handedOut, o.thread)
	}
}

// mayAct returns an error if an owner may not act by As or UnlockAs: it is a stray, or it is the client's and nobody
// can have it. knows tells whether the owner has a state in the client.
func (a *actors) mayAct(o Owner, knows func() bool) error {
	switch {
	case a.isStray(o):
		return strayed(o)
	case o.client != a.client:
		return nil
	case o.thread < 1 || o.thread > 2*a.made[o.thread&1].Load():
		return neverHandedOut(o)
	case o.thread&1 == even || o.thread <= a.handedOut.Load():
		return nil
	}
	// Its text was read from Redis or from a log. Once it has acted it counts as handed out.
	if !knows() {
		return neverHandedOut(o)
	}
	raise(&a.handedOut, o.thread)
	return nil
}

// foreign is a set of numbers of owners. It has the newest ones, and all that are older than these.
type foreign struct {
	newest atomic.Int64 // nothing above it is in the set

	mu    sync.Mutex // guards the rest
	older int64      // all up to it are in the set
	of    []int64    // the others, ascending
}

// foreignKept bounds the numbers that a set stores singly. A client that has given away more
// texts takes all older owners for foreign too.
const foreignKept = 1024

// add adds a number.
func (f *foreign) add(n int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i, there := slices.BinarySearch(f.of, n)
	if there || n <= f.older {
		return
	}
	if f.of = slices.Insert(f.of, i, n); len(f.of) > foreignKept {
		f.older = f.of[0]
		f.of = slices.Delete(f.of, 0, 1)
	}
	raise(&f.newest, n)
}

// has tells whether a number is in the set. Mostly it is newer than all that are.
func (f *foreign) has(n int64) bool {
	if n > f.newest.Load() {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	_, there := slices.BinarySearch(f.of, n)
	return there || n <= f.older
}

// strays are owners whose lost unlock may still arrive and release what they hold by then: its
// connection could not be killed, and no latch stops it.
type strays struct {
	some atomic.Bool // there are any
	mu   sync.Mutex  // guards of
	of   map[Owner]int
}

// isStray tells whether an unlock of o may arrive.
func (a *actors) isStray(o Owner) bool {
	s := &a.strays
	if !s.some.Load() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of[o] > 0
}

// count adds n to the unlocks of o that may arrive: 1, and later -1.
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

// NewOwner makes a new owner, for a caller to use. It does no I/O.
func (c *Client) NewOwner() Owner { return c.actors.new() }

// Exclusive tells whether nobody but this client can hold as o.
func (c *Client) Exclusive(o Owner) bool { return c.actors.exclusive(o) }

// Owner is the owner that holds. From this call on it may act by As and UnlockAs.
func (h *Hold) Owner() Owner {
	defer h.lock.shard.enter(mustNotBlock).leave()
	o := h.state.Owner
	h.state.marked = true
	if st := h.lock.ownerState(o); st != nil {
		st.marked = true // the hold's own state may have been dropped
	}
	h.lock.Client.actors.handOut(o)
	return o
}

// OwnerText is the owner as Redis stores it, for texts that nobody uses to act as the owner. So
// it does not count as shared.
func (h *Hold) OwnerText() string { return h.state.Owner.String() }

// ensureMarked is ensureOwnerState for an owner that acts by As or UnlockAs.
func (n *nameState) ensureMarked(o Owner) *OwnerState {
	st := n.ensureOwnerState(o)
	st.marked = true
	return st
}

// MayAct returns an error if the owner may not act by As or UnlockAs on l. It must not be called
// in a section.
func (l *Lock) MayAct(o Owner) error {
	c := l.Client
	return c.actors.mayAct(o, func() bool { return l.knows(o) || c.knows(o) })
}

// knows tells whether the owner has a state on l's name. Nearly all such owners have it there.
func (l *Lock) knows(o Owner) bool {
	defer l.shard.enter(mustNotBlock).leave()
	return l.ownerState(o) != nil
}

// knows tells whether the owner has a state on any name.
func (c *Client) knows(o Owner) (known bool) {
	c.eachName(func(n *nameState) { known = known || n.findOwnerState(o) != nil })
	return known
}

// stray records that a lost unlock of o may still run, for lateFor from now on. It is called
// with a shard locked.
func (c *Client) stray(o Owner) {
	c.actors.strays.count(o, 1)
	c.timers.After(c.lateFor(), func() { c.actors.strays.count(o, -1) })
}
