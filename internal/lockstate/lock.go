package lockstate

import (
	"context"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/luasrc"
)

// Lock is a lock as its client's state knows it. It never changes, and holds
// nothing of what becomes of the lock.
type Lock struct {
	c       *State
	kind    *kind
	name    string
	key     any // the mapped name, boxed once for every command
	channel any // likewise
	slot    uint16
}

// NewLock makes a lock of its name, and of the key that the name is mapped to.
func (c *State) NewLock(name, key string) Lock {
	l := Lock{c: c, kind: reentrant, name: name, key: key, slot: codec.Slot(key)}
	l.channel = l.kind.channel(key)
	return l
}

// Name is the name that the caller gave it.
func (l *Lock) Name() string { return l.name }

// Key is the mapped name.
func (l *Lock) Key() string { return l.key.(string) }

// publish is the command that announces a release. The scripts know one.
func (l *Lock) publish() luasrc.Arg { return l.c.top.Publish(l.slot)[0] }

func (l *Lock) shard() *shard { return l.c.shard(l.Key()) }

// Closed tells whether its client is closed.
func (l *Lock) Closed() bool { return l.c.Closed() }

// Query asks the server that has the lock, see State.Query.
func (l *Lock) Query(ctx context.Context, name string, args ...any) (any, error) {
	return l.c.Query(ctx, l.slot, name, args...)
}
