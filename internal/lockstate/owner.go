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
// its owners that may be known outside the client. All older ones count as known
// too. So one number per client is enough, and a program that prints every owner
// needs no more memory.
var shared = struct {
	mu sync.RWMutex // guards of
	of map[uuid.UUID]*atomic.Int64
}{of: map[uuid.UUID]*atomic.Int64{}}

// share records that other clients may use the owner from now on. It is called
// before they can.
func (o Owner) share() {
	shared.mu.RLock()
	newest := shared.of[o.client]
	shared.mu.RUnlock()
	if newest == nil {
		return
	}
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
func (c *State) Exclusive(o Owner) bool { return o.client == c.id && o.thread > c.shared.Load() }
