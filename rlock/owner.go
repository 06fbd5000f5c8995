package rlock

import (
	"fmt"

	"github.com/rlock-go/redisson/internal/lockstate"
)

// Owner is who holds a lock: the field of Redisson's hash, "uuid:thread". The
// first half is the client's id, the second a number within it, which in Java
// is the thread's. Owners are comparable; String and ParseOwner are inverses,
// so an owner can be handed to another process. The zero Owner is nobody, and
// every call refuses it with ErrInvalidOption.
type Owner struct{ o lockstate.Owner }

// String is the owner as Redis holds it, such as
// "7f3c1a52-0a49-4d0c-9d5e-2f6b1a0c8d11:42". From then on this owner, and
// those that its client made before it, count as known to other processes: an
// acquire of theirs whose answer was lost is ErrUncertain where another's hold
// could be taken for it.
func (o Owner) String() string { return o.o.String() }

// ParseOwner reads what String, or Redisson, wrote. It refuses, with
// ErrInvalidOption, what Redisson would not write: anything but a lowercase
// version 4 UUID, a colon and a decimal number.
func ParseOwner(s string) (Owner, error) {
	read, err := lockstate.ParseOwner(s)
	if err != nil {
		return Owner{}, fmt.Errorf("rlock: %w: %w", ErrInvalidOption, err)
	}
	return Owner{read}, nil
}

func (o Owner) check() error {
	if o == (Owner{}) {
		return fmt.Errorf("%w: the zero Owner; take one from Client.NewOwner, Hold.Owner or ParseOwner", ErrInvalidOption)
	}
	return nil
}
