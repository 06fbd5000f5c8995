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

var semaphoreTraits = Traits{Label: SemaphoreLabel, Family: "semaphore", PassOn: true, KeyType: "string", Permits: true, Unowned: true, Lasting: true}

// begunName is the key that tells a semaphore or a latch from a later one of its name.
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
	return kept(luasrc.SemaphoreAcquire(room, number(w, Receipt(w.Names, w.Owner)), k.n, receiptMillis, w.known()), Never)
}

func (semaphore) Granted(reply any) (Grant, error) {
	if reply == luasrc.NoPermitsSet {
		return noPermitsSet, nil
	}
	if by, ok := reply.(int64); ok && by > 1 {
		return Grant{OK: true, TTL: luasrc.NoTTL}, nil
	}
	ok, err := luasrc.DecodeExists(reply)
	return Grant{OK: ok, TTL: luasrc.NoTTL}, err
}

// Release gives back what the owner's acquire has taken, if its receipt still exists.
func (k semaphore) Release(_ []any, w *Want) Call {
	return oneKey(luasrc.SemaphoreUndo(number(w, Receipt(w.Names, w.Owner)), k.n), Always)
}

// Pause is for a message that was lost.
func (semaphore) Pause(int, Grant) (least, most time.Duration) { return poll * 4 / 5, poll }

// Force is empty: nothing is held.
func (semaphore) Force(*Want) Call { return Call{} }

// ChangeSemaphore changes how many permits are free; how is luasrc.GiveBack or the like. The
// result is kept in w.Latch. ttl is luasrc.SetFirst's; 0: no expiry. [luasrc.DecodeNumber]
// reads its reply.
func ChangeSemaphore(w *Want, how string, n int, ttl time.Duration) Call {
	return kept(luasrc.SemaphoreChange(number(w, w.Latch), w.LatchTTL, how, n, ttl.Milliseconds(), w.known()).Since(w.Since), Always)
}

// oneKey is Run for a script that can run with its first key alone.
func oneKey(c luasrc.Call, resend Resend) Call {
	call := Run(c, resend)
	call.OneKey = true
	return call
}

// kept is oneKey for a script whose second key is the receipt of this call.
func kept(c luasrc.Call, resend Resend) Call {
	call := oneKey(c, resend)
	call.Receipt = true
	return call
}

// GiveTaken gives back what an acquire of a kind with Traits.Unowned took, if the semaphore is
// there. It is for an acquire that left no receipt in the semaphore's slot.
func GiveTaken(k Kind, w *Want) Call {
	return ChangeSemaphore(w, luasrc.GiveExisting, k.(semaphore).n, 0)
}

// known says whether the reply to a change is to be a number by which its object is known.
func (w *Want) known() int {
	if w.Known {
		return luasrc.Known
	}
	return luasrc.Unknown
}

// Repeated makes of a change with Want.Known, by its reply, the call to be sent to a server that
// may lack it. It reports false if the object can't be told from a later one of its name.
func Repeated(c Call, reply any) (Call, bool) {
	by, ok := reply.(int64)
	if !ok || by <= 1 {
		return c, false
	}
	c.OneKey = false // a server that has not all keys may lack what tells the object from a later one
	c.Args = luasrc.Call{Script: c.Script, Args: c.Args}.Repeated(by).Args
	return c, true
}

// TakeAgain takes what an acquire of a kind with Traits.Unowned took, even if fewer permits
// are free, unless the server has its receipt, w.Latch.
func TakeAgain(k Kind, w *Want) Call {
	return ChangeSemaphore(w, luasrc.GiveExisting, -k.(semaphore).n, 0)
}

// ReadNumber asks for the free permits of a semaphore, or for the count of a latch.
// [luasrc.DecodeNumber] reads its reply.
func ReadNumber(w *Want) Call { return Read("GET", w.Names[keyName]) }
