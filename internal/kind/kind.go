package kind

import (
	"strings"
	"time"

	"github.com/rlock-go/redisson/codec"
)

// Kind tells one lock object from another. Its methods are pure and safe for
// concurrent use. Those that make a [Call] append its arguments to room, which
// may be nil, and keep no reference to it or to a [Want]; an empty Call means
// that there is nothing to send. Those that read a reply take it as redigo
// decodes it; none panics, whatever the reply is.
type Kind interface {
	// Traits says what of the common machinery the kind uses. Every call
	// returns the same pointer.
	Traits() *Traits

	// Names are the names that belong to key, made once for each handle.
	Names(key string) Names

	// Channel is what messages of releases come by, for one who waits for owner.
	// Empty means that nothing is published, and that a waiter pauses instead; see
	// Pause.
	Channel(n *Names, owner Owner) string

	// Wake tells how many waiters of a queue a message is worth waking up: 0,
	// some, or [All].
	Wake(payload []byte) int

	// Acquire asks for the lock once. Granted reads its reply. It gets no error of
	// the server: what the kind itself refuses, its script answers in another way, see
	// Grant.Refused.
	Acquire(room []any, w *Want) Call
	Granted(reply any) (Grant, error)

	// Release gives up one hold. [codec.DecodeRelease] reads its reply: codec.Partial is
	// that this owner has holds left, of whatever kind of the family, and that the script
	// has set Want.Lease; codec.Final that it has none, whoever else holds.
	Release(room []any, w *Want) Call

	// Renew gives each of the n leases a new one of so many ms, at least 1, if it is
	// still held. It asks for each, counted from 0, any number of times. Leases of
	// different kinds may share a Renew if the kinds are of one
	// Traits.RenewGroup; there are at most watchdog.MaxBatch. [codec.DecodeRenew] reads its
	// reply: for each whether it was still held.
	Renew(room []any, lease Arg, n int, at func(i int) Held) Call

	// Leave takes waiters of one lock off the server that give up, and were not granted
	// it: one at least, and none with Want.OneTry. It also follows the Release of what an
	// acquire may have got that was never answered, where the owner is used once. It is
	// for kinds that are Traits.ByOwner; others have nothing there.
	Leave(all ...*Want) Call

	// Pause bounds how long a waiter that was refused with g waits before it
	// tries again unwoken; the pause is chosen at random between the two. tries
	// counts its attempts so far, 0 for one that has made none of its own.
	Pause(tries int, g Grant) (least, most time.Duration)

	// Force frees the lock whoever holds it, and tells those who wait. With
	// Want.KeyAlone its only key is the lock, see Traits.Once. [codec.DecodeForce] reads its
	// reply: whether there was a lock.
	Force(w *Want) Call

	// Ask reads something of the lock. Empty means that the kind has no such thing.
	Ask(q Question, w *Want) Query
}

// All wakes every waiter of a queue.
const All = 1 << 29 // twice as many can be counted

// Traits say what of the common machinery a kind uses. They are never changed.
type Traits struct {
	// Label is the kind's name where kinds are counted.
	Label Label

	// Family is whose owners the kind shares. Kinds of one family on one key
	// share the order of an owner's commands, its leases, and force.
	Family string

	// Queue names a queue within the family. Kinds that name the same one wait
	// in one queue on one key, with one attempt of it in flight.
	Queue string

	// ByOwner gives each owner a queue of its own, as where the server keeps the
	// order and tells each waiter by a channel of its own.
	ByOwner bool

	// Width is how many may hold one key at the same time; 0 means any number. A
	// grant of a kind of width 1 says that nobody else of the family holds, one of
	// another that nobody else holds by a kind of width 1.
	Width int

	// NoUpgrade is why an owner is refused that holds the key by other kinds of the
	// family only: it would wait for itself. Nil: none is refused.
	NoUpgrade error

	// Silent says that nothing is published: a waiter has no channel, and pauses.
	Silent bool

	// HandOffs bounds how many waiters of this client get the lock one after the
	// other, each acquire in the same write as the unlock before it, so that no
	// other client can acquire it in between. It is for kinds in which any waiter
	// may be the next; 0 means none.
	HandOffs int

	// FairShare has the client count what it takes of a key and step back for
	// slower ones. It needs a channel, whose subscribers are counted.
	FairShare bool

	// PassOn has a refused attempt leave its wake-up to the waiter behind it,
	// which may want less.
	PassOn bool

	// Gate says that a grant only opens the way: nothing is held or released,
	// and one grant lets all waiters of its queue through.
	Gate bool

	// Lasting says that a grant counts something that does not pass with a lease. It is
	// kept only if all replicas have it: whichever is promoted would lack it for ever.
	Lasting bool

	// Unowned says that a grant is nobody's: nothing is held, leased or released for its
	// owner, who only names its Receipt. As long as there is that, its Release gives it back.
	Unowned bool

	// Permits says that a hold is permits, of which others may have some: errors say so.
	Permits bool

	// KeyType is what Redis calls the type of the lock's key. A key of another
	// type is not the lock's, and is left alone.
	KeyType string

	// Tally names a count of holds. Kinds of a family with one Tally count an
	// owner's holds together, so that HoldCount counts both.
	Tally string

	// Keeps says that a release can leave the lock to another owner, see Want.Keep.
	Keeps bool

	// Latched says that a release keeps its result in Want.Latch.
	Latched bool
	// Once says that there is a form of the release without a latch, for an owner
	// that is used once: a Want without a Latch asks for it. It may run any number
	// of times.
	// With Want.KeyAlone its only key is the lock: a server that has the lock runs it,
	// though the rest of the slot may be elsewhere.
	Once bool

	// Asserts says that each hold has a lease of its own on the server, and that a
	// command of another holder may cut the lock's. So a fixed lease is renewed too, each
	// time by what is left of it, and a release of an owner's last hold leaves no lease.
	Asserts bool
	// RenewGroup is whose leases share one Renew. Kinds of one group have the
	// same Renew.
	RenewGroup string
}

// Label names a kind for whoever counts.
type Label uint8

// All of them.
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
	Labels                         // how many there are
)

var labels = [Labels]string{"lock", "fair", "fenced", "spin", "nonreentrant", "read", "write", "semaphore", "permits", "latch"}

// String is the word for it.
func (l Label) String() string { return labels[l] }

// labelled are the traits of a kind that differs from another by its name.
func labelled(t Traits, l Label) Traits {
	t.Label = l
	return t
}

// LockName is a lock's key and its family.
type LockName struct {
	Key    string // as Redis has it
	Family string // Traits.Family of its kinds
}

// Locks are the locks whose holds a Renew looks up in a key, one of each family at most.
func Locks(key string) []LockName {
	names := []LockName{{key, ownedHash}, {key, readTraits.Family}}
	if permits, ok := strings.CutSuffix(key, ":timeout"); ok {
		bare := strings.TrimSuffix(strings.TrimPrefix(permits, "{"), "}")
		for _, k := range []string{permits, bare} {
			if codec.PermitTimes(k) == key {
				names = append(names, LockName{k, permitsTraits.Family})
			}
		}
	}
	return names
}
