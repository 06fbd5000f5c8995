// Package owner is who holds: an owner's text, and who may act as it.
//
// Who may act as an owner, other than the hold that it was made for, is known by a few numbers a client ([Actors]).
// An owner is
//
//   - shown when it leaves its client as a value, when it acts there by As or UnlockAs, or when [Parse] has read it
//     or a newer one in this process. Others may acquire as it from then on, so its unlock keeps a latch. Those that
//     [Actors.New] made are even, and shown wherever they have a state. Of the odd ones, which [Actors.OfAcquire] made,
//     only those that Parse read can act without a mark on the state of the acquisition that they were made for.
//   - shared when its text was asked for or read, or another client of this process acts as it. All older ones count
//     as shared too: [Actors.Exclusive].
//   - a stray while an unlock of it may still arrive that no latch keeps from running. It would release what is acquired
//     as that owner, so nothing is.
package owner

import (
	"fmt"

	"github.com/google/uuid"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/lockerr"
)

// Owner is who holds a lock: the field of its hash. The zero one is nobody.
type Owner struct {
	client uuid.UUID
	thread int64
}

// String is the owner as Redis holds it, for what does not leave its client.
func (o Owner) String() string { return codec.Owner(o.client, o.thread) }

// RedisArg is the same, as an argument of a command.
func (o Owner) RedisArg() any { return o.String() }

// AppendArg is RedisArg for a connection that needs no string.
func (o Owner) AppendArg(b []byte) []byte { return codec.AppendOwner(b, o.client, o.thread) }

// Share is String for what leaves its client. From then on the owner counts as known to others.
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

// Parse reads what String wrote.
func Parse(s string) (Owner, error) {
	client, thread, err := codec.ParseOwner(s)
	if err != nil {
		return Owner{}, err
	}
	o := Owner{client, thread}
	o.share() // the client that made it may know nothing of its text
	if a := o.actors(); a != nil && thread&1 == odd {
		raise(&a.parsed, thread)
	}
	return o, nil
}

// Strayed is why nothing is sent for an owner that is a stray.
func Strayed(o Owner) error {
	return fmt.Errorf("%w: an unlock of owner %s was lost on a connection that could not be killed, and may still run; nothing was sent", lockerr.ErrUncertain, o)
}

func neverHandedOut(o Owner) error {
	return fmt.Errorf("%w: owner %s is of this client, which never handed it out", lockerr.ErrInvalidOption, o)
}
