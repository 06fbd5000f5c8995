package topology

import (
	"slices"
	"time"

	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/pubsub"
)

// Topology tells which node serves a slot. Its methods are safe for concurrent use.
// Only Close blocks and does I/O.
type Topology interface {
	// Node returns the node that serves slot now. An error says why there is none now;
	// a later call may succeed.
	Node(slot uint16) (*Node, error)

	// Nodes returns all nodes that Node may return. The slice is shared and never
	// changed. A node that is no longer in it has left, or is about to: see Node.Abandon.
	Nodes() []*Node

	// Redirect decides what to do with a command for slot that from answered with a
	// redirecting refusal (redisconn.Refusal.Redirects). The zero Redirection leaves the
	// command to its maker. The topology may learn from said which node has the slot.
	Redirect(from *Node, slot uint16, said redisconn.Refusal) Redirection

	// SpansSlots tells whether one script may have keys of several slots, if one
	// node serves them.
	SpansSlots() bool

	// FailsOver tells whether another server may take the place of one without all the
	// writes that it acknowledged.
	FailsOver() bool

	// Publish returns how to announce a release to all listeners on a channel of slot:
	// luasrc.Publish, luasrc.SPublish or luasrc.Both.
	Publish(slot uint16) luasrc.Arg

	// Subscriptions returns what a waiter on a channel of slot subscribes to. It hears
	// every message once all are confirmed.
	Subscriptions(slot uint16) []Subscription

	// Changes returns a channel of what has changed since the last receive, merged and
	// in order. A slow receiver delays nobody. Close closes it.
	Changes() <-chan []Change

	// Close ends the nodes, all at the same time: accepted commands have patience in
	// total to end. It returns when no goroutine and no connection is left.
	Close(patience time.Duration)

	// String names the servers as their URL does, without secrets.
	String() string
}

// Redirection says what to do with a command that its node did not run.
type Redirection struct {
	Again  bool          // send it again; else the refusal stands
	To     *Node         // to this node; nil: to the one that serves its slot by then
	Asking bool          // with ASKING directly before it
	Redial bool          // give up the connection that it was answered on
	After  time.Duration // after this pause
}

// Subscription is where a waiter listens, and how.
type Subscription struct {
	Node    *Node // its hub subscribes
	Sharded bool  // by SSUBSCRIBE; else by SUBSCRIBE
}

// Listening is a waiter's subscription to a channel, until its Close.
type Listening = pubsub.Subscription

// Subscribe subscribes w to a channel, see pubsub.Hub.
func (s Subscription) Subscribe(channel string, w pubsub.Waker) *Listening {
	if s.Sharded {
		return s.Node.Hub.SubscribeSharded(channel, w)
	}
	return s.Node.Hub.Subscribe(channel, w)
}

// Change says that holds and waiters of these slots have moved from From to To. Their
// leases must be renewed at once. Waiters must subscribe on To, if it is another node,
// and look again.
type Change struct {
	Slots     Slots // those that changed
	From, To  *Node // the same if only a node's connection or server changed; nil From: none served them
	NewMaster bool  // another server is their master

	// The addresses of both masters, if one node leads to one after the other.
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
