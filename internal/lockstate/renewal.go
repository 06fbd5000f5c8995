package lockstate

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/lockerr"
	"github.com/rlock-go/redisson/internal/topology"
	"github.com/rlock-go/redisson/watchdog"
)

// nodePart is what of a batch of the watchdog's one node serves: leases that are renewed,
// or looked at. It goes in one write, and the node's limiter counts it as one, whatever
// the number of its scripts.
type nodePart struct {
	c      *State
	node   *topology.Node
	looks  bool // and renews nothing
	leases []renewee
	answer answerFunc
	open   atomic.Int32 // scripts that are not over, and the sending
}

// mostRenewed bounds what one script renews, by kind.Weight, but for a single lease: the
// server does nothing else meanwhile.
const mostRenewed = 1000

// answerFunc answers for a lease by its number in the watchdog's batch.
type answerFunc = func(int, watchdog.Answer)

// renewee is one lease of a batch.
type renewee struct {
	i     int // in the watchdog's batch
	st    *OwnerState
	lease *watchdog.Lease
	l     *Lock         // of what kind the holds are
	count int32         // how many
	shown bool          // others may act as the owner
	more  []*Lock       // further kinds of holds that share the lease, to be renewed after it
	least time.Duration // what of a renewed lease is relied on
	sent  time.Duration // when holds of another kind were renewed; 0: none were
}

// leaseScript is one script for some leases of a part.
type leaseScript struct {
	*nodePart
	ttl    time.Duration // what it passes; 0: it only reads
	subs   []renewee
	weight int  // of them together
	left   bool // the part does not wait for it, or not any more
}

// renewal is a script that renews. It occupies its owners' command queues until its
// outcome is known.
type renewal struct {
	leaseScript
	mayArrive  bool          // it was lost on a connection that could not be killed
	everywhere time.Duration // when it was sent, if all replicas acknowledged it
}

// held is what an owner holds by l's kind.
func (l *Lock) held(st *OwnerState) kind.Held {
	return kind.Held{Kind: l.Kind, Names: &l.Names, Owner: st}
}

// held is what the script is for.
func (sub *renewee) held() kind.Held {
	h := sub.l.held(sub.st)
	h.Count = sub.count
	return h
}

// kinds are the handles of the owner's holds, one for each tally.
func (st *OwnerState) kinds() (l *Lock, more []*Lock) {
	l = st.n.l
	if st.holds != nil {
		l = st.holds.l
	}
	for h := st.holds; h != nil; h = h.next {
		same := func(o *Lock) bool { return o.Traits.Tally == h.l.Traits.Tally }
		if !same(l) && !slices.ContainsFunc(more, same) {
			more = append(more, h.l)
		}
	}
	return l, more
}

// renew extends a batch for the watchdog, each node's part when the node's limiter
// lets it run. One node's trouble delays no other's renewals.
func (c *State) renew(batch []*watchdog.Lease, answer answerFunc) {
	for _, n := range c.cut(batch, false, answer) {
		n.node.Track(c) // a renewal reads what it has written
		n.run()
	}
}

// cut divides a batch. It answers for the leases that no node serves for now.
func (c *State) cut(batch []*watchdog.Lease, looks bool, answer answerFunc) (nodes []*nodePart) {
	for i, l := range batch {
		node, err := c.Top.Node(slotOf(l.Holder()))
		if err != nil {
			answer(i, watchdog.Answer{Result: watchdog.Failed, Err: command.Unsent(err)})
			continue
		}
		k := slices.IndexFunc(nodes, func(n *nodePart) bool { return n.node == node })
		if k < 0 {
			k = len(nodes)
			nodes = append(nodes, &nodePart{c: c, node: node, looks: looks, answer: answer})
		}
		nodes[k].leases = append(nodes[k].leases, renewee{i: i, st: l.Holder().(*OwnerState), lease: l})
	}
	return nodes
}

// limiter bounds how many parts are under way at the node.
func (n *nodePart) limiter() *topology.Limiter {
	if n.looks {
		return &n.node.Looks
	}
	return &n.node.Renewals
}

// run sends the scripts when the limiter lets it.
func (n *nodePart) run() {
	n.limiter().Run(func() bool {
		n.open.Add(1)
		for _, s := range n.scripts() {
			s.send()
		}
		// The watchdog's goroutine must not wait for the network.
		n.c.Exec.WakeWriter()
		return n.open.Add(-1) > 0
	})
}

