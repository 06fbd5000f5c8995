package luasrc

import "slices"

// These are the scripts of a semaphore without owners, and of a count-down latch. All but the
// acquire begin with number.lua.
var (
	SemaphoreAcquireScript = newScript("begun", "semaphore_acquire")                  // SemaphoreAcquire
	SemaphoreUndoScript    = newScript("tell", "begun", "number", "semaphore_undo")   // SemaphoreUndo
	SemaphoreChangeScript  = newScript("tell", "begun", "number", "semaphore_change") // SemaphoreChange
	CountDownScript        = newScript("tell", "begun", "number", "count_down")       // CountDown
)

// Number is a number that clients change and wait for: the free permits of a semaphore, or the
// count of a latch. All its calls but the acquire have
//
//	KEYS  key, receipt, begun; or key alone, while a slot moves
//	ARGV  receipt and begun if they are no keys, channel, number of commands that announce, these, then the arguments of the call
//
// A key of another type, or a value that is not a number, makes each fail, and stays untouched.
type Number struct {
	Key     Arg // key of the number
	Receipt Arg // key that keeps the result of one change; its last 12 characters are random hex digits
	Begun   Arg // key that tells the number from a later one of its name
	Channel Arg // where waiters get messages
	Publish Arg // how to announce: Publish, SPublish or Both
}

// call makes a call of s with these further arguments.
func (n *Number) call(s *Script, args ...any) Call {
	return s.call(nil, 3, n.Key, n.Receipt, n.Begun).telling(n.Channel, n.Publish).with(args...)
}

// These say whether the reply to a change is to be a number by which its object is known, so that
// Repeated finds the same object on another server.
const (
	Unknown = 0
	Known   = 1
)

// Since makes of a change one that says how many ms ago it was first sent, or 0. If that is above 0
// and there is no receipt, it does nothing to an object that was made since, and does not make one
// unless that is what it is for: its reply is Gone.
func (c Call) Since(first Arg) Call { return c.with(first) }

// Repeated makes of a change with Since, whose object is known by a number, the call to be sent to a
// server that may lack it. There it does nothing without that object.
func (c Call) Repeated(by int64) Call {
	args := slices.Clone(c.Args)
	args[len(args)-1] = 0
	return Call{c.Script, append(args, by)}
}

// SemaphoreAcquire takes count permits, at least 1. The receipt is kept for receiptTTL ms.
//
//	KEYS  key, receipt, begun
//	ARGV  count, receiptTTL, known
//	reply 1, or how it is known: taken; 0: too few are free; NoPermitsSet
func SemaphoreAcquire(dst []any, n Number, count int, receiptTTL Arg, known int) Call {
	return SemaphoreAcquireScript.call(dst, 3, n.Key, n.Receipt, n.Begun, count, receiptTTL, known)
}

// SemaphoreUndo gives back the permits of the acquire with this receipt, unless the semaphore
// was deleted or made anew since. It may run any number of times.
//
//	ARGV  count
//	reply 1: undone; nil: there is no receipt (DecodeRelease)
func SemaphoreUndo(n Number, count int) Call {
	return n.call(SemaphoreUndoScript, count)
}

// These say how SemaphoreChange changes the number of free permits.
const (
	GiveBack     = "release"  // count permits come back
	GiveExisting = "existing" // the same, if the key exists
	SetFirst     = "first"    // count permits are the first, if no key exists
	AddMore      = "more"     // count permits more, or fewer; the key no longer expires
	DrainAll     = "drain"    // none is left; the key no longer expires
	DeleteAll    = "delete"   // the key is deleted, and no message is sent
)

// SemaphoreChange changes the number of free permits. The result is kept in the receipt for
// receiptTTL ms. ttl is for SetFirst: the number expires after ttl ms, or never if ttl is 0.
//
//	ARGV  receiptTTL, how, count, ttl, known
//	reply 1, or of GiveBack and GiveExisting how it is known: done; 0: nothing to change; of DrainAll how many were free (DecodeNumber)
func SemaphoreChange(n Number, receiptTTL Arg, how string, count, ttl Arg, known int) Call {
	return n.call(SemaphoreChangeScript, receiptTTL, how, count, ttl, known)
}

// These say how CountDown changes the count of a latch.
const (
	SetCount    = "set"    // if no key exists
	DownByOne   = "down"   // waiters get a message if the count becomes 0
	DeleteCount = "delete" // the key is deleted
)

// CountDown changes the count of a latch. The result is kept in the receipt for receiptTTL ms.
//
//	ARGV  receiptTTL, how, count, known
//	reply 1, or of DownByOne how it is known: done; 0: nothing to change (DecodeNumber)
func CountDown(n Number, receiptTTL Arg, how string, count Arg, known int) Call {
	return n.call(CountDownScript, receiptTTL, how, count, known)
}
