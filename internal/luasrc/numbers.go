package luasrc

// These are the scripts of a semaphore without owners, and of a count-down latch. All but the
// acquire begin with number.lua.
var (
	SemaphoreAcquireScript = newScript("semaphore_acquire")                  // SemaphoreAcquire
	SemaphoreUndoScript    = newScript("tell", "number", "semaphore_undo")   // SemaphoreUndo
	SemaphoreChangeScript  = newScript("tell", "number", "semaphore_change") // SemaphoreChange
	CountDownScript        = newScript("tell", "number", "count_down")       // CountDown
)

// Number is a number that clients change and wait for: the free permits of a semaphore, or the
// count of a latch. All its calls but the acquire have
//
//	KEYS  key, receipt
//	ARGV  channel, number of commands that announce, these, then the arguments of the call
//
// A key of another type, or a value that is not a number, makes each fail, and stays untouched.
type Number struct {
	Key     Arg // key of the number
	Receipt Arg // key that keeps the result of one change
	Begun   Arg // key that exists after a semaphore was set, for the TTL of a receipt
	Channel Arg // where waiters get messages
	Publish Arg // how to announce: Publish, SPublish or Both
}

// call makes a call of s with these further keys and arguments.
func (n *Number) call(s *Script, keys []Arg, args ...any) Call {
	return s.call(nil, 2+len(keys), n.Key, n.Receipt).with(keys...).telling(n.Channel, n.Publish).with(args...)
}

// SemaphoreAcquire takes count permits, at least 1. The receipt is kept for receiptTTL ms.
//
//	KEYS  key, receipt
//	ARGV  count, receiptTTL
//	reply 1: taken; 0: too few are free (codec.DecodeExists); NoPermitsSet
func SemaphoreAcquire(dst []any, n Number, count int, receiptTTL Arg) Call {
	return SemaphoreAcquireScript.call(dst, 2, n.Key, n.Receipt, count, receiptTTL)
}

// SemaphoreUndo gives back the permits of the acquire with this receipt, unless the semaphore
// was deleted or set again since. It may run any number of times.
//
//	KEYS  key, receipt, begun
//	ARGV  count
//	reply 1: undone; nil: there is no receipt (codec.DecodeRelease)
func SemaphoreUndo(n Number, count int) Call {
	return n.call(SemaphoreUndoScript, []Arg{n.Begun}, count)
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
// receiptTTL ms. ttl and acquireTTL are for SetFirst: the number expires after ttl ms, or never
// if ttl is 0, and Begun is kept for acquireTTL ms, the TTL of an acquire's receipt.
//
//	KEYS  key, receipt, begun
//	ARGV  receiptTTL, how, count, ttl, acquireTTL
//	reply 1: done; 0: nothing to change; of DrainAll how many were free (codec.DecodeNumber)
func SemaphoreChange(n Number, receiptTTL Arg, how string, count, ttl, acquireTTL Arg) Call {
	return n.call(SemaphoreChangeScript, []Arg{n.Begun}, receiptTTL, how, count, ttl, acquireTTL)
}

// These say how CountDown changes the count of a latch.
const (
	SetCount    = "set"    // if no key exists
	DownByOne   = "down"   // waiters get a message if the count becomes 0
	DeleteCount = "delete" // the key is deleted
)

// CountDown changes the count of a latch. The result is kept in the receipt for receiptTTL ms.
//
//	ARGV  receiptTTL, how, count
//	reply 1: done; 0: nothing to change (codec.DecodeExists)
func CountDown(n Number, receiptTTL Arg, how string, count Arg) Call {
	return n.call(CountDownScript, nil, receiptTTL, how, count)
}