// scripts makes the scripts, and leaves out what is not ready.
func (n *nodePart) scripts() (all []leaseScript) {
	for i := range n.leases {
		sub := &n.leases[i]
		sec := sub.st.n.l.s.enter(mustNotBlock)
		ttl, ready := n.ready(sub)
		sec.leave()
		if !ready {
			n.answer(sub.i, watchdog.Answer{Result: watchdog.Busy})
			continue
		}
		weight := kind.Weight(sub.l.Kind)
		at := slices.IndexFunc(all, func(s leaseScript) bool {
			return s.ttl == ttl && s.weight+weight <= mostRenewed && s.subs[0].l.sharesRenew(sub.l)
		})
		if at < 0 {
			at = len(all)
			all = append(all, leaseScript{nodePart: n, ttl: ttl})
		}
		all[at].subs = append(all[at].subs, *sub)
		all[at].weight += weight
	}
	return all
}

// ready tells whether a lease may be sent, and what its script passes: the command of
// an owner that is under way sets the lease or ends it (H6), unless it pauses. It is
// called with the shard locked.
func (n *nodePart) ready(sub *renewee) (ttl time.Duration, ready bool) {
	st := sub.st
	if st.lease != sub.lease {
		return 0, false
	}
	sub.l, sub.more = st.kinds()
	sub.shown = st.shown()
	if n.looks {
		st.calm = st.held > 0 && !st.busy
		return 0, st.calm
	}
	if !st.beginRenewal() {
		return 0, false
	}
	sub.count = st.tally(sub.l)
	ttl = st.renewedLease()
	sub.least = st.least(st.n.now(), ttl)
	return ttl, true
}

// sharesRenew tells whether one script can renew both.
func (l *Lock) sharesRenew(o *Lock) bool {
	return l.Traits.RenewGroup == o.Traits.RenewGroup && (l.c.SpansSlots || l.Slot == o.Slot)
}

// send sends the script. If it can't be sent, it has failed.
func (s leaseScript) send() {
	if !s.left {
		s.open.Add(1)
	}
	s.c.Work.Add()
	l := s.subs[0].l
	q := &command.Request{Handler: &renewal{leaseScript: s}, Aside: true, Several: len(s.subs) > 1}
	s.c.Fill(q, l.Slot, l.Kind.Renew(q.Wire.ArgBuffer[:0], s.c.LeaseArg(s.ttl), len(s.subs), func(i int) kind.Held { return s.subs[i].held() }))
	q.Wire.Track = true
	q.Wire.Counts = s.c.FailsOver && slices.ContainsFunc(s.subs, func(sub renewee) bool { return sub.shown })
	if s.looks {
		q.Handler, q.Wait = &look{s}, false
	}
	if !s.c.Exec.Enqueue(q) {
		q.Handler.Rest(q)
	}
}

// alone sends the script for one of its leases. The node's next part does not wait for it.
func (s *leaseScript) alone(sub renewee) {
	leaseScript{nodePart: s.nodePart, ttl: s.ttl, subs: []renewee{sub}, left: true}.send()
}

// read reads the answer: for each lease whether it is still held. One key of another
// type fails the whole batch, and so does one that another node has. Then each is asked
// for alone, so that it costs no other lease (H2), and nothing is left to be answered.
func (s *leaseScript) read(q *command.Request) (mine []bool, err error) {
	if err = q.Wire.Err; err == nil {
		mine, err = codec.DecodeRenew(q.Wire.Reply, len(s.subs))
	}
	if err != nil && len(s.subs) > 1 && (!q.Passing() || q.Scattered()) && q.Fate != command.Lost && q.Fate != command.Closed {
		for _, sub := range s.subs {
			s.alone(sub)
		}
		s.subs = nil
	}
	return mine, err
}

// leave lets the node's next part go after the last script of this one, once.
func (s *leaseScript) leave() {
	if !s.left {
		s.left = true
		if s.open.Add(-1) == 0 {
			s.limiter().Done()
		}
	}
}

// Rest takes the end of a renewal that was not answered. Of one that was lost the
// command queues stay occupied until no byte of it can run any more. The watchdog renews
// again.
func (r *renewal) Rest(q *command.Request) {
	if q.Fate != command.Lost {
		r.Answered(q)
		return
	}
	r.fail(q.Wire.Err)
	r.leave()
	r.mayArrive = !r.c.Exec.Barrier(q)
	r.freeCommandQueues()
	r.c.Work.Done()
}

