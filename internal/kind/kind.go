package kind

import (
	"time"
)

// Kind is one sort of lock object. Its methods are pure and safe for concurrent use. Those
// that make a [Call] append its arguments to room, which may be nil, and keep no reference to
// it or to a [Want]; an empty Call means that there is nothing to send. Those that read a
// reply take it as redigo decodes it; none panics, whatever the reply is.
type Kind interface {
	// Traits says what the kind uses of the shared code. Every call returns the same pointer.
	Traits() *Traits

	// Names returns the names that belong to key. It is called once for each handle.
	Names(key string) Names

	// Channel is the channel on which a waiter with this owner receives the messages of
	// releases. Empty means that nothing is published, and that a waiter pauses instead; see
	// Pause.
	Channel(n *Names, owner Owner) string

	// Wake is how many waiters of a queue to wake for a message: 0, some, or [All].
	Wake(payload []byte) int

	// Acquire makes one attempt to get the lock. Granted reads its reply. Granted gets no error
	// replies: what the kind itself refuses, its script answers in another way, see
	// Grant.Refused.
	Acquire(room []any, w *Want) Call
	Granted(reply any) (Grant, error)

	// Release gives up a hold, see Traits.Latched. [luasrc.DecodeRelease] reads its reply: luasrc.Partial means
	// that this owner has holds left, of whatever kind of the family, and that the script has
	// set Want.Lease; luasrc.Final means that it has none, even if other owners hold.
	Release(room []any, w *Want) Call

	// Renew gives each of the n leases that is still held a new lease, in ms; with a lease of 0
	// it only checks. It calls at for each, counted from 0, any number of times. Leases of
	// different kinds may share a Renew if the kinds have one Traits.RenewGroup; there are at
	// most watchdog.MaxBatch. [luasrc.DecodeRenew] reads its reply: for each whether it was
	// still held.
	Renew(room []any, lease Arg, n int, at func(i int) Held) Call

	// Leave removes waiters of one lock from the server. They give up and were not granted the
	// lock; there is at least one, and none has Want.OneTry. It also follows the Release for an
	// acquire that was never answered, if the owner is used once. It is for kinds with
	// Traits.ByOwner; for others it is empty.
	Leave(all ...*Want) Call

	// Pause bounds how long a waiter waits before it tries again without a message; the pause
	// is chosen at random between the two. g is its refusal or, with g.OK, the grant of another
	// waiter of its queue. tries counts its attempts so far, 0 for a waiter that has made none
	// itself.
	Pause(tries int, g Grant) (least, most time.Duration)

	// Force frees the lock whichever owner holds it, and publishes that to the waiters. With
	// Want.KeyAlone its only key is the lock: the server that has the lock runs it, even if the
	// rest of the slot is on another server. [luasrc.DecodeForce] reads its reply: whether there was
	// a lock.
	Force(w *Want) Call

	// Ask reads something of the lock. It is empty if the kind has no such thing.
	Ask(q Question, w *Want) Query
}

// All wakes every waiter of a queue.
const All = 1 << 29 // the sum of two fits in 32 bits

// Traits say what a kind uses of the shared code. They are never changed.
type Traits struct {
	// Label is the kind's name in statistics.
	Label Label

	// Family names the kinds that share owners. Kinds of one family on one key share the order
	// of an owner's commands, its leases, and force.
	Family string

	// Queue names a queue within the family. Kinds with the same Queue wait in one queue on one
	// key, which has one attempt in flight.
	Queue string

	// ByOwner gives each owner its own queue. It is for kinds whose order the server keeps, and
	// whose waiters each have a channel.
	ByOwner bool

	// Width is how many owners may hold one key at the same time; 0 means any number. A grant
	// of a kind of width 1 shows that no other owner holds by any kind of the family. A grant
	// of another kind shows that no other owner holds by a kind of width 1.
	Width int

	// NoUpgrade is the error for an owner that holds the key only by other kinds of the family:
	// it would wait for itself. Nil: no owner is refused.
	NoUpgrade error

	// Silent says that nothing is published: a waiter has no channel, and pauses.
	Silent bool

	// HandOffs bounds how many waiters of this client get the lock one after the other, each
	// acquire in the same write as the unlock before it, so that no other client can acquire it
	// in between. It is for kinds in which any waiter may be the next; 0 means none.
	HandOffs int

	// FairShare makes the client count what it takes of a key and step back for slower clients.
	// It needs a channel, whose subscribers are counted.
	FairShare bool

	// PassOn makes a refused attempt pass its wake-up to the waiter behind it, which may want
	// less.
	PassOn bool

	// Gate says that a grant only lets waiters through: nothing is held or released, and one
	// grant lets all waiters of its queue through.
	Gate bool

	// Lasting says that a grant counts something that does not expire with a lease. It is kept
	// only if all replicas have it: a replica without it could be promoted, and the count would
	// be lost.
	Lasting bool

	// Unowned says that a grant has no owner: nothing is held, leased or released for the
	// owner, which only names the Receipt. While the receipt exists, Release gives the grant
	// back.
	Unowned bool

	// Permits says that a hold is a number of permits, and that other owners may have others:
	// errors say so.
	Permits bool

	// KeyType is the type of the lock's key in Redis. A key of another type is not the lock's,
	// and is left alone.
	KeyType string

	// Tally names a count of holds. Kinds of a family with one Tally count an owner's holds
	// together, so that HoldCount counts all of them.
	Tally string

	// Keeps says that a release can leave the lock to another owner, see Want.Keep.
	Keeps bool

	// Latched says that the server counts an owner's holds, so that a release must count once. If
	// other clients may act as the owner, it keeps its result in Want.Latch. If only this client
	// acts, it has no latch, and says in Want.Left how many holds it leaves. The releases of other
	// kinds may run any number of times.
	Latched bool

	// Repeats says that an acquire of an owner for which only this client acts may be sent again
	// where it may have run, see [Again].
	Repeats bool

	// Asserts says that each hold has its own lease on the server, and that a command of
	// another holder may cut the lock's lease. So a fixed lease is renewed too, each time by
	// what is left of it.
	Asserts bool
	// KeepsLeases says that a release whose Want.Lease is 0 sets no lease. An owner's last hold
	// is released like that, because holds that the server still counts have ended, or have their
	// own leases.
	KeepsLeases bool
	// RenewGroup names the kinds whose leases can share one Renew. Kinds of one group have the
	// same Renew.
	RenewGroup string
}

// Object is what an error calls the object.
func (t Traits) Object() string {
	switch {
	case t.Permits:
		return "semaphore"
	case t.Gate:
		return "latch"
	}
	return "lock"
}

// Label names a kind in statistics.
type Label uint8

// All labels:
const (
	PlainLabel        Label = iota // Reentrant
	FairLabel                      // Fair
	FencedLabel                    // Fenced
	SpinLabel                      // Spin
	NonReentrantLabel              // NonReentrant
	ReadLabel                      // ReadLock
	WriteLabel                     // WriteLock
	SemaphoreLabel                 // Semaphore
	PermitsLabel                   // Permits
	LatchLabel                     // CountDownLatch
	Labels                         // the number of labels
)

var labels = [Labels]string{"lock", "fair", "fenced", "spin", "nonreentrant", "read", "write", "semaphore", "permits", "latch"}

// String returns the name.
func (l Label) String() string { return labels[l] }

// labelled returns the traits of a kind that differs from another by its name.
func labelled(t Traits, l Label) Traits {
	t.Label = l
	return t
}
