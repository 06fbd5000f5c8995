package lockstate

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/topology"
	"github.com/rlock-go/redisson/watchdog"
)

// renewal is one script that renews a batch of leases.
type renewal struct {
	c      *State
	ttl    time.Duration // what it passes
	subs   []renewee
	answer func(int, watchdog.Answer)
	of     *nodePart // that it is to be counted off from; nil: from none

	mayArrive  bool          // it was lost on a connection that could not be killed
	everywhere time.Duration // when it was sent, if all replicas acknowledged it
}

// renewee is one lease of a renewal. The renewal occupies its owner's command
// queue until the outcome is known.
type renewee struct {
	i     int // in the watchdog's batch
	st    *OwnerState
	l     *Lock         // of what kind the holds are
	more  []*Lock       // further kinds of holds that share the lease, to be renewed after it
	least time.Duration // what of the lease is relied on
	sent  time.Duration // when holds of another kind were renewed; 0: none were
}

// held is what an owner holds by l's kind.
func (l *Lock) held(st *OwnerState) kind.Held {
	return kind.Held{Kind: l.kind, Names: &l.names, Owner: st}
}

// kinds are the handles of the owner's holds, one for each tally.
func (st *OwnerState) kinds() (l *Lock, more []*Lock) {
	l = st.n.l
	if st.holds != nil {
		l = st.holds.l
	}
	for h := st.holds; h != nil; h = h.next {
		same := func(o *Lock) bool { return o.traits.Tally == h.l.traits.Tally }
		if !same(l) && !slices.ContainsFunc(more, same) {
			more = append(more, h.l)
		}
	}
	return l, more
}

// renew extends a batch for the watchdog, each node's part when the node's limiter
// lets it run. One node's trouble delays no other's renewals.
func (c *State) renew(batch []*watchdog.Lease, answer func(int, watchdog.Answer)) {
	for _, n := range c.cut(batch, answer) {
		n.node.Track(c) // a renewal reads what it has written
		n.node.Renewals.Run(func() bool { return c.renewNow(n, answer) })
	}
}

// renewNow sends what of a batch one node serves, and reports whether it is on its
// way.
func (c *State) renewNow(n *nodePart, answer func(int, watchdog.Answer)) bool {
	n.open.Add(1)
	for _, r := range c.scripts(n, answer) {
		n.open.Add(1)
		r.of = n
		r.send()
	}
	// The watchdog's goroutine must not wait for the network.
	c.exec.WakeWriter()
	return !n.over()
}

// scripts makes the scripts of what one node serves. An owner with another command under way is
// left out, unless that command pauses: the command sets the lease or ends it (H6).
func (c *State) scripts(n *nodePart, answer func(int, watchdog.Answer)) (common []*renewal) {
	for k, l := range n.leases {
		i := n.at[k]
		st := l.Holder().(*OwnerState)
		s := st.n.l.s
		sec := s.enter(mustNotBlock)
		if st.lease != l || !st.beginRenewal() {
			sec.leave()
			answer(i, watchdog.Answer{Result: watchdog.Busy})
			continue
		}
		ttl := st.renewedLease()
		sub := renewee{i: i, st: st, least: st.least(sec.now(), ttl)}
		sub.l, sub.more = st.kinds()
		sec.leave()
		if ttl != c.o.Watchdog {
			// Its holds were promised more (H6), or only have what is left asserted.
			(&renewal{c: c, ttl: ttl, answer: answer, subs: []renewee{sub}}).send()
			continue
		}
		at := slices.IndexFunc(common, func(r *renewal) bool { return r.subs[0].l.sharesRenew(sub.l) })
		if at < 0 {
			at = len(common)
			common = append(common, &renewal{c: c, ttl: ttl, answer: answer})
		}
		common[at].subs = append(common[at].subs, sub)
	}
	return common
}

// sharesRenew tells whether one script can renew both.
func (l *Lock) sharesRenew(o *Lock) bool {
	return l.traits.RenewGroup == o.traits.RenewGroup && (l.c.spansSlots || l.slot == o.slot)
}

// send has it renewed. If it can't be sent, it has failed.
func (r *renewal) send() {
	q := &command.Request{Handler: r, Aside: true, Several: len(r.subs) > 1}
	l := r.subs[0].l
	l.c.fill(q, l.slot, l.kind.Renew(q.Wire.ArgBuffer[:0], r.c.leaseArg(r.ttl), len(r.subs), func(i int) kind.Held { return r.subs[i].l.held(r.subs[i].st) }))
	q.Wire.Track = true
	r.c.work.Add()
	if !r.c.exec.Enqueue(q) {
		r.fail(q.Wire.Err)
		r.freeCommandQueues()
		r.leaveLimit()
		r.c.work.Done()
	}
}

// Unanswered follows the loss of its connection. The command queues stay
// occupied until no byte of the renewal can run any more.
func (r *renewal) Unanswered(q *command.Request) {
	r.fail(q.Wire.Err)
	r.leaveLimit()
}

// Paused never comes: the watchdog renews again.
func (r *renewal) Paused(*command.Request, time.Duration) {}