// Answered takes the end of the command.
func (r *renewal) Answered(q *command.Request) {
	defer r.c.Work.Done()
	defer r.leave()
	mine, err := r.read(q)
	if len(r.subs) == 0 {
		return
	}
	defer r.freeCommandQueues()
	if err != nil {
		r.fail(err)
		return
	}
	var why error
	if q.Unreplicated {
		why = lockerr.Unreplicated(q)
	}
	r.renewed(mine, why)
	if q.Wire.Everywhere {
		r.everywhere = q.Wire.Sent
	}
	for i := range r.subs {
		sub := &r.subs[i]
		a := watchdog.Answer{Result: watchdog.NotOwned}
		switch {
		case mine[i] && q.Unreplicated:
			// It is tried again while trust lasts. A client that is cut off together
			// with its master would else trust what the next master has dropped.
			a = watchdog.Answer{Result: watchdog.Failed, Err: why}
		case len(sub.more) > 0 || sub.sent > 0:
			r.renewMore(sub, mine[i], q)
			continue
		case mine[i]:
			a = watchdog.Answer{Result: watchdog.Renewed, Sent: q.Wire.Sent, TTL: sub.least, Read: q.Wire.Tracked}
		}
		r.answer(sub.i, a)
	}
	r.c.Log.Renewed(mine, r.ttl, r.c.watchdog.Failing)
}

// renewMore goes on with the next kind of an owner that holds of several, after
// one was renewed or is held no more. The last of them answers.
func (r *renewal) renewMore(sub *renewee, mine bool, q *command.Request) {
	next := *sub
	sec := sub.st.n.l.s.enter(mustNotBlock)
	if !mine {
		sub.st.lose(sub.l, errVanished)
	}
	if len(sub.more) > 0 {
		next.l, next.more = sub.more[0], sub.more[1:]
		next.count = sub.st.tally(next.l)
	}
	sec.leave()
	if mine && sub.sent == 0 {
		sub.sent = q.Wire.Sent
	}
	if len(sub.more) == 0 {
		r.answer(sub.i, watchdog.Answer{Result: watchdog.Renewed, Sent: sub.sent, TTL: sub.least, Read: q.Wire.Tracked})
		return
	}
	next.sent = sub.sent
	sub.st = nil // its command queue is the next one's to free
	r.alone(next)
}

func (r *renewal) fail(err error) {
	for _, sub := range r.subs {
		r.answer(sub.i, watchdog.Answer{Result: watchdog.Failed, Err: err})
	}
	// If it were logged before the answers, the answer to another renewal could
	// report it as over too early.
	r.logFailure(err)
	r.renewed(nil, err)
}

// logFailure logs, of the leases that were not extended, the one that ends first.
func (r *renewal) logFailure(err error) {
	if command.IsClosed(err) || !r.c.Log.Warns() {
		return
	}
	var first *OwnerState
	var left time.Duration
	for _, sub := range r.subs {
		s := sub.st.n.l.s
		sec := s.enter(mustNotBlock)
		if l := sub.st.lease; l != nil {
			if rest := l.Expiry() - sec.now(); first == nil || rest < left {
				first, left = sub.st, rest
			}
		}
		sec.leave()
	}
	if first != nil {
		r.c.Log.RenewalFailed(len(r.subs), first.told(), max(left, 0), err)
	}
}

// freeCommandQueues ends the renewal in the command queues of its owners.
func (r *renewal) freeCommandQueues() {
	for _, sub := range r.subs {
		if sub.st == nil {
			continue
		}
		s := sub.st.n.l.s
		sec := s.enter(mustNotBlock)
		if r.mayArrive {
			sub.st.mayArrive(r.ttl)
		}
		if r.everywhere > 0 && sub.st.shown() {
			sub.st.ensureExtras().everywhere = r.everywhere
		}
		sub.st.endRenewal()
		sec.leave()
	}
}

// slotOf is the slot of what a lease is of.
func slotOf(h watchdog.Holder) uint16 { return h.(*OwnerState).n.l.Slot }

// renewGroup tells the watchdog which leases one script can renew. Nil: all.
func renewGroup(top topology.Topology) func(watchdog.Holder) int {
	if top.SpansSlots() {
		return nil
	}
	return func(h watchdog.Holder) int { return int(slotOf(h)) }
}
