package kind

import (
	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/luasrc"
)

// Fenced is Redisson's RFencedLock: a plain lock that counts its grants in a separate key.
// Only the acquire differs. So a plain lock and a fenced one on one key exclude each other,
// wake each other's waiters and queue together.
var Fenced Kind = fenced{}

type fenced struct{ reentrant }

var fencedTraits = lasting(labelled(reentrantTraits, FencedLabel))

func lasting(t Traits) Traits {
	t.Lasting = true
	return t
}

func (fenced) Traits() *Traits { return &fencedTraits }

const tokenName = channelName + 1

func (fenced) Names(key string) Names {
	return Names{keyName: key, channelName: codec.Channel(key), tokenName: codec.TokenKey(key)}
}

func (fenced) Acquire(room []any, w *Want) Call {
	call := oneKey(luasrc.FencedLock(room, w.Names[keyName], w.Names[tokenName], w.Owner, w.Lease), Never)
	call.Ahead = absent(3)
	return call
}

func (fenced) Granted(reply any) (Grant, error) {
	token, ttl, err := luasrc.DecodeFencedAcquire(reply)
	return Grant{OK: token > 0, Token: token, TTL: ttl}, err
}

func (k fenced) Ask(q Question, w *Want) Query {
	if q == LastToken {
		return Query{Read("GET", w.Names[tokenName]), numbered(luasrc.DecodeToken)}
	}
	return k.reentrant.Ask(q, w)
}
