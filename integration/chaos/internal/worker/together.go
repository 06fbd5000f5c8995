package worker

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rlock-go/redisson/integration/chaos/internal/history"
	"github.com/rlock-go/redisson/integration/kit/machineclock"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// mostTogether is how many locks are acquired together at most.
const mostTogether = 3

// together is a multi-lock's acquisition of some locks, from its call to its release. The history has an acquisition for
// each member, with that member's hold.
type together struct {
	*stay
	members []int // the locks, as listed
	hold    *rlock.MultiHold
}

// together acquires this lock and others, in any order.
func (w *worker) together(lock int) {
	t := &together{stay: &stay{worker: w, lock: lock}}
	t.members = w.rng.Perm(len(w.locks))[:min(1+w.rng.IntN(mostTogether), len(w.locks))]
	if w.chance(60) {
		slices.Sort(t.members) // as all callers should
	}
	if t.acquire() {
		t.stay.hold(t.duration())
		if t.holds[0].fixed && t.chance(20) {
			t.extend()
			t.stay.hold(t.duration() / 4)
		}
		t.release()
	}
}

// each reports e for every member.
func (t *together) each(e history.Event) {
	for _, h := range t.holds {
		e.Op = h.op
		t.say(e)
	}
}

func (t *together) acquire() bool {
	ctx, cancel := context.WithTimeout(t.storm.Load().ctx, t.patience())
	defer cancel()
	e := history.Event{What: history.Called, Worker: t.number}
	var opts []rlock.AcquireOption
	if t.chance(12) {
		e.Owner = t.regular.String()
		opts = append(opts, rlock.As(t.regular))
	}
	opts = append(opts, t.leasing(&e)...)
	var locks []*rlock.Lock
	for _, i := range t.members {
		locks = append(locks, t.locks[i][0])
		t.holds = append(t.holds, &held{op: t.ops.Add(1), fixed: e.Lease > 0})
	}
	m := rlock.NewMultiLock(locks...)
	c, take := lockCall(ctx), m.Lock
	// A waiter keeps others waiting, so most calls don't wait long.
	switch n := t.rng.IntN(10); {
	case n < 2:
		c, take = tryLockCall(ctx), m.TryLock
	case n < 7:
		wait := t.between(time.Millisecond, 400*time.Millisecond)
		c, take = tryLockForCall(ctx), func(ctx context.Context, opts ...rlock.AcquireOption) (*rlock.MultiHold, error) {
			return m.TryLockFor(ctx, wait, opts...)
		}
	}
	e.Mode = c.name
	for k, i := range t.members {
		e.Lock, e.Op = i, t.holds[k].op
		t.say(e)
	}
	hold, err := take(ctx, opts...)
	if err == nil {
		for k, one := range hold.Holds() { // read before at, as in stay.acquire
			t.holds[k].hold, t.holds[k].until = one, one.ValidUntil()
		}
	}
	at := machineclock.Now()
	if err != nil {
		if strings.HasPrefix(err.Error(), "rlock: extend ") {
			c.verb = "extend" // its last step
		}
		name, why := c.judge(err)
		t.each(history.Event{At: at, What: history.Refused, Kind: name})
		t.odd(c.name, why)
		return false
	}
	t.hold = hold
	for k, one := range hold.Holds() {
		h := t.holds[k]
		t.say(history.Event{At: at, What: history.Held, Op: h.op, Owner: testbed.Holder(one), Until: t.clock.At(h.until)})
	}
	return true
}

func (t *together) extend() {
	ctx, cancel := context.WithTimeout(t.storm.Load().ctx, t.patience())
	defer cancel()
	d := t.between(50*time.Millisecond, t.Watchdog)
	short := time.Now().Add(d)
	for _, h := range t.holds {
		if short.Before(h.until) {
			t.say(history.Event{What: history.Trust, Op: h.op, Until: t.clock.At(short), Mode: history.Moved})
		}
	}
	c := extendCall(ctx)
	name, why := c.judge(t.hold.Extend(ctx, d))
	t.odd(c.name, why)
	t.say(history.Event{What: history.Other, Mode: c.name, Kind: name})
	for _, h := range t.holds {
		t.trust(h, history.Moved)
	}
}

// release releases all members, and checks that the error names an outcome for each.
func (t *together) release() {
	if lost := !t.trusts(); lost && t.hold.Err() == nil {
		t.odd("Err", "nil, though a member was lost")
	}
	ctx, cancel := context.Background(), context.CancelFunc(func() {})
	if t.chance(10) {
		ctx, cancel = context.WithCancel(ctx)
		cancel() // it must release all the same
	}
	defer cancel()
	t.each(history.Event{What: history.Unlock})
	err := t.hold.Unlock(ctx)
	at := machineclock.Now()
	c, named := unlockCall(), 0
	for k, h := range t.holds {
		one := ofMember(err, t.Locks[t.members[k]])
		if one != nil {
			named++
		}
		name, why := c.judge(one)
		t.odd(c.name, why)
		e := history.Event{At: at, What: history.Unlocked, Op: h.op, Kind: name}
		if name == history.Uncertain {
			e.Mode = history.Left
		}
		t.say(e)
	}
	if (named == 0) != (err == nil) {
		t.odd(c.name, fmt.Sprintf("it names no member: %v", err))
	}
}

// ofMember returns what joined errors say about the lock of that name.
func ofMember(err error, name string) error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return err
	}
	const most = 100 // texts cut long names
	quoted := strconv.Quote(name)
	for _, one := range joined.Unwrap() {
		if strings.HasPrefix(one.Error(), "rlock: release "+quoted[:min(len(quoted), most)]) {
			return one
		}
	}
	return nil
}
