package topology

import (
	"context"
	"slices"
	"time"

	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/refusal"
	"github.com/rlock-go/redisson/pubsub"
)

// Topology tells which node serves a slot. Its methods are safe for concurrent
// use. None blocks or does I/O, but for Close.
type Topology interface {
	// Node gives the node that serves slot now. An error says why there is none
	// for now; it is no promise for later.
	Node(slot uint16) (*Node, error)

	// Nodes gives all nodes that Node may give. The slice is shared and never
	// changed. A node that is not in it any more has left, or is about to: see
	// Node.Leave.
	Nodes() []*Node

	// Redirect says what becomes of a command for slot that from answered with a
	// refusal that redirects (refusal.Refusal.Redirects). The zero Redirection
	// leaves the command to its maker. A topology may learn from it where the slot
	// is.
	Redirect(from *Node, slot uint16, said refusal.Refusal) Redirection

	// SpansSlots tells whether one script may have keys of several slots, if one
	// node serves them.
	SpansSlots() bool

	// FailsOver tells whether another server may take the place of one without
	// having all that it has answered.
	FailsOver() bool

	// Publish is what announces a release to all who may listen on a channel of slot:
	// luasrc.Publish, luasrc.SPublish or luasrc.Both.
	Publish(slot uint16) luasrc.Arg

	// Subscriptions gives what a waiter on a channel of slot subscribes to. It
	// listens when all are confirmed.
	Subscriptions(slot uint16) []Subscription

	// Changes tells what has changed since it was last received from: merged and
	// in order. Nobody waits for the receiver. It is closed by Close.
	Changes() <-chan []Change

	// Close ends the nodes, all at the same time: what was accepted has patience
	// in total to end. It returns when no goroutine and no connection is left.
	Close(patience time.Duration)

	// String names the servers as their URL does, without secrets.
	String() string
}

// Prover is a Topology that knows best who is to be asked whether it can be used.
type Prover interface {
	// Prove returns nil when a server has answered, and at once what any further
	// attempt would meet too, such as a wrong password. It blocks for no longer
	// than ctx and a command timeout.
	Prove(ctx context.Context) error
}

// Redirection is what becomes of a command that its node did not run.
type Redirection struct {
	Again  bool          // it is sent again; else the refusal stands
	To     *Node         // by this node; nil: by the one that serves its slot by then
	Asking bool          // with ASKING directly before it
	Redial bool          // the connection it was answered on is given up
	After  time.Duration // not before this has passed
}

// Subscription is where a waiter listens, and how.
type Subscription struct {
	Node    *Node // on whose hub
	Sharded bool  // by SSUBSCRIBE; else by SUBSCRIBE
}

// Listening is a waiter's share in a channel, until its Close.
type Listening = pubsub.Subscription

// Subscribe asks for a channel on behalf of w, see pubsub.Hub.
func (s Subscription) Subscribe(channel string, w pubsub.Waker) *Listening {
	if s.Sharded {
		return s.Node.Hub.SubscribeSharded(channel, w)
	}
	return s.Node.Hub.Subscribe(channel, w)
}

// Change tells that what was held or awaited on From is to be looked for on To:
// leases of these slots are to be renewed at once, and who waits there is to
// subscribe on To, where that is another node, and to look again.
type Change struct {
	Slots     Slots // what has changed
	From, To  *Node // the same where a node's connection or server changed
	NewMaster bool  // another server is their master

	// The addresses of both masters, where one node has them one after the other.
	FormerAddr, Addr string
}

// Slots is a set of hash slots.
type Slots []Range

// Range is a run of slots, both ends included.
type Range struct {
	First uint16 // the lowest
	Last  uint16 // the highest
}

// AllSlots has every slot.
var AllSlots = Slots{{0, 16383}}

// All tells whether s is every slot, in one range.
func (s Slots) All() bool { return len(s) == 1 && s[0] == AllSlots[0] }

// Has tells whether slot is in s.
func (s Slots) Has(slot uint16) bool {
	return slices.ContainsFunc(s, func(r Range) bool { return r.First <= slot && slot <= r.Last })
}
