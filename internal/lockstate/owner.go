package lockstate

import (
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

// String is the owner as Redis holds it. From then on it counts as known to
// other processes.
func (o Owner) String() string {
	o.share()
	return o.Text()
}

// Text is String for what does not leave this client.
func (o Owner) Text() string { return codec.Owner(o.client, o.thread) }

// ParseOwner reads what String wrote.
func ParseOwner(s string) (Owner, error) {
	client, thread, err := codec.ParseOwner(s)
	if err != nil {
		return Owner{}, err
	}
	o := Owner{client, thread}
	o.share()
	return o, nil
}

// ownerArg is an owner as an argument, where it has no state.
type ownerArg Owner

// RedisArg is the owner as Redis stores it.
func (o ownerArg) RedisArg() any { return Owner(o).Text() }

// String is the same.
func (o ownerArg) String() string { return Owner(o).Text() }

// shared has, for each client of this process that is not closed, the newest of
// its owners of each sort that may be known outside the client. All older ones
// count as known too. So two numbers per client are enough, and a program that prints every owner
// needs no more memory.
var shared = struct {
	mu sync.RWMutex // guards of
	of map[uuid.UUID]*sorted
}{of: map[uuid.UUID]*sorted{}}

// sorted is a number for each sort of a client's owners: those that NewOwner
// made are even, those of acquisitions odd.
type sorted [2]atomic.Int64

const (
	even = 0
	odd  = 1
)

func (s *sorted) of(o Owner) *atomic.Int64 { return &s[o.thread&1] }

// share records that other clients may use the owner from now on. It is called
// before they can.
func (o Owner) share() {
	shared.mu.RLock()
	sorts := shared.of[o.client]
	shared.mu.RUnlock()
	if sorts == nil {
		return
	}
	newest := sorts.of(o)
	for {
		n := newest.Load()
		if n >= o.thread || newest.CompareAndSwap(n, o.thread) {
			return
		}
	}
}

// recentlyShown is how many shown owners a client knows without looking. One
// that it has forgotten is looked for among all names once more.
const recentlyShown = 256

// shownOwners are some odd owners of the client whose states are all marked. All
// later states of them come of As, and are marked at once.
type shownOwners struct {
	newest atomic.Int64 // the highest number that was ever shown
	recent [recentlyShown]atomic.Int64
}

func (s *shownOwners) slot(thread int64) *atomic.Int64 { return &s.recent[thread/2%recentlyShown] }

func (s *shownOwners) add(thread int64) {
	s.slot(thread).Store(thread)
	for newest := s.newest.Load(); newest < thread; newest = s.newest.Load() {
		if s.newest.CompareAndSwap(newest, thread) {
			return
		}
	}
}

func (s *shownOwners) has(thread int64) bool { return s.slot(thread).Load() == thread }

// strays are the owners of which an unlock may still arrive that no latch keeps
// from running: it was lost on a connection that could not be killed, and had no
// latch, or set none since it found nothing. It would release what is acquired as
// them, so nothing is, in this client.
type strays struct {
	some atomic.Bool // there are any
	mu   sync.Mutex  // guards of
	of   map[Owner]struct{}
}

func (s *strays) add(o Owner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[Owner]struct{}{}
	}
	s.of[o] = struct{}{}
	s.some.Store(true)
}

func (s *strays) has(o Owner) bool {
	if !s.some.Load() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, is := s.of[o]
	return is
}
