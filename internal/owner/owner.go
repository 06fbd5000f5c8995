// Package owner has the owners of holds: their texts, and who may act as them.
//
// A few numbers for each client ([Actors]) say who may act as an owner. Owners made by [Actors.New] are even, those
// made by [Actors.OfAcquire], for one acquisition, are odd. An owner is
//
//   - own while only its client can act as it: [Actors.Exclusive]. Its client alone knows how many holds it has, so an
//     unlock says how many it leaves, and may be sent any number of times.
//   - foreign from when its text leaves or is read, or another client of this process acts as it. From then on another
//     process may acquire as it, so its unlock takes one from the count, and keeps a latch. Each client remembers the
//     1,024 newest of each sort, and takes those before these for foreign too.
//   - a stray while an unlock of it may still arrive that leaves it no hold. That unlock would release what is acquired
//     as the owner, so nothing is acquired as it.
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

// Parse reads what String wrote. The owner is foreign from then on.
func Parse(s string) (Owner, error) {
	o, err := Read(s)
	if err == nil {
		o.share() // the client that made it may not know that its text left
	}
	return o, err
}

// Read reads the text of an owner that the server sent. It makes the owner no foreign one: a call
// that acts as it does.
func Read(s string) (Owner, error) {
	client, thread, err := codec.ParseOwner(s)
	return Owner{client, thread}, err
}

// Strayed is the error of a call for an owner that is a stray. Nothing was sent.
func Strayed(o Owner) error {
	return fmt.Errorf("%w: an unlock of owner %s was lost on a connection that could not be killed, and may still run; nothing was sent", lockerr.ErrUncertain, o)
}

func neverHandedOut(o Owner) error {
	return fmt.Errorf("%w: owner %s is of this client, which never handed it out", lockerr.ErrInvalidOption, o)
}
