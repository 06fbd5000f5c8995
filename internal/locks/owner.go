package locks

import (
	"fmt"

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
