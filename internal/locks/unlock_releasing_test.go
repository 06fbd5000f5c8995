package locks

import (
	"cmp"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/locks/release"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/watchdog"
)

// A send that can't be answered in time would turn "nothing has run" into "uncertain".
func TestUnlockIsNotTriedTooLate(t *testing.T) {
	t.Parallel()
	const timeout = time.Minute
	c := newClient(t, "redis://localhost:1", timeout)
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	defer l.shard.enter(mustNotBlock).leave()
	st := l.shard.pin(&l).ensureOwnerState(c.NewOwner())
	now := st.name.Now()
	for what, row := range map[string]struct {
		limit, leaves, after, first time.Duration
		want                        bool
	}{
		"there is time":                 {limit: now + timeout},
		"its limit comes":               {limit: now + timeout/20, want: true},
		"it comes after the pause":      {limit: now + timeout, after: timeout - timeout/20, want: true},
		"it has passed, and none knows": {limit: now - timeout, want: true},
		"its caller leaves":             {limit: now + timeout, leaves: now + timeout/20, want: true},
		"it may have run before":        {limit: now + timeout/20, first: now},
	} {
		r := &releasing{st: st, l: &l, leaves: cmp.Or(row.leaves, clock.Never)}
		r.Limit, r.req.First = row.limit, row.first
		if got := r.tooLate(row.after); got != row.want {
			t.Errorf("%s: too late: %t", what, got)
		}
	}
	if says := unwritten(c).Error(); !strings.Contains(says, "it waited behind other commands for 1m0s") {
		t.Errorf("without any trouble it says %s", says)
	}
}

// A release that may still arrive limits what later leases of its owner may be trusted for, if it can cut them.
func TestLateReleaseToWriteThatLeavesNoLeaseCutsNone(t *testing.T) {
	t.Parallel()
	c := newClient(t, "redis://localhost:1", time.Second)
	for of, want := range map[kind.Kind]time.Duration{kind.WriteLock: time.Minute, kind.ReadLock: 0} {
		l := c.NewLock(of, "doc", "doc")
		sec := l.shard.enter(mustNotBlock)
		n := l.shard.pin(&l)
		st := n.ensureOwnerState(c.NewOwner())
		r := &releasing{st: st, l: &l}
		r.Apply(release.Late)
		if least := st.least(n.Now(), time.Minute); least != want {
			t.Errorf("behind a late %s unlock a lease of a minute is trusted for %v, want %v", of.Traits().Queue, least, want)
		}
		n.unpin()
		sec.leave()
	}
}

// An unlock of a nested hold sets the lease of the others. If it was lost, renewals may have run since, before it was
// answered at last: they count.
func TestAnswerOfAnUnlockThatWasLostTakesNoTrustBack(t *testing.T) {
	t.Parallel()
	c := newClient(t, "redis://localhost:1", time.Second)
	const lease, renewed = 10 * time.Second, 9 * time.Second
	for what, row := range map[string]struct{ first, last, want time.Duration }{
		"sent once":        {-time.Second, -time.Second, watchdog.Trust(-time.Second, lease)},
		"lost long ago":    {-20 * time.Second, -time.Millisecond, renewed},
		"lost a while ago": {-2 * time.Second, -time.Millisecond, renewed},
		"lost just now":    {-2 * time.Millisecond, -time.Millisecond, watchdog.Trust(-2*time.Millisecond, lease)},
	} {
		l := c.NewLock(kind.Reentrant, what, what)
		sec := l.shard.enter(mustNotBlock)
		n := l.shard.pin(&l)
		st := n.ensureOwnerState(c.NewOwner())
		st.register()
		now := n.Now()
		st.live(now, now+renewed)
		r := &releasing{st: st, l: &l, lease: lease}
		r.req.First, r.req.Wire.Sent = now+row.first, now+row.last
		if r.Apply(release.Leased); st.lease.Expiry()-now != row.want || !st.lease.Alive() {
			t.Errorf("%s: trust lasts for %v, want %v; alive %v", what, st.lease.Expiry()-now, row.want, st.lease.Alive())
		}
		st.forget()
		n.unpin()
		sec.leave()
	}
}

// A ForceUnlock whose connection is lost has an outcome. It may still run until that connection
// is killed.
func TestForceUnlockThatIsLostMayStillRun(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := newClient(t, s.URL(), 300*time.Millisecond)
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	if _, err := c.Query(t.Context(), l.slot, kind.Read("PING")); err != nil { // now there is a connection
		t.Fatal(err)
	}
	sec := l.shard.enter(mustNotBlock)
	n := l.shard.pin(&l)
	n.ahead++
	sec.leave()
	goesAside := func() bool {
		defer l.shard.enter(mustNotBlock).leave()
		return n.ahead > 0 && l.shard.forcing == 0
	}
	if !goesAside() {
		t.Error("no acquire goes aside")
	}
	s.Pause()
	if _, _, err := force(&l); !errors.Is(err, ErrUncertain) {
		t.Errorf("without an answer: %v", err)
	}
	if goesAside() {
		t.Error("an acquire went aside before the connection was killed")
	}
	s.Resume()
	redistest.Becomes(t, "it may run no more", func() bool {
		defer l.shard.enter(mustNotBlock).leave()
		return l.shard.forcing == 0
	})
	sec = l.shard.enter(mustNotBlock)
	n.ahead--
	n.unpin()
	sec.leave()
}
