package kind

import (
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/luasrc"
)

// Reentrant is Redisson's RLock: a hash with the count of holds of its only owner, and a
// channel to which all waiters subscribe.
var Reentrant Kind = reentrant{}

type reentrant struct{}

var reentrantTraits = hashTraits(func(t *Traits) { t.HandOffs, t.FairShare = 32, true })

// hashTraits are those that the kinds of ownedHash share, and what set adds.
func hashTraits(set func(*Traits)) Traits {
	t := Traits{Family: ownedHash, Width: 1, KeyType: "hash", Latched: true, Repeats: true, Keeps: true, RenewGroup: ownedHash}
	set(&t)
	return t
}

// ownedHash is the family of the kinds that keep a lock as a hash with its owner as the only
// field, and extend its lease by luasrc.Renew.
const ownedHash = "owned hash"

func (reentrant) Traits() *Traits { return &reentrantTraits }

// These are the names of a plain lock.
const (
	keyName = iota
	channelName
)

func (reentrant) Names(key string) Names { return Names{keyName: key, channelName: codec.Channel(key)} }

func (reentrant) Channel(n *Names, _ Owner) string { return n[channelName].(string) }

func (reentrant) Wake(payload []byte) int {
	if codec.IsUnlock(payload) {
		return 1
	}
	return 0
}

func (reentrant) Acquire(room []any, w *Want) Call {
	return Run(luasrc.Lock(room, w.Names[keyName], w.Owner, w.Lease), Never)
}

func (reentrant) Granted(reply any) (Grant, error) {
	ok, ttl, err := luasrc.DecodeAcquire(reply)
	return Grant{OK: ok, TTL: ttl}, err
}

func (reentrant) Release(room []any, w *Want) Call {
	n := w.Names
	switch {
	case w.Keep.Millis > 0:
		return Run(luasrc.UnlockKeep(room, n[keyName], w.Latch, n[channelName], w.Owner, w.Lease, w.LatchTTL, w.Keep.Owner, w.Keep.Millis, w.Left, w.Publish), Always)
	case w.Latch == nil:
		return Run(luasrc.UnlockTo(room, n[keyName], n[channelName], w.Owner, w.Lease, w.Left, w.Publish), Always)
	}
	return Run(luasrc.Unlock(room, n[keyName], n[channelName], w.Latch, w.Owner, w.Lease, w.LatchTTL, w.Publish), Always)
}

func (reentrant) Renew(room []any, lease Arg, n int, at func(i int) Held) Call {
	return Run(luasrc.Renew(room, lease, n, func(i int) (key, owner Arg) {
		h := at(i)
		return h.Names[keyName], h.Owner
	}), Always)
}

func (reentrant) Leave(...*Want) Call { return Call{} }

// Pause is until the reported lease ends.
func (reentrant) Pause(_ int, g Grant) (least, most time.Duration) { return g.TTL, g.TTL }

func (reentrant) Force(w *Want) Call {
	key, channel, publish := w.Names.Key(), w.Names[channelName].(string), w.Publish.(string)
	if w.KeyAlone {
		return Run(luasrc.ForceUnlockAlone(key, channel, publish), Never)
	}
	return Run(luasrc.ForceUnlock(key, channel, publish), Never)
}

func (reentrant) Ask(q Question, w *Want) Query {
	key := w.Names[keyName]
	switch q {
	case Locked:
		return Query{Read("EXISTS", key), exists}
	case HeldBy:
		return Query{Read("HEXISTS", key, w.Owner), exists}
	case HoldCount:
		return Query{Read("HGET", key, w.Owner), numbered(luasrc.DecodeCount)}
	case RemainTTL:
		return Query{Read("PTTL", key), lives}
	case Holding:
		return Query{Look(luasrc.Info(nil, key)), holder}
	}
	return Query{}
}

func exists(reply any) (a Answer, err error) {
	a.Yes, err = luasrc.DecodeExists(reply)
	return a, err
}

func lives(reply any) (a Answer, err error) {
	a.TTL, a.Yes, err = luasrc.DecodeTTL(reply)
	return a, err
}

func holder(reply any) (Answer, error) {
	h, held, err := luasrc.DecodeHolder(reply)
	return Answer{Yes: held, Owner: h.Owner, N: h.Count, TTL: h.TTL}, err
}

func numbered(decode func(reply any) (int64, error)) func(reply any) (Answer, error) {
	return func(reply any) (a Answer, err error) {
		a.N, err = decode(reply)
		return a, err
	}
}
