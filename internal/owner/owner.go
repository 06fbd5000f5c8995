// Package owner has the owners of holds: their texts, and who may act as them.
//
// A few numbers for each client ([Actors]) say who may act as an owner, apart from the hold that it was made for. An
// owner is
//
//   - shown when it leaves its client as a value, when it acts there by As or UnlockAs, or when [Parse] has read it or
//     a newer one in this process. From then on others may acquire as it, so its unlock keeps a latch. Owners made by
//     [Actors.New] are even, and shown wherever they have a state. Owners made by [Actors.OfAcquire] are odd. Of these
//     only those that Parse has read can act without a mark on the state of their acquisition.
//   - shared when its text was asked for or read, or when another client of this process acts as it. All older owners
//     of its sort, even or odd, then count as shared too: [Actors.Exclusive].
//   - a stray while an unlock of it may still arrive that no latch keeps from running. That unlock would release what
//     is acquired as the owner, so nothing is acquired as it.
package owner

import (
	"fmt"

	"github.com/google/uuid"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/lockerr"
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

// Share is String for texts that leave its client. From then on the owner counts as known to others.
func (o Owner) Share() string {
	o.share()
	return o.String()
}

// share records that other clients may use the owner from now on. It is called before they can.
func (o Owner) share() {
	if a := o.actors(); a != nil {
		raise(a.shared.of(o), o.thread)
	}
}

// Parse reads what String wrote. The owner counts as shared from then on.
func Parse(s string) (Owner, error) {
	client, thread, err := codec.ParseOwner(s)
	if err != nil {
		return Owner{}, err
	}
	o := Owner{client, thread}
	o.share() // the client that made it may not know that its text left
	if a := o.actors(); a != nil && thread&1 == odd {
		raise(&a.parsed, thread)
	}
	return o, nil
}

// Strayed is the error of a call for an owner that is a stray. Nothing was sent.
func Strayed(o Owner) error {
	return fmt.Errorf("%w: an unlock of owner %s was lost on a connection that could not be killed, and may still run; nothing was sent", lockerr.ErrUncertain, o)
}

func neverHandedOut(o Owner) error {
	return fmt.Errorf("%w: owner %s is of this client, which never handed it out", lockerr.ErrInvalidOption, o)
}
