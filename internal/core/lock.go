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

// Lock is what never changes of a lock.
type Lock struct {
	Kind   kind.Kind
	Traits *kind.Traits // the kind's
	Names  kind.Names   // of the key, boxed once for every command
	Slot   uint16       // of the key
	client *Client
	name   string
}

// NewLock makes a lock of its kind, its name, and the key that the name is
// mapped to.
func (c *Client) NewLock(k kind.Kind, name, key string) Lock {
	return Lock{Kind: k, Traits: k.Traits(), Names: k.Names(key), Slot: codec.Slot(key), client: c, name: name}
}

// Client is whose it is.
func (l *Lock) Client() *Client { return l.client }

// Name is the name that the caller gave it.
func (l *Lock) Name() string { return l.name }

// Timeout is its client's.
func (l *Lock) Timeout() time.Duration { return l.client.Timeout }

// Key is the mapped name.
func (l *Lock) Key() string { return l.Names.Key() }

// SameKey tells whether both are of one key of one client.
func (l *Lock) SameKey(other *Lock) bool { return l.client == other.client && l.Key() == other.Key() }

// Compare puts locks into the order in which those are acquired that are acquired
// together: by server and by key.
func (l *Lock) Compare(other *Lock) int {
	return cmp.Or(cmp.Compare(l.client.Top.String(), other.client.Top.String()), cmp.Compare(l.Key(), other.Key()))
}

// Publish is what announces a release.
func (l *Lock) Publish() luasrc.Arg { return l.client.Top.Publish(l.Slot) }

// Pause is for how long a waiter waits unwoken, after so many tries of its own
// and the answer to the last one.
func (l *Lock) Pause(tries int, g kind.Grant) time.Duration {
	least, most := l.Kind.Pause(tries, g)
	if least >= most {
		return least
	}
	return least + rand.N(most-least+1)
}

// Subject is what an event says of the lock, and whose.
func (l *Lock) Subject(o owner.Owner) observe.Subject {
	s := observe.Subject{Name: l.name, Kind: l.Traits.Label.String()}
	if o != (owner.Owner{}) {
		s.Owner = o
	}
	return s
}

// Taken is why an acquire that may not wait any more has nothing.
func (l *Lock) Taken() error {
	switch {
	case l.Traits.Permits:
		return lockerr.ErrNoPermits
	case l.Traits.Gate:
		return lockerr.ErrNotOpen
	}
	return lockerr.ErrLocked
}

// NotHeld is where Java throws its IllegalMonitorStateException.
func (l *Lock) NotHeld(o owner.Owner) error {
	if l.Traits.Permits {
		return fmt.Errorf("%w: some or all of its permits had been given up, or their time was over", lockerr.ErrNotHeld)
	}
	return lockerr.OfKind(fmt.Errorf("not held by owner %s: it expired, or was deleted, forced or taken before", o.String()), lockerr.ErrNotHeld)
}

// Keeps tells whether a release can leave the lock taken.
func (l *Lock) Keeps() bool { return l.Traits.Keeps }

// Scattered tells which of the names that belong to the lock a cluster would keep
// on another server than the lock itself, if there is one: it could be locked
// there, and never unlocked. It is nil where all of them are together, and on one
// server.
func (l *Lock) Scattered() error {
	if l.client.SpansSlots {
		return nil
	}
	const put = "put what the slot is to be made of in braces, such as {order:17}:a"
	for _, n := range l.Names[1:] {
		if name, ok := n.(string); ok && codec.Slot(name) != l.Slot {
			return fmt.Errorf("in a cluster the lock would be in slot %d, its %s in slot %d; %s", l.Slot, lockerr.Quote(name), codec.Slot(name), put)
		}
	}
	if !codec.SlotSafe(l.Key()) { // a latch is of an unlock, or of what is sent by package change
		return fmt.Errorf("in a cluster the lock would be in slot %d, each of its latches in another; %s", l.Slot, put)
	}
	return nil
}
