package luasrc

// These are the scripts of a fair lock. All have fair_queue.lua.
var (
	FairLockScript   = newScript("tell", "fair_queue", "fair_lock")           // FairLock
	FairUnlockScript = newScript("tell", "left", "fair_queue", "fair_unlock") // FairUnlock
	FairKeepScript   = newScript("tell", "left", "fair_queue", "fair_keep")   // FairKeep
	FairLeaveScript  = newScript("tell", "fair_queue", "fair_leave")          // FairLeave
	FairForceScript  = newScript("tell", "group", "fair_queue", "fair_force") // FairForce

	FairLockAgainScript = newAgain("again_fair", "tell", "fair_queue", "fair_lock") // Again of FairLock
)

// FairLock acquires key for owner if it is already the owner's, or if it is free and no other
// owner is at the head of the queue. Otherwise the owner gets a place at the queue's end, unless
// it has one or once is 1. The place expires wait ms after the place before it or, for the first
// one, after the lease. wait is the same in all calls of one waiter. channel is the prefix of
// the channels of all owners. If key is free and another owner is at the head, the command
// publish sends that owner a message.
//
//	KEYS  key, queue, times
//	ARGV  channel, owner, lease, wait, once, publish; with Both SPublish and Publish
//	reply nil: one hold more; PTTL of key: owner is at the head; behind other owners: ms until the first of them loses its place, or -1: unknown (DecodeAcquire)
//
// A key of another type makes it fail with WRONGTYPE and stays untouched.
func FairLock(dst []any, key, queue, times, channel, owner, lease, wait, once, publish Arg) Call {
	return FairLockScript.call(dst, 3, key, queue, times, channel, owner, lease, wait, once).by(publish)
}

// FairUnlock is [Unlock] for a lock whose release is announced only to the owner at the head of
// the queue, or [UnlockTo] without a latch: see [Left]. An unlock that finds no key announces it
// too.
//
//	KEYS  key, queue, times, or these and latch
//	ARGV  channel, owner, lease, latchTTL, least, exact, publish; with Both SPublish and Publish
//	reply nil: no hold; 0: holds left; 1: free (DecodeRelease)
//
// A key of another type makes it fail with WRONGTYPE and stays untouched.
func FairUnlock(dst []any, key, queue, times, latch, channel, owner, lease, latchTTL Arg, to Left, publish Arg) Call {
	return FairUnlockScript.latched(dst, latch, key, queue, times).with(channel, owner, lease, latchTTL).to(to).by(publish)
}

// FairKeep is [FairUnlock], but leaves key to keeper for keep ms, as [UnlockKeep] does. Without
// key it sends no message.
//
//	KEYS  key, queue, times, or these and latch
//	ARGV  channel, owner, lease, latchTTL, keeper, keep, least, exact, publish; with Both SPublish and Publish
//	reply nil: no hold; 0: holds left; 1: that was the last (DecodeRelease)
func FairKeep(dst []any, key, queue, times, latch, channel, owner, lease, latchTTL, keeper, keep Arg, to Left, publish Arg) Call {
	return FairKeepScript.latched(dst, latch, key, queue, times).with(channel, owner, lease, latchTTL, keeper, keep).to(to).by(publish)
}

// FairLeave removes n owners from the queue. Each waited for wait ms in all its calls. If the
// head is one of them and key is free, the next owner gets a message. The server does least if
// the removed owners are at the end of the queue.
//
//	KEYS  key, queue, times
//	ARGV  channel, n, each owner and its wait, publish; with Both SPublish and Publish
//	reply nil
func FairLeave(key, queue, times, channel, publish Arg, n int, leaver func(i int) (owner, wait Arg)) Call {
	call := FairLeaveScript.call(make([]any, 0, 9+2*n), 3, key, queue, times, channel, n)
	for i := range n {
		call = call.with(leaver(i))
	}
	return call.by(publish)
}

// FairForce deletes key whichever owner holds it, and sends a message to the owner at the head
// of the queue if there was something to delete.
//
//	KEYS  key, queue, times
//	ARGV  channel, publish; with Both SPublish and Publish
//	reply 1: deleted; 0: was not there (DecodeForce); 2: left alone; {1, why}: deleted unasked
//
// A key of another type is deleted too, as by Redisson.
func FairForce(key, queue, times, channel, publish Arg) Call {
	return FairForceScript.call(nil, 3, key, queue, times, channel).by(publish)
}
