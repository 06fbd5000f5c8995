package core

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/lockerr"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/observe"
	"github.com/rlock-go/redisson/internal/owner"
)

// Lock is the part of a lock that never changes.
type Lock struct {
	Kind   kind.Kind
	Traits *kind.Traits // the kind's
	Names  kind.Names   // of the key, boxed once for every command
	Slot   uint16       // of the key
	client *Client
	name   string
}

// NewLock makes a lock of a kind from its name and the key that the name is mapped to.
func (c *Client) NewLock(k kind.Kind, name, key string) Lock {
	names := c.Older.Names(k, name, key)
	return Lock{Kind: k, Traits: k.Traits(), Names: names, Slot: codec.Slot(names.Key()), client: c, name: name}
}

// Client is the client that the lock belongs to.
func (l *Lock) Client() *Client { return l.client }

// Name is the name that the caller gave it.
func (l *Lock) Name() string { return l.name }

// Timeout is the client's command timeout.
func (l *Lock) Timeout() time.Duration { return l.client.Timeout }

// Key is the mapped name.
func (l *Lock) Key() string { return l.Names.Key() }

// SameKey tells whether both locks have the same client and the same key.
func (l *Lock) SameKey(other *Lock) bool { return l.client == other.client && l.Key() == other.Key() }

// Compare orders locks that are acquired together: by key, then by server. The key comes first,
// because processes may call the same server by different names.
func (l *Lock) Compare(other *Lock) int {
	return cmp.Or(cmp.Compare(l.Key(), other.Key()), cmp.Compare(l.client.Top.String(), other.client.Top.String()))
}

// Publish is the command that announces a release, as a script's argument.
func (l *Lock) Publish() luasrc.Arg { return l.client.Top.Publish(l.Slot) }

// Pause is how long a waiter waits if nothing wakes it, after this many tries, the last one
// answered with g. It is random within the bounds that the kind gives.
func (l *Lock) Pause(tries int, g kind.Grant) time.Duration {
	least, most := l.Kind.Pause(tries, g)
	if least >= most {
		return least
	}
	return least + rand.N(most-least+1)
}

// Subject names the lock in an event, and the owner unless that is zero.
func (l *Lock) Subject(o owner.Owner) observe.Subject {
	s := observe.Subject{Name: l.name, Kind: l.Traits.Label.String()}
	if o != (owner.Owner{}) {
		s.Owner = o
	}
	return s
}

// Taken is the error of an acquire that may wait no longer and has nothing.
func (l *Lock) Taken() error {
	switch {
	case l.Traits.Permits:
		return lockerr.ErrNoPermits
	case l.Traits.Gate:
		return lockerr.ErrNotOpen
	}
	return lockerr.ErrLocked
}

// NotHeld is the error of an unlock whose owner does not hold. Java throws
// IllegalMonitorStateException there.
func (l *Lock) NotHeld(o owner.Owner) error {
	if l.Traits.Permits {
		return fmt.Errorf("%w: some or all of its permits had been given up, or their time was over", lockerr.ErrNotHeld)
	}
	return lockerr.OfKind(fmt.Errorf("not held by owner %s: it expired, or was deleted, forced or taken before", o.String()), lockerr.ErrNotHeld)
}

// Server names the server that serves the lock, or the topology if none does.
func (l *Lock) Server() string {
	if node, err := l.client.Top.Node(l.Slot); err == nil {
		return node.Server()
	}
	return l.client.Top.String()
}

// Keeps tells whether a release can leave the lock taken.
func (l *Lock) Keeps() bool { return l.Traits.Keeps }

// Scattered returns an error if a cluster would keep some name of the lock on another server than
// the lock itself: it could be locked there and never unlocked. It returns nil if all are together,
// and always where there is only one server.
func (l *Lock) Scattered() error {
	if l.client.SpansSlots {
		return nil
	}
	const put = "put the part that decides the slot in braces, such as {order:17}:a"
	for _, n := range l.Names[1:] {
		if name, ok := n.(string); ok && codec.Slot(name) != l.Slot {
			return fmt.Errorf("in a cluster the lock would be in slot %d, its %s in slot %d; %s", l.Slot, lockerr.Quote(name), codec.Slot(name), put)
		}
	}
	if !codec.SlotSafe(l.Key()) { // unlocks have latches, and so has what package change sends
		return fmt.Errorf("in a cluster the lock would be in slot %d, each of its latches in another; %s", l.Slot, put)
	}
	return nil
}
