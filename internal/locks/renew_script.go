package locks

import (
	"time"

	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/observe"
	"github.com/rlock-go/redisson/watchdog"
)

// renewal is a script that renews. It occupies its owners' command queues until its
// outcome is known.
type renewal struct {
	renewalScript
	late time.Duration // the lease that it may still set, as it was lost on a connection that could not be killed; 0: none
}

// Rest handles the end of a renewal that was not answered. If it was lost, the command
// queues stay occupied until none of it can run any more. The watchdog renews again.
func (r *renewal) Rest(q *command.Request) {
	if q.Fate != command.Lost {
		r.Answered(q)
		return
	}
	r.fail(q.Wire.Err)
	r.leave()
	if !r.c.exec.Barrier(q) {
		r.late = r.ttl
	}
	r.freeCommandQueues()
	r.c.work.Done()
}

// Answered handles a renewal that is not lost: the server's reply, or why there is none.
func (r *renewal) Answered(q *command.Request) {
	defer r.c.work.Done()
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
		why = unreplicated(q)
	}
	r.tell(mine, why)
	for i := range r.subs {
		sub := &r.subs[i]
		a := watchdog.Answer{Result: watchdog.NotOwned}
		switch {
		case mine[i] && q.Unreplicated:
			// It is tried again while trust lasts. Otherwise a client that is cut off
			// together with its master would trust what the next master lacks.
			a = watchdog.Answer{Result: watchdog.Failed, Err: why}
		case len(sub.more) > 0 || sub.sent > 0:
			r.renewMore(sub, mine[i], q)
			continue
		case mine[i]:
			a = watchdog.Answer{Result: watchdog.Renewed, Sent: q.Wire.Sent, TTL: sub.least, Read: q.Wire.Tracked}
		}
		r.answer(sub.i, a)
	}
	r.c.Log.Renewed(mine, r.ttl, r.Failing)
}

// renewMore goes on with the next kind of an owner that holds by several, after one was
// renewed or found lost. After the last kind it answers for the lease.
func (r *renewal) renewMore(sub *renewee, mine bool, q *command.Request) {
	next := *sub
	lost := sub.of
	if mine {
		lost = nil
	}
	if len(sub.more) > 0 {
		next.of, next.more = sub.more[0], sub.more[1:]
	}
	next.count = sub.st.goOnRenewing(lost, next.of)
	if mine && sub.sent == 0 {
		sub.sent = q.Wire.Sent
	}
	if len(sub.more) == 0 {
		r.answer(sub.i, watchdog.Answer{Result: watchdog.Renewed, Sent: sub.sent, TTL: sub.least, Read: q.Wire.Tracked})
		return
	}
	next.sent = sub.sent
	sub.st = nil // the next script frees its command queue
	r.alone(next)
}

func (r *renewal) fail(err error) {
	for _, sub := range r.subs {
		r.answer(sub.i, watchdog.Answer{Result: watchdog.Failed, Err: err})
	}
	// The answers come first. Otherwise the answer to another renewal could log that this
	// trouble is over before it was logged.
	r.logFailure(err)
	r.tell(nil, err)
}

// logFailure logs the lease that ends first of those that were not extended.
func (r *renewal) logFailure(err error) {
	if command.IsClosed(err) || !r.c.Log.Warns() {
		return
	}
	var first *renewee
	for i := range r.subs {
		if sub := &r.subs[i]; sub.lease.Alive() && (first == nil || sub.lease.Expiry() < first.lease.Expiry()) {
			first = sub
		}
	}
	if first != nil {
		r.c.Log.RenewalFailed(len(r.subs), first.st.eventLock(), max(first.lease.Expiry()-r.c.Clock.Now(), 0), err)
	}
}

// tell counts what became of the leases, and tells the observer. mine is nil if none was extended.
func (r *renewal) tell(mine []bool, err error) {
	for i := range r.subs {
		sub := &r.subs[i]
		extended := err == nil && mine[i]
		if extended {
			r.c.counts[sub.of.Traits.Label].renewals.Add(1)
		}
		if r.c.Observer == nil {
			continue
		}
		e := observe.Event{Of: observe.LeaseRenewed, Subject: sub.of.subject(Owner{}), How: "renewed", Err: err}
		e.Owner = sub.st
		switch {
		case err != nil:
			e.How = "failed"
		case !extended:
			e.How = "lost"
		}
		r.c.post(e)
	}
}

// freeCommandQueues ends the renewal in the command queues of its owners.
func (r *renewal) freeCommandQueues() {
	for _, sub := range r.subs {
		if sub.st != nil {
			sub.st.endRenewal(r.late)
		}
	}
}
