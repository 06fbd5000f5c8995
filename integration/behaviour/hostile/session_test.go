package hostile

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

func TestMain(m *testing.M) { testbed.Main(m, "32") }

const (
	timeout = 250 * time.Millisecond // of one command
	brief   = 100 * time.Millisecond // holds and waits: longer than the watchdog takes to renew
	// bound is for any one call. The longest is an unlock, which is repeated for four command timeouts and a second, the
	// time for which its latch is sure to last; the rest is for a loaded machine.
	bound = 10 * time.Second
)

// session is a client's life: it makes every call of the public API once, and keeps each call's error.
type session struct {
	testing.TB
	mu   sync.Mutex // guards errs
	errs map[string]error
}

func (s *session) call(name string, do func() error) error {
	s.Helper()
	var err error
	select {
	case err = <-testbed.Begun(do):
	case <-time.After(bound):
		s.Errorf("%s did not end within %v", name, bound)
		err = context.DeadlineExceeded
	}
	s.mu.Lock()
	s.errs[name] = err
	s.mu.Unlock()
	return err
}

// live opens a client at addr, calls everything and closes it.
func live(t testing.TB, addr string) map[string]error {
	t.Helper()
	s := &session{TB: t, errs: map[string]error{}}
	// Only calls that wait while another owner has the lock get a deadline: the others are bounded by themselves.
	ctx := context.Background()
	patient, cancel := context.WithTimeout(ctx, 20*timeout)
	defer cancel()
	var c *rlock.Client
	if s.call("Open", func() (err error) {
		c, err = rlock.Open(ctx, "redis://user:secret@"+addr+"/3", rlock.WithCommandTimeout(timeout),
			rlock.WithWatchdogTimeout(250*time.Millisecond), rlock.WithReplicaSync(true))
		return err
	}) != nil {
		return s.errs
	}
	// This part runs alone: the undos of others, on the shared connection, must not keep it from its Unlock.
	s.holdsAndReleases(ctx, patient, c)
	var all sync.WaitGroup
	for _, part := range []func(ctx, patient context.Context, c *rlock.Client){
		s.extends, s.works, s.waits, s.asks, s.releasesOthers,
	} {
		all.Go(func() { part(ctx, patient, c) })
	}
	all.Wait()
	s.call("Close", c.Close)
	return s.errs
}

func (s *session) holdsAndReleases(ctx, patient context.Context, c *rlock.Client) {
	l := c.NewLock("free")
	var h *rlock.Hold
	if s.call("Lock", func() (err error) { h, err = l.Lock(patient); return err }) != nil {
		return
	}
	_ = h.Owner().String() // its text leaves, so that its unlocks have latches
	s.call("re-entry", func() error {
		inner, err := l.Lock(patient, rlock.As(h.Owner()))
		if err != nil {
			return err
		}
		return inner.Unlock(ctx)
	})
	s.call("Unlock", func() error { return h.Unlock(ctx) })
}

func (s *session) extends(ctx, _ context.Context, c *rlock.Client) {
	var h *rlock.Hold
	if s.call("TryLock", func() (err error) {
		h, err = c.NewLock("fixed").TryLock(ctx, rlock.Lease(5*time.Second))
		return err
	}) == nil {
		s.call("Extend", func() error { return h.Extend(ctx, 6*time.Second) })
	}
}

func (s *session) works(_, patient context.Context, c *rlock.Client) {
	s.call("Do", func() error {
		return c.NewLock("done").Do(patient, func(ctx context.Context) error {
			// Long enough for a renewal.
			select {
			case <-ctx.Done():
			case <-time.After(brief):
			}
			return nil
		})
	})
}

func (s *session) waits(ctx, _ context.Context, c *rlock.Client) {
	s.call("TryLockFor of a taken one", func() error {
		_, err := c.NewLock("taken 1").TryLockFor(ctx, brief)
		return err
	})
	s.call("Lock of a taken one", func() error {
		ctx, cancel := context.WithTimeout(ctx, brief)
		defer cancel()
		_, err := c.NewLock("taken 2").Lock(ctx)
		return err
	})
}

func (s *session) asks(ctx, _ context.Context, c *rlock.Client) {
	l, owner := c.NewLock("asked"), c.NewOwner()
	s.call("IsLocked", func() error { _, err := l.IsLocked(ctx); return err })
	s.call("IsHeldBy", func() error { _, err := l.IsHeldBy(ctx, owner); return err })
	s.call("HoldCount", func() error { _, err := l.HoldCount(ctx, owner); return err })
	s.call("RemainTTL", func() error { _, err := l.RemainTTL(ctx); return err })
	s.call("Info", func() error { _, err := l.Info(ctx); return err })
}

func (s *session) releasesOthers(ctx, _ context.Context, c *rlock.Client) {
	l := c.NewLock("another's")
	s.call("UnlockAs", func() error { return l.UnlockAs(ctx, c.NewOwner()) })
	s.call("ForceUnlock", func() error { _, err := l.ForceUnlock(ctx); return err })
}
