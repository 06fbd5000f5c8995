package owner

import (
	"sync"
	"sync/atomic"

	"github.com/google/uuid"
)

// Actors know who may act as the owners of one client. All methods are safe for concurrent use.
type Actors struct {
	client    uuid.UUID
	made      sorted       // how many owners the client made
	shared    sorted       // the newest that are shared
	parsed    atomic.Int64 // the newest odd number that Parse has read
	handedOut atomic.Int64 // the newest odd number that left as a value, or has acted here
	strays    strays
}

// sorted is a number for each sort of a client's owners, the even and the odd.
type sorted [2]atomic.Int64

const (
	even = 0
	odd  = 1
)

func (s *sorted) of(o Owner) *atomic.Int64 { return &s[o.thread&1] }

// raise makes n at least as large as to.
func raise(n *atomic.Int64, to int64) {
	for seen := n.Load(); seen < to; seen = n.Load() {
		if n.CompareAndSwap(seen, to) {
			return
		}
	}
}

// clients are the Actors of this process that are in use, by their clients.
var clients sync.Map

// actors are the Actors of the client that made o, nil if that client is not in this process.
func (o Owner) actors() *Actors {
	if a, ok := clients.Load(o.client); ok {
		return a.(*Actors)
	}
	return nil
}

// Init makes the zero Actors those of a client, and registers them in this process until Close.
func (a *Actors) Init(client uuid.UUID) {
	a.client = client
	clients.Store(client, a)
}

// Close removes them from this process's register.
func (a *Actors) Close() { clients.Delete(a.client) }

// New makes a new owner, to be handed out.
func (a *Actors) New() Owner { return Owner{a.client, 2 * a.made[even].Add(1)} }

// OfAcquire makes an owner for one acquisition.
func (a *Actors) OfAcquire() Owner { return Owner{a.client, 2*a.made[odd].Add(1) - 1} }

// Made tells whether the owner has the client's id. It does not check that its number was ever used.
func (a *Actors) Made(o Owner) bool { return o.client == a.client }

// Exclusive tells whether nobody but the client can hold as o: the client made it, and neither it nor a newer owner of
// its sort was shared.
func (a *Actors) Exclusive(o Owner) bool { return a.Made(o) && o.thread > a.shared.of(o).Load() }

// HandOut records that o leaves the client as a value.
func (a *Actors) HandOut(o Owner) {
	if a.Made(o) && o.thread&1 == odd {
		raise(&a.handedOut, o.thread)
	}
}

// Parsed tells whether Parse has read the owner, or a newer one.
func (a *Actors) Parsed(o Owner) bool { return o.thread <= a.parsed.Load() }

// SharesAcquires tells whether an owner of an acquisition was ever shared: the next one's text may be given away too.
func (a *Actors) SharesAcquires() bool { return a.shared[odd].Load() > 0 }

// MayAct returns an error if an owner may not act by As or UnlockAs: it is a stray, or it is the client's and nobody
// can have it. knows tells whether the owner has a state in the client.
func (a *Actors) MayAct(o Owner, knows func() bool) error {
	switch {
	case a.IsStray(o):
		return Strayed(o)
	case !a.Made(o):
		return nil
	case o.thread < 1 || o.thread > 2*a.made.of(o).Load():
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

// strays are owners whose lost unlock may still arrive and run: its connection could
// not be killed, and it has no latch, or set none because it found nothing.
type strays struct {
	some atomic.Bool // there are any
	mu   sync.Mutex  // guards of
	of   map[Owner]int
}

// Stray records that an unlock of o may still arrive, until Arrived is called.
func (a *Actors) Stray(o Owner) { a.strays.count(o, 1) }

// Arrived ends what one call of Stray began.
func (a *Actors) Arrived(o Owner) { a.strays.count(o, -1) }

// IsStray tells whether an unlock of o may arrive.
func (a *Actors) IsStray(o Owner) bool {
	s := &a.strays
	if !s.some.Load() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of[o] > 0
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
