package locks

import (
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/locks/release"
	"github.com/rlock-go/redisson/internal/topology"
)

// A master may answer an unlock and then be replaced by one that lacks it. Then nobody holds
// the lock, but nobody can acquire it until its lease ends. So each unlock is remembered for a
// while, even if replicas acknowledged it: the promoted one may have connected after they were
// counted. When the topology reports a change, the unlock is sent again, to the node that
// serves its slot by then, unless it was answered on the connection in use: one failover is reported
// several times. Most of these repetitions find nothing, and are not reported.
//
// A repetition leaves as many holds as the owner needs by then, so it releases none of them. That
// is so only while nobody else can act as the owner: the unlock of a foreign owner is not
// repeated, and the key stays until its lease ends. A ForceUnlock is never repeated: it is not
// known whose hold it would meet. A repetition has its place in the owner's command queue (H6).
//
// The leave of a waiter of a fair lock is repeated like an unlock, unless another one waits as its
// owner by then.

// remember keeps the release, which was answered, if a failover may undo it. It is
// called with the shard locked.
func (r *releasing) remember(q *command.Request) {
	if r.Why == release.Repeat || r.Form != release.Own { // it is remembered already, or must not be sent twice
		return
	}
	u := past{lock: r.l, owner: r.st.Owner, sent: q.Wire.Sent, until: r.req.Until, due: q.ServedElsewhere(), on: q.Wire.Connection()}
	if t := r.l.Traits; t.Width == 0 && !t.Permits { // it counts in a key that other owners' leases keep
		u.until = max(u.until, u.sent+repeatedFor)
	}
	if r.keep != nil || r.place != nil {
		u.extras = &pastExtras{keep: r.keep, place: r.place}
	}
	r.st.name.lock.shard.addPast(u)
}

// newLeaver makes the operation that takes an owner out of the server's queue, see
// OwnerState.newLeaver. Where a failover is possible it is remembered, because a next
// master that lacks it would keep everyone behind the place out of the free lock until
// the place expires.
func newLeaver(st *OwnerState, l *Lock, want kind.Want, began time.Duration) operation {
	s, by, since := st.name.lock.shard, st.Owner, st.name.Now()
	return st.newLeaver(l, want, began, func(on uint64) {
		if l.Client.failsOver {
			s.addPast(past{
				lock: l, owner: by, sent: since, until: clock.Never, due: l.Client.newMaster(l.slot, since), on: on,
				extras: &pastExtras{place: &placeTaken{wait: want.Wait}, leaves: true},
			})
		}
	})
}

// leaver is newLeaver for the owner of a release. A repetition is remembered already.
func (r *releasing) leaver() operation {
	if r.Why == release.Repeat {
		return r.st.newLeaver(r.l, r.want, r.since, func(uint64) {})
	}
	return newLeaver(r.st, r.l, r.want, r.since)
}

// addPast remembers u. What is due is sent.
func (s *shard) addPast(u past) {
	if s.past.add(u); u.due {
		s.repeatDue()
	}
}

// repeatPast sends the unlocks and changes of these slots again, since the server that ran
// them may have been replaced, or was.
func (c *Client) repeatPast(slots topology.Slots, was bool) {
	for i := range c.shards {
		s := &c.shards[i]
		sec := s.enter(mustNotBlock)
		s.past.replaced(slots, was, sec.Now())
		s.repeatDue()
		sec.leave()
	}
}

// repeatDue sends what is due. It is called with the shard locked.
func (s *shard) repeatDue() {
	for u := s.past.take(s.Now()); u != nil; u = s.past.take(s.Now()) {
		s.repeat(*u)
	}
	for u := s.past.takeChange(s.Now()); u != nil; u = s.past.takeChange(s.Now()) {
		s.repeatChange(u)
	}
}

// repeat sends an unlock again.
func (s *shard) repeat(u past) {
	ended := func(on uint64) {
		s.past.ended(u, on)
		s.repeatDue()
	}
	n := s.pin(u.lock)
	defer n.unpin()
	if u.leavesOnly(s.Now()) {
		if n.passPlaceOn(u.lock, u.owner) {
			s.past.ended(u, 0)
			return
		}
		st := n.ensureOwnerState(u.owner)
		want := kind.Want{Names: &u.lock.names, Owner: st, Wait: u.extras.place.wait, Publish: u.lock.Client.top.Publish(u.lock.slot)}
		st.run(st.newLeaver(u.lock, want, u.sent, ended))
		return
	}
	st := n.ensureOwnerState(u.owner)
	r := newRelease(st, release.Repeat, u.lock, u.until)
	if u.extras != nil {
		r.keep, r.place = u.extras.keep, u.extras.place
	}
	r.then = func(error) {
		if r.Over {
			ended(r.req.Wire.Connection())
		} else { // its limit has passed, and a send may be under way
			ended(0)
		}
	}
	st.run(r)
}
