package lockstate

import (
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/topology"
	"github.com/rlock-go/redisson/watchdog"
)

// renewal is one script that renews a batch of leases.
type renewal struct {
	c       *State
	ttl     time.Duration // what it passes
	subs    []renewee
	answer  func(int, watchdog.Answer)
	limited *topology.Limiter // that it is to be counted off from; nil: from none

	mayArrive bool // it was lost on a connection that could not be killed
}

// renewee is one lease of a renewal. The renewal occupies its owner's command
// queue until the outcome is known.
type renewee struct {
	i     int // in the watchdog's batch
	st    *OwnerState
	least time.Duration // what of the lease is relied on
}

// renewNow sends a part of a batch, and reports whether it is on its way. An
// owner with another command under way is left out, unless that command pauses:
// the command sets the lease or ends it (H6).
func (c *State) renewNow(p *batchPart, answer func(int, watchdog.Answer)) bool {
	common := &renewal{c: c, ttl: c.o.Watchdog, answer: answer, limited: p.limit, subs: make([]renewee, 0, len(p.leases))}
	for i, l := range p.leases {
		i = p.index(i)
		st := l.Holder().(*OwnerState)
		s := st.n.s
		sec := s.enter(mustNotBlock)
		if st.lease != l || !st.beginRenewal() {
			sec.leave()
			answer(i, watchdog.Answer{Result: watchdog.Busy})
			continue
		}
		ttl := st.commandLease(c.o.Watchdog)
		sub := renewee{i, st, st.least(sec.now(), ttl)}
		sec.leave()
		if ttl > c.o.Watchdog {
			// Its other holds were promised more (H6).
			(&renewal{c: c, ttl: ttl, answer: answer, subs: []renewee{sub}}).send()
		} else {
			common.subs = append(common.subs, sub)
		}
	}
	sent := len(common.subs) > 0 && common.send()
	// The watchdog's goroutine must not wait for the network.
	c.exec.WakeWriter()
	return sent
}

// send reports whether Done will be called.
func (r *renewal) send() bool {
	q := &command.Request{Handler: r, Wait: r.c.o.Replicas, Slot: r.subs[0].st.n.l.slot, Several: len(r.subs) > 1}
	q.Script(luasrc.Renew(q.Room(), r.c.leaseArg(r.ttl), len(r.subs), func(i int) (key, owner luasrc.Arg) {
		st := r.subs[i].st
		return st.n.l.key, st
	}))
	r.c.work.add()
	if !r.c.exec.Enqueue(q) {
		r.fail(q.Err())
		r.freeCommandQueues()
		r.c.work.done()
		return false
	}
	return true
}

// Unanswered follows the loss of its connection. The command queues stay
// occupied until no byte of the renewal can run any more.
func (r *renewal) Unanswered(q *command.Request) {
	r.fail(q.Err())
	r.leaveLimit()
}

// Paused never comes: the watchdog renews again.
func (r *renewal) Paused(*command.Request, time.Duration) {}

// Done takes the end of the command.
func (r *renewal) Done(q *command.Request) {
	defer r.c.work.done()
	defer r.leaveLimit()
	if q.Fate() == command.Lost {
		r.mayArrive = q.MayArrive()
		r.freeCommandQueues()
		return
	}
	mine, err := []bool(nil), q.Err()
	if err == nil {
		mine, err = codec.DecodeRenew(q.Reply(), len(r.subs))
	}
	if err != nil && len(r.subs) > 1 && (!q.Passing() || q.Scattered()) && q.Fate() != command.Closed {
		// One key of another type fails the whole batch, and so does one that
		// another node has. The leases are renewed one by one, so that it costs no
		// other lease (H2).
		for _, sub := range r.subs {
			(&renewal{c: r.c, ttl: r.ttl, answer: r.answer, subs: []renewee{sub}}).send()
		}
		return
	}
	if err != nil {
		r.fail(err)
		r.freeCommandQueues()
		return
	}
	for i, sub := range r.subs {
		a := watchdog.Answer{Result: watchdog.NotOwned}
		if mine[i] {
			a = watchdog.Answer{Result: watchdog.Renewed, Sent: q.Sent(), TTL: sub.least}
		}
		r.answer(sub.i, a)
	}
	r.c.log.renewed(r, mine)
	r.freeCommandQueues()
}

// leaveLimit lets the next batch go, once.
func (r *renewal) leaveLimit() {
	if l := r.limited; l != nil {
		r.limited = nil
		l.Done()
	}
}

func (r *renewal) fail(err error) {
	for _, sub := range r.subs {
		r.answer(sub.i, watchdog.Answer{Result: watchdog.Failed, Err: err})
	}
	// If it were logged before the answers, the answer to another renewal could
	// report it as over too early.
	r.c.log.renewalFailed(r, err)
}

// freeCommandQueues ends the renewal in the command queues of its owners.
func (r *renewal) freeCommandQueues() {
	for _, sub := range r.subs {
		s := sub.st.n.s
		sec := s.enter(mustNotBlock)
		if r.mayArrive {
			sub.st.mayArrive(r.ttl)
		}
		sub.st.endRenewal()
		sec.leave()
	}
}
