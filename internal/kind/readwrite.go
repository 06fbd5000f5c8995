package kind

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/luasrc"
)

// ReadLock and WriteLock are the two locks of Redisson's RReadWriteLock: many owners hold to
// read, or one holds to write, and may read as well. They are one family on one key: a hash
// with the mode, and the count of each owner's holds to read and of its holds to write. Each
// hold to read also has its own key, with its lease.
var (
	ReadLock  Kind = readLock{}
	WriteLock Kind = writeLock{}
)

type (
	readLock  struct{ reentrant }
	writeLock struct{ readLock }
)

// These are the modes, which also name the two queues and tallies.
const (
	reads  = "read"
	writes = "write"
)

var (
	readTraits = Traits{
		Label: ReadLabel, Family: "read write", Queue: reads, KeyType: "hash", Tally: reads, RenewGroup: "read holds", Latched: true, Repeats: true, Asserts: true,
		KeepsLeases: true,
	}
	writeTraits = Traits{
		Label: WriteLabel, Family: "read write", Queue: writes, Width: 1, KeyType: "hash", Tally: writes, RenewGroup: "write holds", Latched: true, Repeats: true,
		KeepsLeases: true,
		NoUpgrade:   errors.New("its owner holds the read lock, and would wait for itself; release that first"),
	}
)

func (readLock) Traits() *Traits  { return &readTraits }
func (writeLock) Traits() *Traits { return &writeTraits }

// Sibling is the other kind that the owners of k's family may hold by, and that counts their
// holds separately; nil: there is none.
func Sibling(k Kind) Kind {
	switch k.(type) {
	case readLock:
		return WriteLock
	case writeLock:
		return ReadLock
	}
	return nil
}

// holdsName is the prefix of the keys of the holds to read.
const holdsName = channelName + 1

func (readLock) Names(key string) Names {
	return Names{keyName: key, channelName: codec.ReadWriteChannel(key), holdsName: codec.ReadHolds(key)}
}

// These are the messages of a release to read, and of one to write.
const (
	readMessage  = "0"
	writeMessage = "1"
)

// Wake wakes all readers: after any release, all of them may be granted.
func (readLock) Wake(payload []byte) int {
	switch string(payload) {
	case readMessage, writeMessage:
		return All
	}
	return 0
}

// Wake wakes one writer.
func (k writeLock) Wake(payload []byte) int { return min(k.readLock.Wake(payload), 1) }

// Pause is until the lock ends, but at most poll: the release of one of several readers may
// bring the end forward, and publishes no message, as in Redisson.
func (readLock) Pause(_ int, g Grant) (least, most time.Duration) {
	if g.TTL < 0 || g.TTL > poll {
		return poll * 4 / 5, poll
	}
	return g.TTL, g.TTL
}

// writer is an owner that writes: its field in the hash differs.
type writer struct{ Owner }

func (w writer) RedisArg() any  { return w.String() }
func (w writer) String() string { return w.Owner.String() + ":write" }

func (readLock) Acquire(room []any, w *Want) Call {
	call := oneKey(luasrc.ReadLock(room, w.Names[keyName], w.Names[channelName], w.Names[holdsName], w.Owner, w.Lease), Never)
	call.Ahead = makeHold
	return call
}

// makeHold is the Ahead of an acquire to read: it makes the key of the hold with that number. If
// the lock is refused after all, the key tells nobody anything, and its time ends.
func makeHold(args []any, number string, late time.Duration) []Call {
	lease, owner, holds := args[4], args[5], args[6]
	return []Call{{Name: "SET", Args: []any{fmt.Sprintf("%s:%s:rwlock_timeout:%s", holds, owner, number), 1, "PX", longer(lease, late)}, Resend: Always}}
}

// extendHolds is the Ahead of a renewal of one lock's read holds.
func extendHolds(args []any, _ string, late time.Duration) (calls []Call) {
	last := len(args) - 3 // the lease, the owner, how many holds
	for _, hold := range args[3:last] {
		calls = append(calls, Call{Name: "PEXPIRE", Args: []any{hold, longer(args[last], late)}, Resend: Always})
	}
	return calls
}

