package luasrc

// The scripts of a semaphore without owners, and of a count-down latch. All but the
// acquire begin with number.lua.
var (
	SemaphoreAcquireScript = newScript("semaphore_acquire")                  // SemaphoreAcquire
	SemaphoreUndoScript    = newScript("tell", "number", "semaphore_undo")   // SemaphoreUndo
	SemaphoreChangeScript  = newScript("tell", "number", "semaphore_change") // SemaphoreChange
	CountDownScript        = newScript("tell", "number", "count_down")       // CountDown
)

// Number is a number that clients change and wait for: the free permits of a semaphore,
// or the count of a latch. All its calls but the acquire have
//
//	KEYS  key, receipt
//	ARGV  channel, how many commands announce, these, then those of the call
//
// A key of another type, or what is no number, makes each fail, and stays untouched.
type Number struct {
	Key     Arg // where it is
	Receipt Arg // where one change of it keeps its result
	Begun   Arg // of a semaphore: is there for as long as a receipt after it was set
	Channel Arg // who waits is told there
	Publish Arg // by what: Publish, SPublish or Both
}

// call is a call of s with these further keys and arguments.
func (n *Number) call(s *Script, keys []Arg, args ...any) Call {
	return s.call(nil, 2+len(keys), n.Key, n.Receipt).with(keys...).telling(n.Channel, n.Publish).with(args...)
}

// SemaphoreAcquire takes so many permits, at least 1. The receipt is kept for
// receiptTTL ms.
//
//	KEYS  key, receipt
//	ARGV  count, receiptTTL
//	reply 1: taken; 0: too few are free (codec.DecodeExists); NoPermitsSet
func SemaphoreAcquire(dst []any, n Number, count int, receiptTTL Arg) Call {
	return SemaphoreAcquireScript.call(dst, 2, n.Key, n.Receipt, count, receiptTTL)
}

// SemaphoreUndo gives back the permits of the acquire with this receipt, unless the
// semaphore was deleted since, or set anew. It may run any number of times.
//
//	KEYS  key, receipt, begun
//	ARGV  count
//	reply 1: undone; nil: there is no receipt (codec.DecodeRelease)
func SemaphoreUndo(n Number, count int) Call {
	return n.call(SemaphoreUndoScript, []Arg{n.Begun}, count)
}

// How SemaphoreChange changes the number of free permits.
const (
	GiveBack     = "release"  // so many come back
	GiveExisting = "existing" // the same, if the key is there
	SetFirst     = "first"    // so many are the first, if no key is there
	AddMore      = "more"     // so many more, or fewer; the key loses its end
	DrainAll     = "drain"    // none is left; the same
	DeleteAll    = "delete"   // with the key, and nobody is told
)

// SemaphoreChange changes the number of free permits. The result is kept in the receipt
// for receiptTTL ms, that of an acquire for acquireTTL. ttl is SetFirst's, in ms; 0: without
// an end.
//
//	KEYS  key, receipt, begun
//	ARGV  receiptTTL, how, count, ttl, acquireTTL
//	reply 1: done; 0: it was not to be; of DrainAll how many were free (codec.DecodeNumber)
func SemaphoreChange(n Number, receiptTTL Arg, how string, count, ttl, acquireTTL Arg) Call {
	return n.call(SemaphoreChangeScript, []Arg{n.Begun}, receiptTTL, how, count, ttl, acquireTTL)
}

// How CountDown changes the count of a latch.
const (
	SetCount    = "set"    // if no key is there
	DownByOne   = "down"   // who waits is told if that makes it 0
	DeleteCount = "delete" // with the key
)

// CountDown changes the count of a latch. The result is kept in the receipt for
// receiptTTL ms.
//
//	ARGV  receiptTTL, how, count
//	reply 1: done; 0: it was not to be (codec.DecodeExists)
func CountDown(n Number, receiptTTL Arg, how string, count Arg) Call {
	return n.call(CountDownScript, nil, receiptTTL, how, count)
}
