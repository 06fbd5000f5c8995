package locks

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/topology"
	"github.com/rlock-go/redisson/watchdog"
)

// need is what one lease needs of a script.
type need struct {
	of    *Lock         // of the holds' kind
	count int32         // how many
	more  []*Lock       // further kinds of holds that share the lease, to be renewed after this one
	ttl   time.Duration // what the script passes; 0: it only reads
	least time.Duration // how much of a renewed lease may be relied on
}

// renewer is a client's watchdog, and what the watchdog calls.
type renewer struct {
	*watchdog.Watchdog
	c      *Client
	untold atomic.Bool // it was logged that a server does not report changes
}

// newRenewer starts the watchdog. Close must be called.
func newRenewer(c *Client) *renewer {
	r := &renewer{c: c}
	renew := func(batch []*watchdog.Lease, answer answerFunc) {
		for _, p := range r.cut(batch, false, answer) { // trouble at one node delays no renewal at another
			p.node.Track(r) // a renewal reads the keys after it has written them
			p.run()
		}
	}
	r.Watchdog = watchdog.New(renew, watchdog.Options{TTL: c.Watchdog, Clock: c.Clock, Group: renewGroup(c.top), Look: r.look, Idle: c.idle,
		Failing: func(l *watchdog.Lease, err error) { l.Holder().(*OwnerState).failing(l, err) }})
	return r
}

// renewGroup tells the watchdog which leases one script can renew. Nil: all.
func renewGroup(top topology.Topology) func(watchdog.Holder) int {
	if top.SpansSlots() {
		return nil
	}
	return func(h watchdog.Holder) int { return int(leaseSlot(h)) }
}

// leaseSlot is the slot of a lease's lock.
func leaseSlot(h watchdog.Holder) uint16 { return h.(*OwnerState).name.lock.slot }

// renewalPart is the share of a batch that one node serves: leases to be renewed, or to be looked at. It goes in one
// write, and counts as one at the node's limiter, whatever the number of its scripts.
type renewalPart struct {
	*renewer
	node    *topology.Node
	limiter *topology.Limiter // bounds how many parts are under way at the node
	looks   bool              // it looks, and renews nothing
	leases  []renewee
	answer  answerFunc
	open    atomic.Int32 // scripts that have not ended; sending counts as one more
}

// mostRenewed bounds a script's kind.Weight, but for a single lease: the server does nothing else meanwhile.
const mostRenewed = 1000

// answerFunc answers for a lease by its number in the watchdog's batch.
type answerFunc = func(int, watchdog.Answer)

// renewee is one lease of a batch.
type renewee struct {
	need
	i     int // in the watchdog's batch
	st    *OwnerState
	lease *watchdog.Lease
	sent  time.Duration // when holds of another kind were renewed for this lease; 0: none were
}

// renewalScript renews, or looks at, some leases of a part.
type renewalScript struct {
	*renewalPart
	ttl    time.Duration // the lease that it sets; 0: it only reads
	subs   []renewee
	weight int  // of all subs together
	left   bool // the part does not wait for it, or no longer does
}

// cut divides a batch by node. It answers for the leases that no node serves for now.
func (r *renewer) cut(batch []*watchdog.Lease, looks bool, answer answerFunc) (parts []*renewalPart) {
	for i, l := range batch {
		node, err := r.c.top.Node(leaseSlot(l.Holder()))
		if err != nil {
			answer(i, watchdog.Answer{Result: watchdog.Failed, Err: err})
			continue
		}
		k := slices.IndexFunc(parts, func(p *renewalPart) bool { return p.node == node })
		if k < 0 {
			k = len(parts)
			limiter := &node.Renewals
			if looks {
				limiter = &node.Looks
			}
			parts = append(parts, &renewalPart{renewer: r, node: node, limiter: limiter, looks: looks, answer: answer})
		}
		parts[k].leases = append(parts[k].leases, renewee{i: i, st: l.Holder().(*OwnerState), lease: l})
	}
	return parts
}

// run makes the scripts and sends them when the limiter admits the part. A lease that is not ready is
// left out, and answered as busy.
func (p *renewalPart) run() {
	p.limiter.Run(func() bool {
		p.open.Add(1)
		var all []renewalScript
		for i := range p.leases {
			sub := &p.leases[i]
			var ready bool
			if sub.need, ready = sub.st.begin(sub.lease, p.looks); !ready {
				p.answer(sub.i, watchdog.Answer{Result: watchdog.Busy})
				continue
			}
			weight := kind.Weight(sub.of.kind)
			at := slices.IndexFunc(all, func(s renewalScript) bool {
				return s.ttl == sub.ttl && s.weight+weight <= mostRenewed && p.share(s.subs[0].of, sub.of)
			})
			if at < 0 {
				at = len(all)
				all = append(all, renewalScript{renewalPart: p, ttl: sub.ttl})
			}
			all[at].subs = append(all[at].subs, *sub)
			all[at].weight += weight
		}
		for _, s := range all {
			s.send()
		}
		// The watchdog's goroutine must not wait for the network.
		p.c.exec.WakeWriter(nil)
		return p.open.Add(-1) > 0
	})
}

// share tells whether one script can renew both.
func (r *renewer) share(l, o *Lock) bool {
	return l.Traits.RenewGroup == o.Traits.RenewGroup && (r.c.spansSlots || l.slot == o.slot)
}

// send sends the script. A script that can't be sent fails.
func (s renewalScript) send() {
	if !s.left {
		s.open.Add(1)
	}
	c, of := s.c, s.subs[0].of
	c.work.Add()
	q := &command.Request{Handler: &renewal{renewalScript: s}, Aside: true, Several: len(s.subs) > 1}
	held := func(i int) kind.Held {
		sub := &s.subs[i]
		return kind.Held{Kind: sub.of.kind, Names: &sub.of.names, Owner: sub.st, Count: sub.count}
	}
	q.Fill(of.slot, of.kind.Renew(q.Wire.ArgBuffer[:0], c.leaseArg(s.ttl), len(s.subs), held), c.Replicas)
	q.Wire.Track = true
	if s.looks {
		q.Handler, q.Wait = &look{s}, false
	}
	if !c.exec.Enqueue(q) {
		q.Handler.Rest(q)
	}
}

// alone sends the script for only one of its leases. The node's next part does not wait for it.
func (s *renewalScript) alone(sub renewee) {
	renewalScript{renewalPart: s.renewalPart, ttl: s.ttl, subs: []renewee{sub}, left: true}.send()
}

// read decodes the reply: for each lease whether it is still held. One key of another type fails the whole
// script, and so does one key that another node has. Then read sends a script for each lease alone, so that
// no other lease suffers (H2), and leaves nothing to be answered. A key of another type holds nothing for an owner,
// so a lease that meets one alone is not held.
func (s *renewalScript) read(q *command.Request) (mine []bool, err error) {
	if err = q.Wire.Err; err == nil {
		mine, err = luasrc.DecodeRenew(q.Wire.Reply, len(s.subs))
	}
	if err != nil && len(s.subs) > 1 && (!q.Passing() || q.Scattered()) && q.Fate != command.Lost && q.Fate != command.Closed {
		for _, sub := range s.subs {
			s.alone(sub)
		}
		s.subs = nil
	}
	if len(s.subs) == 1 && q.Refusal().WrongType() {
		return []bool{false}, nil
	}
	return mine, err
}

// leave ends the script for its part, once. After the last one the node's next part may go.
func (s *renewalScript) leave() {
	if !s.left {
		s.left = true
		if s.open.Add(-1) == 0 {
			s.limiter.Done()
		}
	}
}
