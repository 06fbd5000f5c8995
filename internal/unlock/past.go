package unlock

import (
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/release"
	"github.com/rlock-go/redisson/internal/section"
	"github.com/rlock-go/redisson/internal/state"
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
	u := state.Past{Lock: r.l, Owner: r.st.Owner, Sent: q.Wire.Sent, Until: r.req.Until, Due: q.ServedElsewhere(), On: q.Connection()}
	if r.keep != nil || r.place != nil {
		u.Extras = &state.PastExtras{Keep: r.keep, Place: r.place}
	}
	addPast(r.st.Name.Lock.Shard, u)
}

// Leaver makes the operation that takes an owner out of the server's queue, see
// state.OwnerState.NewLeaver. It is remembered: a next master that lacks it would keep everyone
// behind the place out of the free lock until the place expires.
func Leaver(st *state.OwnerState, l *state.Lock, want kind.Want, began time.Duration) state.Operation {
	s, by, since := st.Name.Lock.Shard, st.Owner, st.Name.Now()
	return st.NewLeaver(l, want, began, func(on uint64) {
		if l.Client.FailsOver {
			addPast(s, state.Past{
				Lock: l, Owner: by, Sent: since, Until: clock.Never, Due: l.Client.NewMaster(l.Slot, since), On: on,
				Extras: &state.PastExtras{Place: &state.PlaceTaken{Wait: want.Wait}, Leaves: true},
			})
		}
	})
}

// leaver is Leaver for the owner of a release. A repetition is remembered already.
func (r *releasing) leaver() state.Operation {
	if r.Why == release.Repeat {
		return r.st.NewLeaver(r.l, r.want, r.since, func(uint64) {})
	}
	return Leaver(r.st, r.l, r.want, r.since)
}

// addPast remembers u. What is due is sent.
func addPast(s *state.Shard, u state.Past) {
	if s.Past.Add(u); u.Due {
		repeatDue(s)
	}
}

// RepeatPast sends the unlocks and changes of these slots again, since the server that ran
// them may have been replaced, or was.
func RepeatPast(c *state.Client, slots topology.Slots, was bool) {
	for i := range c.Shards {
		s := &c.Shards[i]
		sec := s.Enter(section.MustNotBlock)
		s.Past.Replaced(slots, was, sec.Now())
		repeatDue(s)
		sec.Leave()
	}
}

// repeatDue sends what is due. It is called with the shard locked.
func repeatDue(s *state.Shard) {
	for u := s.Past.Take(s.Now()); u != nil; u = s.Past.Take(s.Now()) {
		repeat(s, *u)
	}
	for u := s.Past.TakeChange(s.Now()); u != nil; u = s.Past.TakeChange(s.Now()) {
		repeatChange(s, u)
	}
}

// repeat sends an unlock again.
func repeat(s *state.Shard, u state.Past) {
	ended := func(on uint64) {
		s.Past.Ended(u, on)
		repeatDue(s)
	}
	n := s.Pin(u.Lock)
	defer n.Unpin()
	if u.LeavesOnly(s.Now()) {
		if n.PassPlaceOn(&u.Lock.Lock, u.Owner) {
			s.Past.Ended(u, 0)
			return
		}
		st := n.EnsureOwnerState(u.Owner)
		want := kind.Want{Names: &u.Lock.Names, Owner: st, Wait: u.Extras.Place.Wait, Publish: u.Lock.Publish()}
		st.Run(st.NewLeaver(u.Lock, want, u.Sent, ended))
		return
	}
	st := n.EnsureOwnerState(u.Owner)
	r := newRelease(st, release.Repeat, u.Lock, u.Until)
	if u.Extras != nil {
		r.keep, r.place = u.Extras.Keep, u.Extras.Place
	}
	r.then = func(error) { ended(r.req.Connection()) }
	st.Run(r)
}
