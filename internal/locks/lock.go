package locks

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/observe"
)

// Lock is a lock of one client. It never changes: the state of the lock is in its shard.
type Lock struct {
	Client  *Client
	nameKey // of its state in its shard
	shard   *shard
	name    string // as the caller gave it
	kind    kind.Kind
	Traits  *kind.Traits // the kind's
	names   kind.Names   // of the key, boxed once for every command
	slot    uint16       // of the key
}

// NewLock makes a lock of a kind from its name and the key that the name is mapped to.
func (c *Client) NewLock(k kind.Kind, name, key string) Lock {
	names, traits := c.Older.Names(k, name, key), k.Traits()
	at := nameKey{names.Key(), traits.Family}
	return Lock{Client: c, nameKey: at, shard: c.shard(at.key), name: name, kind: k, Traits: traits, names: names, slot: codec.Slot(at.key)}
}

// Name is the name that the caller gave it.
func (l *Lock) Name() string { return l.name }

// Key is the mapped name.
func (l *Lock) Key() string { return l.key }

// SameKey tells whether both locks have the same client and the same key.
func (l *Lock) SameKey(other *Lock) bool {
	return l.Client == other.Client && l.key == other.key
}

// Compare orders locks that are acquired together: by key, then by server. The key comes first,
// because processes may call the same server by different names.
func (l *Lock) Compare(other *Lock) int {
	return cmp.Or(cmp.Compare(l.key, other.key), cmp.Compare(l.Client.top.String(), other.Client.top.String()))
}

// pause is how long a waiter waits if nothing wakes it, after this many tries, the last one
// answered with g. It is random within the bounds that the kind gives.
func (l *Lock) pause(tries int, g kind.Grant) time.Duration {
	least, most := l.kind.Pause(tries, g)
	if least >= most {
		return least
	}
	return least + rand.N(most-least+1)
}

// subject names the lock in an event, and the owner unless that is zero.
func (l *Lock) subject(o Owner) observe.Subject {
	s := observe.Subject{Name: l.name, Kind: l.Traits.Label.String()}
	if o != (Owner{}) {
		s.Owner = o
	}
	return s
}

// Taken is the error of an acquire that may wait no longer and has nothing.
func (l *Lock) Taken() error {
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
func (l *Lock) notHeld(o Owner) error {
	if l.Traits.Permits {
		return NotHeld("some or all of its permits had been given up, or their time was over")
	}
	return NotHeld(fmt.Sprintf("not held by owner %s: it expired, or was deleted, forced or taken before", o.String()))
}

// whose says for whom a command is. Permits have an owner that nobody sees.
func (l *Lock) whose(o Owner) string {
	if l.Traits.Permits {
		return "for these permits"
	}
	return "for owner " + o.String()
}

// holding is what an error calls that which an acquire took.
func (l *Lock) holding() string {
	if l.Traits.Permits {
		return "permits of"
	}
	return "hold"
}

// server names the server that serves the lock, or the topology if none does.
func (l *Lock) server() string {
	if node, err := l.Client.top.Node(l.slot); err == nil {
		return node.Server()
	}
	return l.Client.top.String()
}

// Scattered returns an error if a cluster would keep some name of the lock on another server than
// the lock itself: it could be locked there and never unlocked. It returns nil if all are together,
// and always where there is only one server.
func (l *Lock) Scattered() error {
	if l.Client.spansSlots {
		return nil
	}
	const put = "put the part that decides the slot in braces, such as {order:17}:a"
	for _, n := range l.names[1:] {
		if name, ok := n.(string); ok && codec.Slot(name) != l.slot {
			return fmt.Errorf("in a cluster its key would be in slot %d, and %s in slot %d; %s", l.slot, Quote(name), codec.Slot(name), put)
		}
	}
	if !codec.SlotSafe(l.key) { // unlocks have latches, and so have changes
		return fmt.Errorf("in a cluster its key would be in slot %d, and the results of its changes in others; %s", l.slot, put)
	}
	return nil
}

// held is what an owner holds by l's kind.
func (l *Lock) held(st *OwnerState) kind.Held {
	return kind.Held{Kind: l.kind, Names: &l.names, Owner: st}
}

// AnyHeld tells whether this client has a living hold of the name for which such returns true.
func (l *Lock) AnyHeld(such func(kind.Held) bool) bool {
	defer l.shard.enter(mustNotBlock).leave()
	n := l.shard.names[l.nameKey]
	if n == nil {
		return false
	}
	for st := n.states; st != nil; st = st.next {
		if st.find(func(h *Hold) bool { return such(h.lock.held(st)) }) != nil {
			return true
		}
	}
	return false
}

// Of is the same object's lock of another kind.
func (l *Lock) Of(k kind.Kind) Lock {
	of := *l
	of.kind = k
	return of
}

// Terms are what one acquisition asks for.
type Terms struct {
	Lease     time.Duration // fixed; 0: the watchdog extends it
	MaxHold   time.Duration // 0: no bound
	AtLeast   time.Duration // how long the lock stays taken, even if it is released before; 0: no longer than it is held
	Wait      time.Duration // how long the call may wait; 0 with HasWait: it makes one attempt
	Place     time.Duration // how much longer a place in the server's queue lasts than the place before it, and the longest pause between two tries; 0: as the kind has it
	Margin    time.Duration // how long before the end of trust the hold's contexts end
	Owner     Owner         // the owner that acquires, with As; else a new one does
	As        bool          // Owner is given
	HasWait   bool          // Wait is given; else the call waits as long as its context
	HasMargin bool          // Margin is given; else it is the client's
	Size      int           // how many permits, of a kind that has some
}
