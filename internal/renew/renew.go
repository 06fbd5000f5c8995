// Package renew extends the leases of holds for the watchdog, and looks whether they are still held.
//
// Each batch of the watchdog's is cut by node. A node's part goes in one write, when the node's limiter
// admits it: one script for all leases whose kinds have the same [kind.Traits.RenewGroup]. The kind makes that script,
// and script.send sends it.
// A [Holder] knows which owner holds, and sends its commands one at a time and in order. A renewal has its place among
// them (H6). A look has none, and delays nothing.
package renew

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/core"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/topology"
	"github.com/rlock-go/redisson/watchdog"
)

// Holder is one owner's state on one name: a lease, and the holds that share it. It is the [watchdog.Holder]
// of each registered lease. Its methods lock what they need.
type Holder interface {
	kind.Owner

	// Lock is a lock of the name.
	Lock() *core.Lock

	// Begin begins a renewal or a look. It reports false if the lease is no longer the owner's, or if a
	// command of the owner is under way, which sets the lease or ends it (H6).
	Begin(l *watchdog.Lease, look bool) (Need, bool)

	// Next ends the holds of lost's kind, if lost is not nil, and returns how many holds of next's kind are
	// to be renewed.
	Next(lost, next *core.Lock) int32

	// End ends a renewal, whatever came of it.
	End(Outcome)

	// Failing says that renewals of the lease begin to fail, and why, or with nil that they work again.
	Failing(l *watchdog.Lease, err error)

	// NotHeld says that a look has not found what the owner holds by of's kind.
	NotHeld(l *watchdog.Lease, of *core.Lock)
}

// Need is what one lease needs of a script.
type Need struct {
	Of    *core.Lock    // of the holds' kind
	Count int32         // how many
	More  []*core.Lock  // further kinds of holds that share the lease, to be renewed after this one
	TTL   time.Duration // what the script passes; 0: it only reads
	Least time.Duration // how much of a renewed lease may be relied on
}

// Outcome is what an owner needs to know of a renewal that has ended.
type Outcome struct {
	Late time.Duration // the lease that it may still set, as it was lost on a connection that could not be killed; 0: none
}

// Renewer is a client's watchdog, and what the watchdog calls.
type Renewer struct {
	*watchdog.Watchdog
	c        *core.Client
	changed  func(key []byte)
	untold   atomic.Bool               // it was logged that a server does not report changes
	extended [kind.Labels]atomic.Int64 // leases, since the client began
}

// New starts the watchdog. idle is called when nothing has been registered for a while. changed is called
// when a server reports that a key has changed. Close must be called.
func New(c *core.Client, idle func(), changed func(key []byte)) *Renewer {
	r := &Renewer{c: c, changed: changed}
	r.Watchdog = watchdog.New(r.renew, watchdog.Options{TTL: c.Watchdog, Clock: c.Clock, Group: group(c.Top), Look: r.look, Idle: idle,
		Failing: func(l *watchdog.Lease, err error) { l.Holder().(Holder).Failing(l, err) }})
	return r
}

// group tells the watchdog which leases one script can renew. Nil: all.
func group(top topology.Topology) func(watchdog.Holder) int {
	if top.SpansSlots() {
		return nil
	}
	return func(h watchdog.Holder) int { return int(slotOf(h)) }
}

// slotOf is the slot of a lease's lock.
func slotOf(h watchdog.Holder) uint16 { return h.(Holder).Lock().Slot }

// Extended is how many leases of a kind were extended.
func (r *Renewer) Extended(of int) int64 { return r.extended[of].Load() }

// RenewIn renews the leases in these slots at once, which shows what is lost.
func (r *Renewer) RenewIn(slots topology.Slots) {
	r.RenewThose(func(h watchdog.Holder) bool { return slots.Has(slotOf(h)) })
}

// part is the share of a batch that one node serves: leases to be renewed, or to be looked at. It goes in one
// write, and counts as one at the node's limiter, whatever the number of its scripts.
type part struct {
	*Renewer
	node   *topology.Node
	looks  bool // it looks, and renews nothing
	leases []renewee
	answer answerFunc
	open   atomic.Int32 // scripts that have not ended; sending counts as one more
}

// mostRenewed bounds a script's kind.Weight, but for a single lease: the server does nothing else meanwhile.
const mostRenewed = 1000

// answerFunc answers for a lease by its number in the watchdog's batch.
type answerFunc = func(int, watchdog.Answer)

// renewee is one lease of a batch.
type renewee struct {
	Need
	i     int // in the watchdog's batch
	h     Holder
	lease *watchdog.Lease
	sent  time.Duration // when holds of another kind were renewed for this lease; 0: none were
}

// held is what the script is to renew for the lease.
func (sub *renewee) held() kind.Held {
	return kind.Held{Kind: sub.Of.Kind, Names: &sub.Of.Names, Owner: sub.h, Count: sub.Count}
}

