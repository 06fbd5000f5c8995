package rlock

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/rlock-go/redisson/codec"
)

// Owner is who holds a lock: the field of Redisson's hash, "uuid:thread". The
// first half is the client's id, the second a number within it, which in Java
// is the thread's. Owners are comparable; String and ParseOwner are inverses,
// so an owner can be handed to another process. The zero Owner is nobody, and
// every call refuses it with ErrInvalidOption.
type Owner struct {
	client uuid.UUID
	thread int64
}

// String is the owner as Redis holds it, such as
// "7f3c1a52-0a49-4d0c-9d5e-2f6b1a0c8d11:42". From then on this owner, and
// those that its client made before it, count as known to other processes: an
// acquire of theirs whose answer was lost is ErrUncertain where another's hold
// could be taken for it.
func (o Owner) String() string {
	o.share()
	return o.text()
}

// text is String for what does not leave this client.
func (o Owner) text() string { return codec.Owner(o.client, o.thread) }

// ParseOwner reads what String, or Redisson, wrote. It refuses, with
// ErrInvalidOption, what Redisson would not write: anything but a lowercase
// version 4 UUID, a colon and a decimal number.
func ParseOwner(s string) (Owner, error) {
	client, thread, err := codec.ParseOwner(s)
	if err != nil {
		return Owner{}, fmt.Errorf("rlock: %w: %w", ErrInvalidOption, err)
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
func (c *Client) trackSharedOwners() {
	shared.mu.Lock()
	shared.of[c.id] = &c.shared
	shared.mu.Unlock()
}

// untrackSharedOwners ends it.
func (c *Client) untrackSharedOwners() {
	shared.mu.Lock()
	delete(shared.of, c.id)
	shared.mu.Unlock()
}

// exclusive tells whether nobody but this client can hold as o: it made the
// owner, and has given away neither its string nor its value.
func (c *Client) exclusive(o Owner) bool { return o.client == c.id && o.thread > c.shared.Load() }

func (o Owner) check() error {
	if o == (Owner{}) {
		return fmt.Errorf("%w: the zero Owner; take one from Client.NewOwner, Hold.Owner or ParseOwner", ErrInvalidOption)
	}
	return nil
}
