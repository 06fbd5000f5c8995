package virtual_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlocktest/simredis"
)

// trio is a multi-lock of three kinds on two servers, with the locks of other clients that have its members' names.
type trio struct {
	*rlock.MultiLock
	members, others []*rlock.Lock
	servers         [3]*simredis.Server // of each member
}

func (r *rig) trio(opts ...rlock.Option) (m trio) {
	r.Helper()
	first, second := r.server, (*simredis.Server)(nil)
	r.at(func() { second = simredis.New(r.world, "10.0.0.2:6379") })
	m.servers = [3]*simredis.Server{first, second, second}
	locks := func(opts ...rlock.Option) []*rlock.Lock {
		c := r.open(opts...)
		opts = append(opts, rlock.WithDialer(r.world.Dialer(host(r.clients))))
		c2 := must(rlock.Open(context.Background(), "redis://"+second.Addr, opts...))(r)
		r.Cleanup(func() { _ = c2.Close() })
		return []*rlock.Lock{c.NewLock("account"), c2.NewFencedLock("stock"), c2.NewReadWriteLock("tariffs").WriteLock()}
	}
	m.members, m.others = locks(opts...), locks()
	m.MultiLock = rlock.NewMultiLock(m.members...)
	return m
}

// pauseFirst makes the first member's server stand still for longer than a round, which is 4.5 s.
func (r *rig) pauseFirst(m trio) {
	r.at(func() { m.servers[0].Paused = true })
	time.AfterFunc(5*time.Second, func() { r.at(m.servers[0].Resume) })
}

// isFree checks that no member is held.
func (r *rig) isFree(m trio) {
	r.Helper()
	r.at(func() {
		for i, l := range m.members {
			if m.servers[i].Exists(l.Name()) {
				r.Errorf("%s is held", l.Name())
			}
		}
	})
}

// A client that takes the locks in another order, as Java may, makes both wait, but there is no deadlock: the round ends.
func TestMultiLockGivesWayToOneOfAnotherOrder(t *testing.T) {
	ctx := context.Background()
	inBubble(t, func(r *rig) {
		m := r.trio()
		last := must(m.others[2].Lock(ctx))(r)
		began, ended := time.Now(), make(chan error, 1)
		go func() { ended <- m.Do(ctx, nothing) }()
		r.pass(time.Second) // it has the others
		first := must(m.others[0].TryLockFor(ctx, time.Minute))(r)
		// Its next round begins at the end of one, and either may be the first then.
		if took := since(began); took < 4*time.Second || took%(4500*time.Millisecond) > 500*time.Millisecond || took > time.Minute {
			t.Errorf("it gave the first lock back after %v, want some times 4.5 s", took)
		}
		must(0, errors.Join(first.Unlock(ctx), last.Unlock(ctx)))(r)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		r.isFree(m)
	})
}

// A round lasts for 1.5 s per member. At its end the multi-lock gives back the members that it has.
func TestMultiLockKeepsWhatItHasForItsRound(t *testing.T) {
	ctx := context.Background()
	inBubble(t, func(r *rig) {
		m := r.trio()
		taken := must(m.others[1].Lock(ctx))(r)
		began, ended := time.Now(), make(chan error, 1)
		go func() { ended <- rlock.NewMultiLock(m.members[:2]...).Do(ctx, nothing) }()
		r.pass(100 * time.Millisecond)
		for kept := true; kept && since(began) < time.Minute; {
			r.pass(time.Millisecond)
			r.at(func() { kept = m.servers[0].Exists("account") })
		}
		if lasted := since(began); lasted < 2900*time.Millisecond || lasted > 3100*time.Millisecond {
			t.Errorf("two locks have a round of %v", lasted)
		}
		must(0, taken.Unlock(ctx))(r)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// If a round ends before the server has replied, nobody knows who holds the locks. So the next round follows.
func TestMultiLockOutlastsARoundWithoutAnAnswer(t *testing.T) {
	inBubble(t, func(r *rig) {
		m := r.trio(rlock.WithCommandTimeout(time.Minute))
		r.pauseFirst(m)
		if err := m.Do(context.Background(), nothing); err != nil {
			t.Error(err)
		}
		r.isFree(m)
	})
}

// With an owner that others use no round follows: its acquire may run late, and another would re-enter on top of it.
func TestMultiLockTellsThatAnOwnerOfOthersMayHoldMore(t *testing.T) {
	inBubble(t, func(r *rig) {
		m := r.trio(rlock.WithCommandTimeout(time.Minute))
		owner := must(rlock.ParseOwner("5f0e7a66-1a0e-4c0b-9d2f-0c7d3c8a1b22:7"))(r)
		r.pauseFirst(m)
		if err := m.Do(context.Background(), nothing, rlock.As(owner)); !errors.Is(err, rlock.ErrUncertain) {
			t.Error(err)
		}
		r.pass(5 * time.Second) // the late grant is given back
		r.isFree(m)
	})
}

// On a silent server Lock fails after a command timeout, or at the end of the round in which that passes.
func TestMultiLockGivesUpOnASilentServer(t *testing.T) {
	inBubble(t, func(r *rig) {
		m := rlock.NewMultiLock(r.open(rlock.WithCommandTimeout(2 * time.Second)).NewLock("orders"))
		must(0, m.Do(context.Background(), nothing))(r)
		r.at(func() { r.server.Paused = true })
		began := time.Now()
		_, err := m.TryLockFor(context.Background(), time.Minute)
		if took := since(began); took < 2*time.Second || took > 5*time.Second || !errors.Is(err, rlock.ErrUncertain) && !errors.Is(err, rlock.ErrUnavailable) {
			t.Errorf("after %v: %v", took, err)
		}
		r.at(r.server.Resume)
	})
}
