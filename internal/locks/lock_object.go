package locks

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/observe"
)

// ObjectLock is the part of a lock that never changes.
type ObjectLock struct {
	kind   kind.Kind
	Traits *kind.Traits // the kind's
	names  kind.Names   // of the key, boxed once for every command
	slot   uint16       // of the key
	client *Client
	name   string
}

// newLock makes a lock of a kind from its name and the key that the name is mapped to.
func (c *Client) newLock(k kind.Kind, name, key string) ObjectLock {
	names := c.Older.Names(k, name, key)
	return ObjectLock{kind: k, Traits: k.Traits(), names: names, slot: codec.Slot(names.Key()), client: c, name: name}
}

// Client is the client that the lock belongs to.
func (l *ObjectLock) Client() *Client { return l.client }

// Name is the name that the caller gave it.
func (l *ObjectLock) Name() string { return l.name }

// Timeout is the client's command timeout.
func (l *ObjectLock) Timeout() time.Duration { return l.client.Timeout }

// Key is the mapped name.
func (l *ObjectLock) Key() string { return l.names.Key() }

// SameKey tells whether both locks have the same client and the same key.
func (l *ObjectLock) SameKey(other *ObjectLock) bool {
	return l.client == other.client && l.Key() == other.Key()
}

// Compare orders locks that are acquired together: by key, then by server. The key comes first,
// because processes may call the same server by different names.
func (l *ObjectLock) Compare(other *ObjectLock) int {
	return cmp.Or(cmp.Compare(l.Key(), other.Key()), cmp.Compare(l.client.top.String(), other.client.top.String()))
}

// publish is the command that announces a release, as a script's argument.
func (l *ObjectLock) publish() luasrc.Arg { return l.client.top.Publish(l.slot) }

// pause is how long a waiter waits if nothing wakes it, after this many tries, the last one
// answered with g. It is random within the bounds that the kind gives.
func (l *ObjectLock) pause(tries int, g kind.Grant) time.Duration {
	least, most := l.kind.Pause(tries, g)
	if least >= most {
		return least
	}
	return least + rand.N(most-least+1)
}

// subject names the lock in an event, and the owner unless that is zero.
func (l *ObjectLock) subject(o Owner) observe.Subject {
	s := observe.Subject{Name: l.name, Kind: l.Traits.Label.String()}
	if o != (Owner{}) {
		s.Owner = o
	}
	return s
}

// Taken is the error of an acquire that may wait no longer and has nothing.
func (l *ObjectLock) Taken() error {
	switch {
	case l.Traits.Permits:
		return ErrNoPermits
	case l.Traits.Gate:
		return ErrNotOpen
	}
	return ErrLocked
}

// notHeld is the error of an unlock whose owner does not hold. Java throws
// IllegalMonitorStateException there.
func (l *ObjectLock) notHeld(o Owner) error {
	if l.Traits.Permits {
		return fmt.Errorf("%w: some or all of its permits had been given up, or their time was over", ErrNotHeld)
	}
	return ofKind(fmt.Errorf("not held by owner %s: it expired, or was deleted, forced or taken before", o.String()), ErrNotHeld)
}

// server names the server that serves the lock, or the topology if none does.
func (l *ObjectLock) server() string {
	if node, err := l.client.top.Node(l.slot); err == nil {
		return node.Server()
	}
	return l.client.top.String()
}

// Keeps tells whether a release can leave the lock taken.
func (l *ObjectLock) Keeps() bool { return l.Traits.Keeps }

// Scattered returns an error if a cluster would keep some name of the lock on another server than
// the lock itself: it could be locked there and never unlocked. It returns nil if all are together,
// and always where there is only one server.
func (l *ObjectLock) Scattered() error {
	if l.client.spansSlots {
		return nil
	}
	const put = "put the part that decides the slot in braces, such as {order:17}:a"
	for _, n := range l.names[1:] {
		if name, ok := n.(string); ok && codec.Slot(name) != l.slot {
			return fmt.Errorf("in a cluster the lock would be in slot %d, its %s in slot %d; %s", l.slot, Quote(name), codec.Slot(name), put)
		}
	}
	if !codec.SlotSafe(l.Key()) { // unlocks have latches, and so have changes
		return fmt.Errorf("in a cluster the lock would be in slot %d, each of its latches in another; %s", l.slot, put)
	}
	return nil
}
