package unlock

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/core"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/lockerr"
	"github.com/rlock-go/redisson/internal/release"
	"github.com/rlock-go/redisson/internal/section"
	"github.com/rlock-go/redisson/internal/state"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/topology"
	"github.com/rlock-go/redisson/watchdog"
)

// openClient makes a client for the server of a URL. It ends with the test.
func openClient(t *testing.T, url string, timeout time.Duration) *state.Client {
	t.Helper()
	c := new(state.Client)
	err := c.Init(state.Config{
		Config: core.Config{
			Watchdog: 30 * time.Second, Timeout: timeout, Clock: clock.System(),
			Topology: func(s topology.Settings) (topology.Topology, error) { return topology.Open(url, s) },
		},
		NewOwner: func() (*state.OwnerState, *state.Hold) { return new(state.OwnerState), new(state.Hold) },
		NewHold:  func() *state.Hold { return new(state.Hold) },
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Shut()
		c.Renewer.Close()
		c.Top.Close(time.Second)
		c.Timers.RunAll()
		c.Timers.Wait()
		c.Actors.Close()
	})
	return c
}

// A send that can't be answered in time would turn "nothing has run" into "uncertain".
func TestUnlockIsNotTriedTooLate(t *testing.T) {
	t.Parallel()
	const timeout = time.Minute
	c := openClient(t, "redis://localhost:1", timeout)
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	defer l.Shard.Enter(section.MustNotBlock).Leave()
	st := l.Shard.Pin(&l).EnsureOwnerState(c.NewOwner())
	now := st.Name.Now()
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
		r := &releasing{st: st, l: &l, leaves: row.leaves}
		r.Limit, r.req.First = row.limit, row.first
		if got := r.tooLate(row.after); got != row.want {
			t.Errorf("%s: too late: %t", what, got)
		}
	}
	if says := unwritten(c).Error(); !strings.Contains(says, "the unlock was not sent within 1m0s") {
		t.Errorf("without any trouble it says %s", says)
	}
}

// A release that may still arrive limits what later leases of its owner may be trusted for, if it can cut them.
func TestLateReleaseToWriteThatLeavesNoLeaseCutsNone(t *testing.T) {
	t.Parallel()
	c := openClient(t, "redis://localhost:1", time.Second)
	for of, want := range map[kind.Kind]time.Duration{kind.WriteLock: time.Minute, kind.ReadLock: 0} {
		l := c.NewLock(of, "doc", "doc")
		sec := l.Shard.Enter(section.MustNotBlock)
		n := l.Shard.Pin(&l)
		st := n.EnsureOwnerState(c.NewOwner())
		r := &releasing{st: st, l: &l}
		r.Apply(release.Late)
		if least := st.Least(n.Now(), time.Minute); least != want {
			t.Errorf("behind a late %s unlock a lease of a minute is trusted for %v, want %v", of.Traits().Queue, least, want)
		}
		n.Unpin()
		sec.Leave()
	}
}

// An unlock of a nested hold sets the lease of the others. If it was lost, renewals may have run since, before it was
// answered at last: they count.
func TestAnswerOfAnUnlockThatWasLostTakesNoTrustBack(t *testing.T) {
	t.Parallel()
	c := openClient(t, "redis://localhost:1", time.Second)
	const lease, renewed = 10 * time.Second, 9 * time.Second
	for what, row := range map[string]struct{ first, last, want time.Duration }{
		"sent once":        {-time.Second, -time.Second, watchdog.Trust(-time.Second, lease)},
		"lost long ago":    {-20 * time.Second, -time.Millisecond, renewed},
		"lost a while ago": {-2 * time.Second, -time.Millisecond, renewed},
		"lost just now":    {-2 * time.Millisecond, -time.Millisecond, watchdog.Trust(-2*time.Millisecond, lease)},
	} {
		l := c.NewLock(kind.Reentrant, what, what)
		sec := l.Shard.Enter(section.MustNotBlock)
		n := l.Shard.Pin(&l)
		st := n.EnsureOwnerState(c.NewOwner())
		st.Register()
		now := n.Now()
		st.Live(now, now+renewed)
		r := &releasing{st: st, l: &l, lease: lease}
		r.req.First, r.req.Wire.Sent = now+row.first, now+row.last
		if r.Apply(release.Leased); st.Lease.Expiry()-now != row.want || !st.Lease.Alive() {
			t.Errorf("%s: trust lasts for %v, want %v; alive %v", what, st.Lease.Expiry()-now, row.want, st.Lease.Alive())
		}
		st.Forget()
		n.Unpin()
		sec.Leave()
	}
}

// A ForceUnlock whose connection is lost has an outcome. It may still run until that connection
// is killed.
func TestForceUnlockThatIsLostMayStillRun(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := openClient(t, s.URL(), 300*time.Millisecond)
	l := c.NewLock(kind.Reentrant, "orders", "orders")
	if _, err := c.Query(t.Context(), l.Slot, kind.Read("PING")); err != nil { // now there is a connection
		t.Fatal(err)
	}
	sec := l.Shard.Enter(section.MustNotBlock)
	n := l.Shard.Pin(&l)
	n.Ahead++
	sec.Leave()
	goesAside := func() bool {
		defer l.Shard.Enter(section.MustNotBlock).Leave()
		return n.AcquiresAside()
	}
	if !goesAside() {
		t.Error("no acquire goes aside")
	}
	s.Pause()
	if _, _, err := force(&l); !errors.Is(err, lockerr.ErrUncertain) {
		t.Errorf("without an answer: %v", err)
	}
	if goesAside() {
		t.Error("an acquire went aside before the connection was killed")
	}
	s.Resume()
	redistest.Becomes(t, "it may run no more", func() bool {
		defer l.Shard.Enter(section.MustNotBlock).Leave()
		return l.Shard.Forcing == 0
	})
	sec = l.Shard.Enter(section.MustNotBlock)
	n.Ahead--
	n.Unpin()
	sec.Leave()
}
