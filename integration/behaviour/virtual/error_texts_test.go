package virtual_test

import (
	"context"
	"errors"
	"regexp"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// nearly is a TTL of a minute that the server said a moment after the grant.
var nearly = regexp.MustCompile(`\b59\.9\d*s\b`)

// The error of a lock that a call did not get says who holds it, if that is this client, or else for how long the call was
// refused and what TTL the server said last. So does the error of a call whose context ended.
func TestRefusedCallSaysWhatItKnows(t *testing.T) {
	bg := context.Background()
	type call = func(*rlock.Lock, *rlock.Hold) error
	try := func(opts ...rlock.AcquireOption) call {
		return func(l *rlock.Lock, _ *rlock.Hold) error {
			_, err := l.TryLock(bg, opts...)
			return err
		}
	}
	tryFor := func(d time.Duration) call {
		return func(l *rlock.Lock, _ *rlock.Hold) error {
			_, err := l.TryLockFor(bg, d)
			return err
		}
	}
	until := func(d time.Duration) call {
		return func(l *rlock.Lock, _ *rlock.Hold) error {
			ctx, cancel := context.WithTimeout(bg, d)
			defer cancel()
			_, err := l.Lock(ctx)
			return err
		}
	}
	plain, fair, read := (*rlock.Client).NewLock, (*rlock.Client).NewFairLock, func(c *rlock.Client, name string) *rlock.Lock {
		return c.NewReadWriteLock(name).ReadLock()
	}
	write := func(c *rlock.Client, name string) *rlock.Lock { return c.NewReadWriteLock(name).WriteLock() }
	const locked, ended = "locked by another owner", "context deadline exceeded"
	for what, row := range map[string]struct {
		of, held func(*rlock.Client, string) *rlock.Lock // held: by the same client, if it is the calls'
		same     bool
		call     call
		says     string
		is       error
	}{
		"one try":           {plain, plain, false, try(), locked + ": its last known TTL was 1m0s", rlock.ErrLocked},
		"one try, fair":     {fair, fair, false, try(), locked, rlock.ErrLocked},
		"a wait":            {plain, plain, false, tryFor(20 * time.Second), locked + ": refused for 20s, its last known TTL was 1m0s", rlock.ErrLocked},
		"a long wait, fair": {fair, fair, false, tryFor(20 * time.Second), locked + ": refused for 20s", rlock.ErrLocked},
		"a context":         {plain, plain, false, until(20 * time.Second), ended + ": refused for 20s, its last known TTL was 1m0s", context.DeadlineExceeded},
		"this client":       {plain, plain, true, try(), locked + ": this client holds it, and only a call with As that owner enters again", rlock.ErrLocked},
		"it, for a while":   {plain, plain, true, tryFor(20 * time.Second), locked + ": this client holds it, and only a call with As that owner enters again", rlock.ErrLocked},
		"it, and a context": {fair, fair, true, until(20 * time.Second), ended + ": this client holds it, and only a call with As that owner enters again", context.DeadlineExceeded},
		"it, an upgrade":    {write, read, true, tryFor(20 * time.Second), locked + ": this client holds it", rlock.ErrLocked},
		"it, not reentrant": {(*rlock.Client).NewNonReentrantLock, (*rlock.Client).NewNonReentrantLock, true, try(), locked + ": this client holds it", rlock.ErrLocked},
		"it, another As": {plain, plain, true, func(l *rlock.Lock, h *rlock.Hold) error {
			o, err := rlock.ParseOwner("7f3c1a52-0a49-4d0c-9d5e-2f6b1a0c8d11:1")
			if err != nil {
				return err
			}
			_, err = l.TryLock(bg, rlock.As(o))
			return err
		}, locked + ": this client holds it", rlock.ErrLocked},
	} {
		t.Run(what, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				c := r.open()
				holder := c
				if !row.same {
					holder = r.open()
				}
				h := must(row.held(holder, "orders").Lock(bg, rlock.Lease(time.Minute)))(r)
				err := row.call(row.of(c, "orders"), h)
				want := `rlock: acquire "orders": ` + row.says
				if err == nil || nearly.ReplaceAllString(err.Error(), "1m0s") != want {
					t.Errorf("\n%v, want\n%s", err, want)
				}
				for _, is := range []error{rlock.ErrLocked, context.DeadlineExceeded} {
					if errors.Is(err, is) != (is == row.is) {
						t.Errorf("%v: errors.Is %v: %v", err, is, errors.Is(err, is))
					}
				}
			})
		})
	}
}

// A call that could not be sent says which server it waited for.
func TestUnsentCallNamesItsServer(t *testing.T) {
	inBubble(t, func(r *rig) {
		c := r.open()
		r.at(func() { r.cut(true) })
		r.pass(10 * time.Millisecond) // the client has seen it
		_, err := c.NewLock("orders").TryLockFor(context.Background(), 100*time.Millisecond)
		const want = `rlock: acquire "orders": the wait elapsed without an answer: not sent: it waited for a connection to ` + address
		if err == nil || err.Error() != want {
			t.Errorf("\n%v, want\n%s", err, want)
		}
		r.at(func() { r.cut(false) })
	})
}

// A call that waited for more permits than there are says how many there are. One that did not wait asks nothing for that.
func TestAcquireOfMorePermitsThanThereAreSaysSo(t *testing.T) {
	inBubble(t, func(r *rig) {
		bg := context.Background()
		s := r.open().NewPermitSemaphore("seats")
		must(s.TrySetPermits(bg, 2))(r)
		one := must(s.Acquire(bg, 1))(r)
		const few = `rlock: acquire "seats": too few permits are free`
		for _, row := range []struct {
			what string
			call func() error
			want string
		}{
			{"three of two", func() error { _, err := s.TryAcquireFor(bg, 3, time.Second); return err }, few + ": 3 are wanted, and there are only 2"},
			{"by Do", func() error { return s.Do(bg, 3, nothing, rlock.Wait(time.Second)) }, few + ": 3 are wanted, and there are only 2"},
			{"two of two", func() error { _, err := s.TryAcquireFor(bg, 2, time.Second); return err }, few},
		} {
			if err := row.call(); !errors.Is(err, rlock.ErrNoPermits) || err.Error() != row.want {
				t.Errorf("%s: %v", row.what, err)
			}
		}
		asked := 0
		r.at(func() {
			r.server.Refuse = func(args []string) string {
				if args[0] == "EVALSHA" {
					asked++
				}
				return ""
			}
		})
		_, tried := s.TryAcquire(bg, 3)
		r.at(func() {
			if tried == nil || tried.Error() != few || asked != 1 {
				t.Errorf("one attempt: %v, after %d commands", tried, asked)
			}
		})
		r.pass(time.Second)
		began := time.Now()
		r.at(func() { r.world.After(2900*time.Millisecond, func() { r.server.Paused = true }) })
		_, err := s.TryAcquireFor(bg, 3, 3*time.Second)
		if took := since(began); err == nil || took > 3*time.Second+3*time.Second/8 {
			t.Errorf("beside a silent server: %v, after %v", err, took)
		}
		r.at(func() { r.server.Resume() })
		r.pass(10 * time.Second)
		if err := one.Release(bg); err != nil {
			t.Error(err)
		}
	})
}

func nothing(context.Context) error { return nil }
