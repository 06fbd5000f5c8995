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

// trackSharedOwners begins to note which of the client's owners are shared.
func (c *State) trackSharedOwners() {
	shared.mu.Lock()
	shared.of[c.id] = &c.shared
	shared.mu.Unlock()
}

// untrackSharedOwners ends it.
func (c *State) untrackSharedOwners() {
	shared.mu.Lock()
	delete(shared.of, c.id)
	shared.mu.Unlock()
}

// Exclusive tells whether nobody but this client can hold as o: it made the
// owner, and has given away neither its string nor its value.
func (c *State) Exclusive(o Owner) bool { return o.client == c.id && o.thread > c.shared.of(o).Load() }