// longer is a lease that begins late earlier, in ms.
func longer(lease Arg, late time.Duration) int64 {
	n, _ := strconv.ParseInt(fmt.Sprint(lease), 10, 64)
	return n + late.Milliseconds()
}

func (writeLock) Acquire(room []any, w *Want) Call {
	return Run(luasrc.WriteLock(room, w.Names[keyName], w.Owner, w.Lease), Never)
}

func (k readLock) Granted(reply any) (Grant, error) {
	if err := noReadWriteLock(reply); err != nil {
		return Grant{Refused: err}, nil
	}
	return k.reentrant.Granted(reply)
}

// noReadWriteLock is the error of the reply for a hash of another kind.
func noReadWriteLock(reply any) error {
	if found, ok := reply.([]byte); ok && string(found) == luasrc.NoReadWriteLock {
		return &luasrc.ShapeError{What: "hash", Got: string(found)}
	}
	return nil
}

func (readLock) Release(room []any, w *Want) Call {
	n := w.Names
	return unlatched(w, luasrc.ReadUnlock(room, n[keyName], n[channelName], n[holdsName], w.Latch, w.Owner, w.Lease, w.LatchTTL, w.Left, w.Publish))
}

func (writeLock) Release(room []any, w *Want) Call {
	n := w.Names
	return unlatched(w, luasrc.WriteUnlock(room, n[keyName], n[channelName], n[holdsName], w.Latch, w.Owner, w.Lease, w.LatchTTL, w.Left, w.Publish))
}

// unlatched makes the call of an unlock that can run with the lock as its only key if it has no latch.
func unlatched(w *Want, c luasrc.Call) Call {
	call := Run(c, Always)
	call.OneKey = w.Latch == nil
	return call
}

func (readLock) Renew(room []any, lease Arg, n int, at func(i int) Held) Call {
	call := Run(luasrc.ReadRenew(room, lease, n, func(i int) (key Arg, holds []string, owner Arg) {
		h := at(i)
		for k := range h.Count {
			holds = append(holds, fmt.Sprintf("%s:%s:rwlock_timeout:%d", h.Names[holdsName], h.Owner, k+1))
		}
		return h.Names[keyName], holds, h.Owner
	}), Always)
	call.OneKey, call.Ahead = n == 1, extendHolds
	return call
}

// Renew is a plain lock's: no other owner holds, so only its own lease counts.
func (writeLock) Renew(room []any, lease Arg, n int, at func(i int) Held) Call {
	return Run(luasrc.Renew(room, lease, n, func(i int) (key, owner Arg) {
		h := at(i)
		return h.Names[keyName], writer{h.Owner}
	}), Always)
}

func (readLock) Force(w *Want) Call  { return forceMode(w, reads, readMessage) }
func (writeLock) Force(w *Want) Call { return forceMode(w, writes, writeMessage) }

func forceMode(w *Want, mode, message string) Call {
	n := w.Names
	return Run(luasrc.ReadWriteForce(n[keyName], n[channelName], n[holdsName], mode, message, w.Publish), Never)
}

func (readLock) Ask(q Question, w *Want) Query { return askMode(q, w, reads) }

func (writeLock) Ask(q Question, w *Want) Query {
	if q == HeldBy || q == HoldCount {
		as := *w
		as.Owner = writer{w.Owner}
		w = &as
	}
	return askMode(q, w, writes)
}

// askMode is Ask for the lock of a mode.
func askMode(q Question, w *Want, mode string) Query {
	switch q {
	case Locked, Holding:
		return Query{Look(luasrc.ReadWriteInfo(nil, w.Names[keyName], mode)), func(reply any) (Answer, error) {
			switch err := noReadWriteLock(reply); {
			case err == nil:
				return holder(reply)
			case q == Holding:
				return Answer{}, err
			}
			return Answer{}, nil // Java says too that it is not locked
		}}
	case Forcible:
		return Query{Read("HGET", w.Names[keyName], "mode"), func(reply any) (Answer, error) {
			found, ok := reply.([]byte)
			if !ok && reply != nil {
				return Answer{}, &luasrc.ShapeError{What: "mode", Got: fmt.Sprintf("a Go %T", reply)}
			}
			return Answer{Yes: string(found) == mode}, nil
		}}
	}
	return reentrant{}.Ask(q, w)
}
