package rlock

import (
	"fmt"

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
// "7f3c1a52-0a49-4d0c-9d5e-2f6b1a0c8d11:42".
func (o Owner) String() string { return codec.Owner(o.client, o.thread) }

// ParseOwner reads what String, or Redisson, wrote. It refuses, with
// ErrInvalidOption, what Redisson would not write: anything but a lowercase
// version 4 UUID, a colon and a decimal number.
func ParseOwner(s string) (Owner, error) {
	client, thread, err := codec.ParseOwner(s)
	if err != nil {
		return Owner{}, fmt.Errorf("rlock: %w: %w", ErrInvalidOption, err)
	}
	return Owner{client, thread}, nil
}

func (o Owner) check() error {
	if o == (Owner{}) {
		return fmt.Errorf("%w: the zero Owner; take one from Client.NewOwner, Hold.Owner or ParseOwner", ErrInvalidOption)
	}
	return nil
}
