package kind

import (
	"encoding/hex"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/luasrc"
)

// Semaphore is Redisson's RSemaphore, of which each acquire takes n permits: a number of
// those that are free, and nothing of the others. An owner is used once, and only names
// the receipt of its acquire.
func Semaphore(n int) Kind { return semaphore{permits{n: n}} }

// semaphore has the channel, the messages and the undo of permits.
type semaphore struct{ permits }

var semaphoreTraits = Traits{Label: SemaphoreLabel, Family: "semaphore", PassOn: true, KeyType: "string", Once: true, Permits: true, Unowned: true, Lasting: true}

// begunName is where a semaphore says for a while that it was set.
const begunName = channelName + 1

// poll is how long a waiter waits for a message before it looks, where no lease ends its
// wait, or where the lease may end sooner than the waiter was told.
const poll = time.Second

// ReceiptTTL is how long the server remembers what nobody owns: an acquire, or a change.
// The receipt is deleted once its caller has the answer; this is for callers that died, and
// for servers that stand still while a repetition waits in their socket.
const ReceiptTTL = 10 * time.Minute

const receiptMillis = int(ReceiptTTL / time.Millisecond)

func (semaphore) Traits() *Traits { return &semaphoreTraits }

func (semaphore) Names(key string) Names {
	return Names{keyName: key, channelName: codec.PermitChannel(key), begunName: codec.Latch(key, "begun")}
}

// Receipt is the name of the key that remembers an acquire of a kind that is
// Traits.Unowned.
func Receipt(n *Names, o Owner) Arg {
	return codec.Latch(n.Key(), hex.EncodeToString([]byte(PermitIDs(o.String(), 1)[0])))
}

// number is the number in w. receipt is of the change.
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

// Release gives back what the owner's acquire has taken, as long as there is its receipt.
func (k semaphore) Release(_ []any, w *Want) Call {
	return Run(luasrc.SemaphoreUndo(number(w, Receipt(w.Names, w.Owner)), k.n), Always)
}

// Pause is for a message that was lost.
func (semaphore) Pause(int, Grant) (least, most time.Duration) { return poll * 4 / 5, poll }

// Force is never asked for: nothing is held.
func (semaphore) Force(*Want) Call { return Call{} }

// ChangeSemaphore changes how many permits are free, by luasrc.GiveBack or the like, and
// keeps the result in w.Latch. ttl is luasrc.SetFirst's; 0: without an end. Its reply is
// read by [codec.DecodeNumber].
func ChangeSemaphore(w *Want, how string, n int, ttl time.Duration) Call {
	return Run(luasrc.SemaphoreChange(number(w, w.Latch), w.LatchTTL, how, n, ttl.Milliseconds(), receiptMillis), Always)
}

// TakeAgain takes what an acquire of a kind that is Traits.Unowned has taken, whatever is
// free, unless the server has its receipt, w.Latch.
func TakeAgain(k Kind, w *Want) Call {
	return ChangeSemaphore(w, luasrc.GiveExisting, -k.(semaphore).n, 0)
}

// ReadNumber asks for the free permits of a semaphore, or for the count of a latch. Its
// reply is read by [codec.DecodeNumber].
func ReadNumber(w *Want) Call { return Read("GET", w.Names[keyName]) }
