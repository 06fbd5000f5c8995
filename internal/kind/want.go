package kind

import (
	"time"

	"github.com/rlock-go/redisson/internal/luasrc"
)

// Arg is one argument of a command, as in luasrc. Its user boxes it, and boxes recurring
// arguments once.
type Arg = luasrc.Arg

// Left is how many holds a release leaves to its owner, as in luasrc.
type Left = luasrc.Left

// Names are a key and the names that belong to it, each a boxed string. The first is the key;
// the kind defines the others.
type Names [4]Arg

// Key returns the key, which is empty if there are no names.
func (n *Names) Key() string {
	key, _ := n[0].(string)
	return key
}

// Owner is the owner of a hold: one argument of a command, and its text. A pointer is best,
// since it is boxed without an allocation.
type Owner interface {
	RedisArg() any  // for a connection that takes redigo's arguments
	String() string // as Redis stores it
}

// Want is the input of a kind's methods. The caller fills the fields that the method needs; a
// kind only reads it.
type Want struct {
	Names *Names // of the lock
	Owner Owner  // the owner that wants it

	Lease    Arg  // in ms, at least 1: of an acquire, or for the owner's holds that a release leaves; 0: they need none, see Traits.KeepsLeases
	Latch    Arg  // of a release: the same for each repetition of it; nil: only this client acts for the owner, see Traits.Latched
	LatchTTL Arg  // in ms, at least 1
	Left     Left // of a release without a latch: what it leaves of the owner's holds
	KeyAlone bool // for Force: use the form that has the lock as its only key
	Keep     Keep // of a release; zero: the release of the last hold frees the lock
	Known    bool // of a change or an acquire that nobody owns: its reply is what Repeated needs
	Since    Arg  // of a change: how many ms ago it was first sent, as of each send; nil, as 0: it was not
	Publish  Arg  // how to announce, in an acquire too: luasrc.Publish, luasrc.SPublish or luasrc.Both

	Wait   time.Duration // total wait of the call, or of another call of its owner that has a queue; 0: no limit
	OneTry bool          // it makes one attempt and does not wait
}

// Keep is the owner that has the lock after the release of a last hold, and for how many ms.
type Keep struct {
	Owner  string // an owner that no client uses
	Millis int64  // 0: the lock is free
}

// Held is a hold of an owner, as its kind sees it.
type Held struct {
	Kind  Kind   // its kind
	Names *Names // of the lock
	Owner Owner  // its owner
	Count int32  // number of holds, if they are to be renewed
}

// Question is something to be read of a lock.
type Question uint8

// All questions:
const (
	Locked    Question = iota // is it held
	HeldBy                    // does the owner hold it
	HoldCount                 // how often does the owner hold it, whoever acquired; also after an acquire that was never answered, if the owner is used again
	RemainTTL                 // what is left of its lease
	Holding                   // which owner holds it, how often, and what is left of its lease
	Waiting                   // how many wait in the server's queue; for kinds with Traits.ByOwner
	LastToken                 // the token of the last grant; empty where grants have none
	Forcible                  // is there anything for Force; empty where that is any key of Traits.KeyType
)

// Answer is what was read.
type Answer struct {
	Yes   bool          // Locked, HeldBy, Forcible; of RemainTTL and Holding: there is a lock
	N     int64         // HoldCount, Holding, LastToken, Waiting
	TTL   time.Duration // RemainTTL, Holding; luasrc.NoTTL if it never expires
	Owner string        // Holding, as Redis stores it
}

// Grant is the answer to an acquire.
type Grant struct {
	OK    bool          // the owner has one hold more than before
	Token int64         // of this grant, higher than all before; 0: the kind has none
	TTL   time.Duration // otherwise: how long the lock is taken for; negative: forever

	// Unset says that too few permits are free because none were ever set.
	Unset bool

	// Refused is the reason for which the kind itself will never grant this: the script changed
	// nothing, and the wait ends.
	Refused error
}
