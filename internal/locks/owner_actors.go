package locks

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/rlock-go/redisson/codec"
)

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

// foreignKept is how many numbers a set has one by one. A client that has given away the texts of
// more owners than this takes the owners before these for foreign too.
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