// Done takes the end of the command.
func (r *renewal) Done(q *command.Request) {
	defer r.c.work.Done()
	defer r.leaveLimit()
	if q.Fate == command.Lost {
		r.mayArrive = q.MayArrive
		r.freeCommandQueues()
		return
	}
	mine, err := []bool(nil), q.Wire.Err
	if err == nil {
		mine, err = codec.DecodeRenew(q.Wire.Reply, len(r.subs))
	}
	if err != nil && len(r.subs) > 1 && (!q.Passing() || q.Scattered()) && q.Fate != command.Closed {
		// One key of another type fails the whole batch, and so does one that
		// another node has. The leases are renewed one by one, so that it costs no
		// other lease (H2).
		for _, sub := range r.subs {
			(&renewal{c: r.c, ttl: r.ttl, answer: r.answer, subs: []renewee{sub}}).send()
		}
		return
	}
	defer r.freeCommandQueues()
	if err != nil {
		r.fail(err)
		return
	}
	unreplicated := q.Unreplicated
	var why error
	if unreplicated {
		why = ErrUnreplicated
	}
	r.renewed(mine, why)
	if q.Wire.Replicas > 0 && q.Wire.Acked >= q.Wire.Replicas {
		r.everywhere = q.Wire.Sent
	}
	for i := range r.subs {
		sub := &r.subs[i]
		if mine[i] && unreplicated {
			// It is tried again while trust lasts. A client that is cut off together
			// with its master would else trust what the next master has dropped.
			r.answer(sub.i, watchdog.Answer{Result: watchdog.Failed, Err: ErrUnreplicated})
			continue
		}
		if len(sub.more) > 0 || sub.sent > 0 {
			r.renewMore(sub, mine[i], q)
			continue
		}
		a := watchdog.Answer{Result: watchdog.NotOwned}
		if mine[i] {
			a = watchdog.Answer{Result: watchdog.Renewed, Sent: q.Wire.Sent, TTL: sub.least, Read: q.Wire.Tracked}
		}
		r.answer(sub.i, a)
	}
	r.c.log.Renewed(mine, r.ttl, r.c.watchdog.Failing)
}

// renewMore goes on with the next kind of an owner that holds of several, after
// one was renewed or is held no more. The last of them answers.
func (r *renewal) renewMore(sub *renewee, mine bool, q *command.Request) {
	if !mine {
		sec := sub.st.n.l.s.enter(mustNotBlock)
		sub.st.lose(sub.l, errVanished)
		sec.leave()
	} else if sub.sent == 0 {
		sub.sent = q.Wire.Sent
	}
	if len(sub.more) == 0 {
		r.answer(sub.i, watchdog.Answer{Result: watchdog.Renewed, Sent: sub.sent, TTL: sub.least, Read: q.Wire.Tracked})
		return
	}
	next := *sub
	next.l, next.more = sub.more[0], sub.more[1:]
	sub.st = nil // its command queue is the next one's to free
	(&renewal{c: r.c, ttl: r.ttl, answer: r.answer, subs: []renewee{next}}).send()
}

// leaveLimit lets the next batch go after the last script of this one, once.
func (r *renewal) leaveLimit() {
	if n := r.of; n != nil {
		r.of = nil
		if n.over() {
			n.node.Renewals.Done()
		}
	}
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
	if command.IsClosed(err) || !r.c.log.Warns() {
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
		r.c.log.RenewalFailed(len(r.subs), first.told(), max(left, 0), err)
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

// nodePart is what of a batch one node serves. It goes in one write, and the
// node's limiter counts it as one, whatever the number of its scripts.
type nodePart struct {
	node   *topology.Node
	leases []*watchdog.Lease
	at     []int        // their numbers in the batch
	open   atomic.Int32 // scripts that are not over, and the sending
}

// over says that a script of it is, or the sending. It reports whether all are.
func (n *nodePart) over() bool { return n.open.Add(-1) == 0 }

// cut divides a batch. It answers for the leases that no node serves for now.
func (c *State) cut(batch []*watchdog.Lease, answer func(int, watchdog.Answer)) (nodes []*nodePart) {
	for i, l := range batch {
		node, err := c.top.Node(slotOf(l.Holder()))
		if err != nil {
			answer(i, watchdog.Answer{Result: watchdog.Failed, Err: command.Unsent(err)})
			continue
		}
		k := slices.IndexFunc(nodes, func(n *nodePart) bool { return n.node == node })
		if k < 0 {
			k = len(nodes)
			nodes = append(nodes, &nodePart{node: node})
		}
		n := nodes[k]
		n.leases, n.at = append(n.leases, l), append(n.at, i)
	}
	return nodes
}

// slotOf is the slot of what a lease is of.
func slotOf(h watchdog.Holder) uint16 { return h.(*OwnerState).n.l.slot }

// renewGroup tells the watchdog which leases one script can renew. Nil: all.
func renewGroup(top topology.Topology) func(watchdog.Holder) int {
	if top.SpansSlots() {
		return nil
	}
	return func(h watchdog.Holder) int { return int(slotOf(h)) }
}
