package kind

import (
	"crypto/sha256"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/luasrc"
)

// Permits is Redisson's RPermitExpirableSemaphore. Each acquire takes n permits. On the server
// it is the number of free permits, and a sorted set of the ids of taken ones. An owner is
// used once, and the ids are derived from it.
func Permits(n int) Kind { return permits{n: n} }

type permits struct {
	reentrant
	n int
}

var permitsTraits = Traits{Label: PermitsLabel, Family: "permits", PassOn: true, KeyType: "string", Permits: true, Repeats: true, RenewGroup: "permits"}

// timesPermits is the sorted set.
const timesPermits = channelName + 1

// longestPermitPause bounds how long a waiter relies on messages.
const longestPermitPause = 5 * time.Second

func (permits) Traits() *Traits { return &permitsTraits }

func (permits) Names(key string) Names {
	return Names{keyName: key, channelName: codec.PermitChannel(key), timesPermits: codec.PermitTimes(key)}
}

// PermitIDs returns the ids of an owner's n permits, 16 bytes each.
func PermitIDs(owner string, n int) []string {
	ids := make([]string, n)
	for i := range ids {
		sum := sha256.Sum256(strconv.AppendInt([]byte(owner+"/"), int64(i), 10))
		ids[i] = string(sum[:16])
	}
	return ids
}

func (k permits) ids(o Owner) []string { return PermitIDs(o.String(), k.n) }

// Wake wakes as many waiters as the message has permits. It may be the number of free or of
// new permits.
func (permits) Wake(payload []byte) int {
	n, err := strconv.Atoi(string(payload))
	if errors.Is(err, strconv.ErrRange) && payload[0] != '-' {
		return All
	}
	if err != nil {
		return 0
	}
	return min(max(n, 0), All)
}

// named returns the names in w.
func named(w *Want) luasrc.Permits {
	return luasrc.Permits{Free: w.Names[keyName], Times: w.Names[timesPermits], Channel: w.Names[channelName], Publish: w.Publish}
}

func (k permits) Acquire(room []any, w *Want) Call {
	return oneKey(luasrc.PermitAcquire(room, named(w), w.Lease, k.ids(w.Owner)), Never)
}

var noPermitsSet = Grant{TTL: luasrc.NoTTL, Unset: true}

func (k permits) Granted(reply any) (Grant, error) {
	if reply == luasrc.NoPermitsSet {
		return noPermitsSet, nil
	}
	return k.reentrant.Granted(reply)
}

func (k permits) Release(room []any, w *Want) Call {
	return oneKey(luasrc.PermitRelease(room, named(w), k.ids(w.Owner)), Always)
}

func (permits) Renew(room []any, lease Arg, n int, at func(i int) Held) Call {
	return Run(luasrc.PermitRenew(room, lease, n, func(i int) (times Arg, ids []string) {
		h := at(i)
		return h.Names[timesPermits], h.Kind.(permits).ids(h.Owner)
	}), Always)
}

// Pause is until the next taken permit expires, 5 s at most. A message announces a permit
// that is given back earlier; the waiter looks in case it was lost.
func (permits) Pause(_ int, g Grant) (least, most time.Duration) {
	if g.OK || g.TTL < 0 || g.TTL > longestPermitPause {
		return longestPermitPause * 4 / 5, longestPermitPause
	}
	return g.TTL, g.TTL
}

func (permits) Force(w *Want) Call { return Run(luasrc.PermitDelete(named(w)), Never) }

// Ask is empty: a semaphore has none of the questions.
func (permits) Ask(Question, *Want) Query { return Query{} }

// ReleasePermits gives up permits by their ids, 16 bytes each, whichever owner took them. The
// result is kept in w.Latch. [luasrc.DecodeExists] reads its reply.
func ReleasePermits(w *Want, ids []string) Call {
	return Run(luasrc.PermitReleaseIDs(named(w), w.Latch, w.LatchTTL, ids), Always)
}

// SetPermits sets how many permits there are; how is luasrc.FirstPermits or the like. The
// result is kept in w.Latch. [luasrc.DecodeExists] reads its reply.
func SetPermits(w *Want, how string, n int, ttl time.Duration) Call {
	return Run(luasrc.PermitSet(named(w), w.Latch, w.LatchTTL, how, n, ttl.Milliseconds()), Always)
}

// LeasePermit gives a permit a new lease, in ms. Its reply is that of [PermitLeft].
func LeasePermit(w *Want, id string, lease Arg) Call {
	return Run(luasrc.PermitLeft(named(w), id, lease), Always)
}

// PermitLeft asks for how long a permit is taken. [luasrc.DecodePermitLeft] reads its reply.
func PermitLeft(w *Want, id string) Call { return Look(luasrc.PermitLeft(named(w), id, 0)) }

// CountPermits asks how many permits are free, and how many are taken.
// [luasrc.DecodePermitCount] reads its reply.
func CountPermits(w *Want) Call { return Look(luasrc.PermitCount(named(w))) }

// HasPermit reports whether one of the permits of h is among ids, 16 bytes each.
func HasPermit(h Held, ids map[string]bool) bool {
	k, ok := h.Kind.(permits)
	return ok && slices.ContainsFunc(k.ids(h.Owner), func(id string) bool { return ids[id] })
}

// Weight is the work of a server for a hold in a Renew, in permits.
func Weight(k Kind) int {
	if p, ok := k.(permits); ok {
		return p.n
	}
	return 1
}
