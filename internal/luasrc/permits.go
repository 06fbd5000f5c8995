package luasrc

// These are the scripts of a semaphore with permits. All but the renewal begin with permits.lua.
var (
	PermitAcquireScript    = newScript("tell", "permits", "permit_acquire")     // PermitAcquire
	PermitReleaseScript    = newScript("tell", "permits", "permit_release")     // PermitRelease
	PermitReleaseIDsScript = newScript("tell", "permits", "permit_release_ids") // PermitReleaseIDs
	PermitRenewScript      = newScript("permit_renew")                          // PermitRenew
	PermitCountScript      = newScript("tell", "permits", "permit_count")       // PermitCount
	PermitLeftScript       = newScript("tell", "permits", "permit_left")        // PermitLeft
	PermitSetScript        = newScript("tell", "permits", "permit_set")         // PermitSet
	PermitDeleteScript     = newScript("tell", "permits", "permit_delete")      // PermitDelete
)

// Permits are the names of a semaphore and the commands that announce its permits. All its calls
// but the renewal have
//
//	KEYS  times, free, then the keys of the call; or times alone, while a slot moves
//	ARGV  free if it is no key, channel, number of commands that announce, these, then the arguments of the call
//
// A key of another type makes each fail with WRONGTYPE, and all stay untouched.
type Permits struct {
	Free    Arg // key of the number of free permits
	Times   Arg // key of the times until which each permit is taken
	Channel Arg // where waiters get messages
	Publish Arg // how to announce: Publish, SPublish or Both
}

// call makes a call of s with these further keys.
func (p *Permits) call(dst []any, s *Script, keys ...Arg) Call {
	return s.call(dst, 2+len(keys), p.Times, p.Free).with(keys...).telling(p.Channel, p.Publish)
}

// telling appends a channel, the number of commands that announce on it, and these commands.
func (c Call) telling(channel, publish Arg) Call {
	commands := 1
	if publish == Both {
		commands = 2
	}
	return c.with(channel, commands).by(publish)
}

// NoPermitsSet is the reply of both semaphores' acquires if the number of permits was never set.
const NoPermitsSet int64 = -3

// PermitAcquire takes a permit for each of ids, 16 raw bytes each, for lease, in ms and at least
// 1.
//
//	ARGV  lease, ids
//	reply nil: taken; too few are free: ms until the next taken one expires, -1: none does (DecodeAcquire); NoPermitsSet
func PermitAcquire(dst []any, p Permits, lease Arg, ids []string) Call {
	return p.call(dst, PermitAcquireScript).with(lease).texts(ids)
}

// PermitRelease gives up the permits of one acquire, all of its ids. It may run any number of
// times.
//
//	ARGV  ids
//	reply 1: given up; nil: one was not taken, or its time was over; the others are given up (DecodeRelease)
func PermitRelease(dst []any, p Permits, ids []string) Call {
	return p.call(dst, PermitReleaseScript).texts(ids)
}

// PermitReleaseIDs gives up permits whichever owner took them, all or none of them. A single
// permit whose time is over is given up too, with the reply 0. The result is kept in receipt for
// receiptTTL ms.
//
//	KEYS  receipt
//	ARGV  receiptTTL, ids
//	reply 1: given up; 0: one was not taken, or its time was over
func PermitReleaseIDs(p Permits, receipt, receiptTTL Arg, ids []string) Call {
	return p.call(nil, PermitReleaseIDsScript, receipt).with(receiptTTL).texts(ids)
}

// PermitRenew gives the permits of n acquires a new lease, in ms; with a lease of 0 it only
// checks. It calls acquire twice for each index.
//
//	KEYS  the times of each
//	ARGV  lease, then for each the number of its ids and the ids
//	reply array of 1: renewed, 0: one is no longer taken (DecodeRenew)
func PermitRenew(dst []any, lease Arg, n int, acquire func(i int) (times Arg, ids []string)) Call {
	call := PermitRenewScript.call(dst, n)
	for i := range n {
		times, _ := acquire(i)
		call = call.with(times)
	}
	call = call.with(lease)
	for i := range n {
		_, ids := acquire(i)
		call = call.with(len(ids)).texts(ids)
	}
	return call
}

// PermitCount counts the permits, after those whose time is over are taken back.
//
//	reply array of how many are free and how many are taken
func PermitCount(p Permits) Call {
	return p.call(nil, PermitCountScript)
}

// PermitLeft asks for how long the permit with this id, 16 raw bytes, is taken. With a lease
// above 0, in ms, it is taken for that long from now on.
//
//	ARGV  id, lease
//	reply how many ms are left; -1: it never ends; nil: it is not taken
func PermitLeft(p Permits, id string, lease Arg) Call {
	return p.call(nil, PermitLeftScript).with(id, lease)
}

// These say how PermitSet sets the number of permits.
const (
	FirstPermits = "first" // if it was not set before
	TotalPermits = "total" // of free and taken permits together
	MorePermits  = "more"  // n permits more, or fewer
)

// PermitSet sets how many permits there are. The result is kept in receipt for receiptTTL ms.
//
//	KEYS  receipt
//	ARGV  receiptTTL, how, n, ttl
//	reply 1: done; 0: of FirstPermits, it was set before
//
// ttl is for FirstPermits, in ms; 0: no expiry.
func PermitSet(p Permits, receipt, receiptTTL Arg, how string, n int, ttl int64) Call {
	return p.call(nil, PermitSetScript, receipt).with(receiptTTL, how, n, ttl)
}

// PermitDelete deletes the semaphore, and sends no message.
//
//	reply 1: deleted; 0: was not there (DecodeForce)
func PermitDelete(p Permits) Call {
	return p.call(nil, PermitDeleteScript)
}

// texts appends the elements of list.
func (c Call) texts(list []string) Call {
	for _, one := range list {
		c.Args = append(c.Args, one)
	}
	return c
}
