package luasrc

import _ "embed"

var (
	//go:embed permits.lua
	permitsSource string
	//go:embed permit_acquire.lua
	permitAcquireSource string
	//go:embed permit_release.lua
	permitReleaseSource string
	//go:embed permit_release_ids.lua
	permitReleaseIDsSource string
	//go:embed permit_renew.lua
	permitRenewSource string
	//go:embed permit_count.lua
	permitCountSource string
	//go:embed permit_left.lua
	permitLeftSource string
	//go:embed permit_set.lua
	permitSetSource string
	//go:embed permit_delete.lua
	permitDeleteSource string
)

// The scripts of a semaphore with permits. All but the renewal begin with permits.lua.
var (
	PermitAcquireScript    = newScript("permit_acquire", permitsSource+permitAcquireSource)        // PermitAcquire
	PermitReleaseScript    = newScript("permit_release", permitsSource+permitReleaseSource)        // PermitRelease
	PermitReleaseIDsScript = newScript("permit_release_ids", permitsSource+permitReleaseIDsSource) // PermitReleaseIDs
	PermitRenewScript      = newScript("permit_renew", permitRenewSource)                          // PermitRenew
	PermitCountScript      = newScript("permit_count", permitsSource+permitCountSource)            // PermitCount
	PermitLeftScript       = newScript("permit_left", permitsSource+permitLeftSource)              // PermitLeft
	PermitSetScript        = newScript("permit_set", permitsSource+permitSetSource)                // PermitSet
	PermitDeleteScript     = newScript("permit_delete", permitsSource+permitDeleteSource)          // PermitDelete
)

// Permits are the names of a semaphore and what announces its permits: Publish,
// SPublish or Both. All its calls but the renewal have
//
//	KEYS  free, times, then those of the call
//	ARGV  channel, how many commands announce, these, then those of the call
//
// A key of another type makes each fail with WRONGTYPE, and all stay untouched.
type Permits struct {
	Free    Arg // how many are free
	Times   Arg // until when each is taken
	Channel Arg // who waits is told there
	Publish Arg // by what
}

// call is a call of s with these further keys.
func (p *Permits) call(dst []any, s *Script, keys ...Arg) []any {
	dst = append(append(dst, s.shaArg, 2+len(keys), p.Free, p.Times), keys...)
	return announced(dst, p.Channel, p.Publish)
}

// announced appends a channel, and by how many commands and which it is told.
func announced(dst []any, channel, publish Arg) []any {
	if publish == Both {
		return append(dst, channel, 2, SPublish, Publish)
	}
	return append(dst, channel, 1, publish)
}

// PermitAcquire takes a permit for each of ids, 16 raw bytes, for lease, in ms and at
// least 1.
//
//	ARGV  lease, ids
//	reply nil: taken; too few are free: in how many ms the next one's time is over, -1: of none (codec.DecodeAcquire)
func PermitAcquire(dst []any, p Permits, lease Arg, ids []string) Call {
	s := PermitAcquireScript
	return Call{s, texts(append(p.call(dst, s), lease), ids)}
}

// PermitRelease gives up the permits of one acquire, all of its ids. It may run any
// number of times.
//
//	ARGV  ids
//	reply 1: given up; nil: one was not taken, or its time was over; the others are given up (codec.DecodeRelease)
func PermitRelease(dst []any, p Permits, ids []string) Call {
	s := PermitReleaseScript
	return Call{s, texts(p.call(dst, s), ids)}
}

// PermitReleaseIDs gives up permits whoever took them, all or none of them. The
// result is kept in receipt for receiptTTL ms.
//
//	KEYS  receipt
//	ARGV  receiptTTL, ids
//	reply 1: given up; 0: one was not taken, or its time was over
func PermitReleaseIDs(p Permits, receipt, receiptTTL Arg, ids []string) Call {
	s := PermitReleaseIDsScript
	return Call{s, texts(append(p.call(nil, s, receipt), receiptTTL), ids)}
}

// PermitRenew gives the permits of n acquires a new lease, in ms and at least 1. It
// asks for each of them twice.
//
//	KEYS  the times of each
//	ARGV  lease, and for each how many ids, and these
//	reply array of 1: renewed, 0: one is not taken any more (codec.DecodeRenew)
func PermitRenew(dst []any, lease Arg, n int, acquire func(i int) (times Arg, ids []string)) Call {
	s := PermitRenewScript
	args := append(dst, s.shaArg, n)
	for i := range n {
		times, _ := acquire(i)
		args = append(args, times)
	}
	args = append(args, lease)
	for i := range n {
		_, ids := acquire(i)
		args = texts(append(args, len(ids)), ids)
	}
	return Call{s, args}
}

// PermitCount counts.
//
//	reply array of how many are free and how many are taken
func PermitCount(p Permits) Call {
	s := PermitCountScript
	return Call{s, p.call(nil, s)}
}

// PermitLeft tells how long the permit with this id, 16 raw bytes, is taken for. With
// a lease above 0, in ms, it is taken for that long from now on.
//
//	ARGV  id, lease
//	reply how many ms are left; -1: it never ends; nil: it is not taken
func PermitLeft(p Permits, id string, lease Arg) Call {
	s := PermitLeftScript
	return Call{s, append(p.call(nil, s), id, lease)}
}

// How PermitSet sets the number of permits.
const (
	FirstPermits = "first" // if it was not set so far
	TotalPermits = "total" // the free and the taken together
	MorePermits  = "more"  // so many more, or fewer
)

// PermitSet sets how many permits there are. The result is kept in receipt for
// receiptTTL ms.
//
//	KEYS  receipt
//	ARGV  receiptTTL, how, n
//	reply 1: done; 0: of FirstPermits, it was set before
func PermitSet(p Permits, receipt, receiptTTL Arg, how string, n int) Call {
	s := PermitSetScript
	return Call{s, append(p.call(nil, s, receipt), receiptTTL, how, n)}
}

// PermitDelete deletes the semaphore, and tells nobody.
//
//	reply 1: deleted; 0: was not there (codec.DecodeForce)
func PermitDelete(p Permits) Call {
	s := PermitDeleteScript
	return Call{s, p.call(nil, s)}
}

func texts(args []any, list []string) []any {
	for _, one := range list {
		args = append(args, one)
	}
	return args
}
