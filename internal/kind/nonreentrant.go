package kind

import (
	"errors"

	"github.com/rlock-go/redisson/internal/luasrc"
)

// NonReentrant is Redisson's RedissonNonReentrantLock: a plain lock that refuses its own
// owner. That is a rule of the handle, not of the key: the owner can still re-enter by a plain
// lock.
var NonReentrant Kind = nonReentrant{}

type nonReentrant struct{ reentrant }

var nonReentrantTraits = labelled(reentrantTraits, NonReentrantLabel)

func (nonReentrant) Traits() *Traits { return &nonReentrantTraits }

// ErrReentered is the reason for which a NonReentrant refuses its own owner.
var ErrReentered = errors.New("held by this owner already")

func (nonReentrant) Acquire(room []any, w *Want) Call {
	return Run(luasrc.NonReentrantLock(room, w.Names[keyName], w.Owner, w.Lease), Never)
}

func (k nonReentrant) Granted(reply any) (Grant, error) {
	if reply == luasrc.Reacquired {
		return Grant{Refused: ErrReentered}, nil
	}
	return k.reentrant.Granted(reply)
}
