package locks

import (
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/observe"
	"github.com/rlock-go/redisson/internal/topology"
)

// table is what a client knows of its locks.
type table struct {
	core
	newOwner      func() (*OwnerState, *Hold) // Config.NewOwner
	newHold       func() *Hold                // Config.NewHold
	renewer       *renewer
	shards        [shardCount]shard
	pastShared    atomic.Int64 // the room that its shards have taken of sharedPast
	masters       atomic.Pointer[[]masterChange]
	spares        spares
	counts        [kind.Labels]totals
	tellsCalls    bool // the observer is told when calls begin, and when unlocks end
	keepsCommands bool // the observer is told of commands

	liveHolds clock.Gauge // holds that have not ended
	releases  clock.Gauge // calls of Unlock and UnlockAs
	waits     allLines    // what the waiters of all names share
}

var shardSeed = maphash.MakeSeed()

func (c *table) shard(key string) *shard {
	return &c.shards[maphash.String(shardSeed, key)%shardCount]
}

// eachName calls fn for each name, in a section of its shard.
func (c *table) eachName(fn func(*nameState)) {
	for i := range c.shards {
		c.shards[i].eachName(fn)
	}
}

// spares are one client's objects for reuse. Without them the garbage collector runs three
// times as often, and each run shrinks the stacks of waiting goroutines, which then grow again
// with their next command.
//
// The last user of an object puts it back, cleared and once, if it is certain that nobody else
// refers to it. Otherwise the garbage collector frees it. These are put back:
//   - an attempt at the end of its Answered, unless a timer was made for it;
//   - a release at the end of its Answered, if it was sent once and answered, and no timer
//     was made for it;
//   - a waiter whose first attempt was granted, by the later of that attempt and its caller,
//     together with its observe.Call;
//   - an unlock's observe.Call, by the later of the release, if that is put back, and its
//     caller;
//   - an outcome by the caller that has received from it.
//
// Each client has its own spares: a channel that was made in the bubble of a synctest must not
// be used outside of it.
type spares struct{ attempts, releases, outcomes, waiters, calls sync.Pool }

// spare takes an object out of a pool, or makes one.
func spare[T any](p *sync.Pool) *T {
	if x, ok := p.Get().(*T); ok {
		return x
	}
	return new(T)
}

// totals are the numbers of one kind since the client began.
type totals struct {
	acquires [observe.Outcomes]atomic.Int64
	lost     [observe.Reasons]atomic.Int64
	unsure   atomic.Int64 // releases
	undone   atomic.Int64
}

// counts are the totals of the lock's kind.
func (l *Lock) counts() *totals { return &l.Client.counts[l.Traits.Label] }

// masterChange is a change of the master of some slots.
type masterChange struct {
	slots topology.Slots
	at    time.Duration
}

// masterChanges is how many of the latest changes are remembered, to explain why a hold was
// lost.
const masterChanges = 16

// noteMaster records that slots have a new master. Only one goroutine calls it.
func (c *table) noteMaster(slots topology.Slots) {
	var known []masterChange
	if last := c.masters.Load(); last != nil {
		known = (*last)[max(0, len(*last)-masterChanges+1):]
	}
	known = append(slices.Clip(known), masterChange{slots, c.Now()})
	c.masters.Store(&known)
}

// newMaster tells whether slot has had another master since then.
func (c *table) newMaster(slot uint16, since time.Duration) bool {
	known := c.masters.Load()
	return known != nil && slices.ContainsFunc(*known, func(m masterChange) bool { return m.at >= since && m.slots.Has(slot) })
}

// keyChanged makes the watchdog look at all holders of a key.
func (c *table) keyChanged(key []byte) {
	for _, of := range c.Older.Locks(string(key)) {
		s := c.shard(of.Key)
		sec := s.enter(mustNotBlock)
		if n := s.names[nameKey{of.Key, of.Family}]; n != nil {
			n.changed()
		}
		sec.leave()
	}
}

// touched makes an owner read the keys of its holds again after a command without an owner.
func (c *table) touched(l *ObjectLock) {
	s := c.shard(l.Key())
	defer s.enter(mustNotBlock).leave()
	if n := s.names[nameKey{l.Key(), l.Traits.Family}]; n != nil {
		n.readAgain(nil)
	}
}

// idle stops listening for changes of keys if nothing is held. It is called when nothing has
// been registered for a while.
func (c *table) idle() {
	if c.liveHolds.Count() == 0 {
		for _, n := range c.top.Nodes() {
			n.Untrack()
		}
	}
}

// init makes the zero client ready, without I/O. Its error is the topology's. sent is called with
// each command that has ended, if the observer wants to know of them.
func (c *table) init(o Config, sent func(*command.Request)) error {
	c.newOwner, c.newHold = o.NewOwner, o.NewHold
	c.liveHolds, c.releases = clock.NewGauge(), clock.NewGauge()
	if o.Observer != nil {
		c.tellsCalls, c.keepsCommands = o.Observer.Calls(), o.Observer.Commands()
	}
	if !c.keepsCommands {
		sent = nil
	}
	if err := c.core.init(o.Settings, sent); err != nil {
		return err
	}
	if o.Observer != nil {
		o.Observer.OnPanic(c.Log.ObserverPanicked)
	}
	c.onTouched = c.touched
	c.waits.init(&c.core)
	for i := range c.shards {
		c.shards[i].init(c)
	}
	c.renewer = newRenewer(&c.core, c.idle, c.keyChanged)
	return nil
}

// Config is what a Client is made of.
type Config struct {
	Settings

	// NewOwner makes an owner's state together with its first hold, in one
	// allocation. NewHold makes a further hold. Each hold has its Face.
	NewOwner func() (*OwnerState, *Hold)
	NewHold  func() *Hold
}

// endHolds ends every hold.
func (c *table) endHolds() {
	c.eachName(func(n *nameState) {
		for _, st := range n.ownerStates() {
			st.check() // holds that have expired are lost, not closed
			st.end(nil, ErrClosed)
			st.forget()
			st.dropIfIdle()
		}
	})
}
