package kind

import (
	"encoding/hex"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/luasrc"
)

// Semaphore is Redisson's RSemaphore. Each acquire takes n permits. On the server it is the
// number of free permits; nothing is kept of the taken ones. An owner is used once, and only
// names the receipt of its acquire.
func Semaphore(n int) Kind { return semaphore{permits{n: n}} }

// semaphore shares the channel, the messages and the undo with permits.
type semaphore struct{ permits }

var semaphoreTraits = Traits{Label: SemaphoreLabel, Family: "semaphore", PassOn: true, KeyType: "string", Once: true, Permits: true, Unowned: true, Lasting: true}

// begunName is the key that exists for a while after a semaphore was set.
const begunName = channelName + 1

// poll is how long a waiter waits for a message before it looks. It is for waits that no lease
// ends, or where the lease may end sooner than the server reported.
const poll = time.Second

// ReceiptTTL is how long the server keeps the receipt of an acquire without owner, or of a
// change. The receipt is deleted once its caller has the answer. The TTL is for callers that
// died, and for servers that stand still while a repeated command waits in their socket.
const ReceiptTTL = 10 * time.Minute

const receiptMillis = int(ReceiptTTL / time.Millisecond)

func (semaphore) Traits() *Traits { return &semaphoreTraits }

func (semaphore) Names(key string) Names {
	return Names{keyName: key, channelName: codec.PermitChannel(key), begunName: codec.Latch(key, "begun")}
}

// Receipt is the name of the key that records an acquire of a kind with Traits.Unowned.
func Receipt(n *Names, o Owner) Arg {
	return codec.Latch(n.Key(), hex.EncodeToString([]byte(PermitIDs(o.String(), 1)[0])))
}

// number returns the number in w, with the receipt of a change.
func number(w *Want, receipt Arg) luasrc.Number {
	return luasrc.Number{Key: w.Names[keyName], Receipt: receipt, Begun: w.Names[begunName], Channel: w.Names[channelName], Publish: w.Publish}
}

func (k semaphore) Acquire(room []any, w *Want) Call {
	return Run(luasrc.SemaphoreAcquire(room, number(w, Receipt(w.Names, w.Owner)), k.n, receiptMillis), Never)
}

func (semaphore) Granted(reply any) (Grant, error) {
	if reply == luasrc.NoPermitsSet {
		return noPermitsSet, nil
	}
	ok, err := codec.DecodeExists(reply)
	return Grant{OK: ok, TTL: codec.NoTTL}, err
}

// Release gives back what the owner's acquire has taken, if its receipt still exists.
func (k semaphore) Release(_ []any, w *Want) Call {
	return Run(luasrc.SemaphoreUndo(number(w, Receipt(w.Names, w.Owner)), k.n), Always)
}

// Pause is for a message that was lost.
func (semaphore) Pause(int, Grant) (least, most time.Duration) { return poll * 4 / 5, poll }

// Force is empty: nothing is held.
func (semaphore) Force(*Want) Call { return Call{} }

// ChangeSemaphore changes how many permits are free; how is luasrc.GiveBack or the like. The
// result is kept in w.Latch. ttl is luasrc.SetFirst's; 0: no expiry. [codec.DecodeNumber]
// reads its reply.
func ChangeSemaphore(w *Want, how string, n int, ttl time.Duration) Call {
	return Run(luasrc.SemaphoreChange(number(w, w.Latch), w.LatchTTL, how, n, ttl.Milliseconds(), receiptMillis), Always)
}

// TakeAgain takes what an acquire of a kind with Traits.Unowned took, even if fewer permits
// are free, unless the server has its receipt, w.Latch.
func TakeAgain(k Kind, w *Want) Call {
	return ChangeSemaphore(w, luasrc.GiveExisting, -k.(semaphore).n, 0)
}

// ReadNumber asks for the free permits of a semaphore, or for the count of a latch.
// [codec.DecodeNumber] reads its reply.
func ReadNumber(w *Want) Call { return Read("GET", w.Names[keyName]) }
