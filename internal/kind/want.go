package kind

import (
	"time"

	"github.com/rlock-go/redisson/internal/luasrc"
)

// Arg is one argument of a command, as luasrc has it: boxed by its user, who
// boxes what is sent again and again once.
type Arg = luasrc.Arg

// Names are a key and the names that belong to it, each a boxed string. The
// first is the key itself; what the others are is the kind's to know.
type Names [4]Arg

// Key is the key; empty: there are no names.
func (n *Names) Key() string {
	key, _ := n[0].(string)
	return key
}

// Owner is who holds a lock: one argument of a command, and its text. A pointer
// serves best, since it is boxed without an allocation.
type Owner interface {
	RedisArg() any  // for a connection that takes redigo's arguments
	String() string // as Redis stores it
}

// Want is what a call wants of a lock. It is filled by whoever asks, field by
// field as the method needs it, and is only read by a kind.
type Want struct {
	Names *Names // of the lock
	Owner Owner  // who wants it

	Lease    Arg  // in ms, at least 1: of an acquire, or what the holds that are left by a release get; 0: they need none, see Traits.Asserts
	Latch    Arg  // of a release: the same for each repetition of it; nil where its owner is used once, see Traits.Once
	LatchTTL Arg  // in ms, at least 1
	KeyAlone bool // of a release without a latch, or of Force: in the form that has the lock as its only key
	Keep     Keep // of a release; its zero value: the last hold's frees the lock
	Publish  Arg  // what announces, in an acquire too: luasrc.Publish, luasrc.SPublish or luasrc.Both

	Wait   time.Duration // how long the call waits altogether, or another of its owner that has a queue; 0: as long as it takes
	OneTry bool          // it makes one attempt and does not wait
}

// Keep is who has the lock after the release of a last hold, and for how many ms.
type Keep struct {
	Owner  string // whom nobody acts as
	Millis int64  // 0: the lock is free
}

// Held is what an owner holds, as its kind sees it.
type Held struct {
	Kind  Kind   // of what sort
	Names *Names // of the lock
	Owner Owner  // who holds
	Count int32  // how many holds, where they are to be renewed
}

// Question is something to be read of a lock.
type Question uint8

// What can be read.
const (
	Locked    Question = iota // does anybody hold it
	HeldBy                    // does the owner hold it
	HoldCount                 // how many times does the owner hold it, whoever acquired; also after an acquire that was never answered, where the owner is used again
	RemainTTL                 // how long has it to live
	Holding                   // who holds it, how many times, and how long has it to live
	Waiting                   // how many wait in the server's queue. Of a kind with a queue by owner
	LastToken                 // the token of the last grant; empty where grants have none
	Forcible                  // is there anything for Force; empty where that is any key of Traits.KeyType
)

// Answer is what was read.
type Answer struct {
	Yes   bool          // Locked, HeldBy, Forcible; of RemainTTL and Holding: there is a lock
	N     int64         // HoldCount, Holding, LastToken, Waiting
	TTL   time.Duration // RemainTTL, Holding; codec.NoTTL if it never expires
	Owner string        // Holding, as Redis stores it
}

// Grant is the answer to an acquire.
type Grant struct {
	OK    bool          // the owner has one hold more than before
	Token int64         // of that, higher than all before; 0: the kind has none
	TTL   time.Duration // else: how long the lock is taken for, below 0: for ever

	// Unset says that too few permits are free because nobody has set any.
	Unset bool

	// Refused is why the kind itself will never grant this: the script changed nothing,
	// and the wait ends.
	Refused error
}