// script renews, or looks at, some leases of a part.
type script struct {
	*part
	ttl    time.Duration // the lease that it sets; 0: it only reads
	subs   []renewee
	weight int  // of all subs together
	left   bool // the part does not wait for it, or no longer does
}

// cut divides a batch by node. It answers for the leases that no node serves for now.
func (r *Renewer) cut(batch []*watchdog.Lease, looks bool, answer answerFunc) (parts []*part) {
	for i, l := range batch {
		node, err := r.c.Top.Node(slotOf(l.Holder()))
		if err != nil {
			answer(i, watchdog.Answer{Result: watchdog.Failed, Err: err})
			continue
		}
		k := slices.IndexFunc(parts, func(p *part) bool { return p.node == node })
		if k < 0 {
			k = len(parts)
			parts = append(parts, &part{Renewer: r, node: node, looks: looks, answer: answer})
		}
		parts[k].leases = append(parts[k].leases, renewee{i: i, h: l.Holder().(Holder), lease: l})
	}
	return parts
}

// limiter bounds how many parts are under way at the node.
func (p *part) limiter() *topology.Limiter {
	if p.looks {
		return &p.node.Looks
	}
	return &p.node.Renewals
}

// run sends the scripts when the limiter admits the part.
func (p *part) run() {
	p.limiter().Run(func() bool {
		p.open.Add(1)
		for _, s := range p.scripts() {
			s.send()
		}
		// The watchdog's goroutine must not wait for the network.
		p.c.Exec.WakeWriter()
		return p.open.Add(-1) > 0
	})
}

// scripts makes the scripts. A lease that is not ready is left out, and answered as busy.
func (p *part) scripts() (all []script) {
	for i := range p.leases {
		sub := &p.leases[i]
		var ready bool
		if sub.Need, ready = sub.h.Begin(sub.lease, p.looks); !ready {
			p.answer(sub.i, watchdog.Answer{Result: watchdog.Busy})
			continue
		}
		weight := kind.Weight(sub.Of.Kind)
		at := slices.IndexFunc(all, func(s script) bool {
			return s.ttl == sub.TTL && s.weight+weight <= mostRenewed && p.share(s.subs[0].Of, sub.Of)
		})
		if at < 0 {
			at = len(all)
			all = append(all, script{part: p, ttl: sub.TTL})
		}
		all[at].subs = append(all[at].subs, *sub)
		all[at].weight += weight
	}
	return all
}

// share tells whether one script can renew both.
func (r *Renewer) share(l, o *core.Lock) bool {
	return l.Traits.RenewGroup == o.Traits.RenewGroup && (r.c.SpansSlots || l.Slot == o.Slot)
}

// send sends the script. A script that can't be sent fails.
func (s script) send() {
	if !s.left {
		s.open.Add(1)
	}
	c, of := s.c, s.subs[0].Of
	c.Work.Add()
	q := &command.Request{Handler: &renewal{script: s}, Aside: true, Several: len(s.subs) > 1}
	c.Fill(q, of.Slot, of.Kind.Renew(q.Wire.ArgBuffer[:0], c.LeaseArg(s.ttl), len(s.subs), func(i int) kind.Held { return s.subs[i].held() }))
	q.Wire.Track = true
	if s.looks {
		q.Handler, q.Wait = &look{s}, false
	}
	if !c.Exec.Enqueue(q) {
		q.Handler.Rest(q)
	}
}

// alone sends the script for only one of its leases. The node's next part does not wait for it.
func (s *script) alone(sub renewee) {
	script{part: s.part, ttl: s.ttl, subs: []renewee{sub}, left: true}.send()
}

// read decodes the reply: for each lease whether it is still held. One key of another type fails the whole
// script, and so does one key that another node has. Then read sends a script for each lease alone, so that
// no other lease suffers (H2), and leaves nothing to be answered. A key of another type holds nothing for an owner,
// so a lease that meets one alone is not held.
func (s *script) read(q *command.Request) (mine []bool, err error) {
	if err = q.Wire.Err; err == nil {
		mine, err = codec.DecodeRenew(q.Wire.Reply, len(s.subs))
	}
	if err != nil && len(s.subs) > 1 && (!q.Passing() || q.Scattered()) && q.Fate != command.Lost && q.Fate != command.Closed {
		for _, sub := range s.subs {
			s.alone(sub)
		}
		s.subs = nil
	}
	if len(s.subs) == 1 && q.WrongType() {
		return []bool{false}, nil
	}
	return mine, err
}

// leave ends the script for its part, once. After the last one the node's next part may go.
func (s *script) leave() {
	if !s.left {
		s.left = true
		if s.open.Add(-1) == 0 {
			s.limiter().Done()
		}
	}
}
