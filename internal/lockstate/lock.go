package lockstate

import (
	"math/rand/v2"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/luasrc"
)

// Lock is a lock as its client's state knows it. It never changes, and holds
// nothing of what becomes of the lock.
type Lock struct {
	c      *State
	s      *shard // the key's
	kind   kind.Kind
	traits *kind.Traits // the kind's
	name   string
	key    string     // the mapped name
	names  kind.Names // of the key, boxed once for every command
	slot   uint16     // of the key
}

// NewLock makes a lock of its kind, its name, and the key that the name is
// mapped to.
func (c *State) NewLock(k kind.Kind, name, key string) Lock {
	return Lock{c: c, s: c.shard(key), kind: k, traits: k.Traits(), name: name, key: key, names: k.Names(key), slot: codec.Slot(key)}
}

// Name is the name that the caller gave it.
func (l *Lock) Name() string { return l.name }

// Key is the mapped name.
func (l *Lock) Key() string { return l.key }

// publish is what announces a release.
func (l *Lock) publish() luasrc.Arg {
	if by := l.c.publishes; by != nil {
		return by
	}
	return publishedBy(l.c.top.Publish(l.slot))
}

// publishedBy is one argument for what a topology says of that.
func publishedBy(commands []luasrc.Arg) luasrc.Arg {
	if len(commands) > 1 {
		return both
	}
	return commands[0]
}

// both is luasrc.Both, boxed once.
var both luasrc.Arg = luasrc.Both

// Closed tells whether its client is closed.
func (l *Lock) Closed() bool { return l.c.Closed() }

// pause is for how long a waiter waits unwoken, after so many tries of its own
// and the answer to the last one.
func (l *Lock) pause(tries int, g kind.Grant) time.Duration {
	least, most := l.kind.Pause(tries, g)
	if least >= most {
		return least
	}
	return least + rand.N(most-least+1)
}

// freshLatch is where one unlock keeps its result, boxed; nil if the lock's kind
// needs none.
func (l *Lock) freshLatch() any {
	if !l.traits.Latched {
		return nil
	}
	return codec.FreshLatch(l.key)
}
