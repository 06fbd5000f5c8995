package lockstate

import (
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
	o.parsed()
	return o, nil
}

// ownerArg is an owner as an argument, where it has no state.
type ownerArg Owner

// RedisArg is the owner as Redis stores it.
func (o ownerArg) RedisArg() any { return Owner(o).Text() }

// String is the same.
func (o ownerArg) String() string { return Owner(o).Text() }
