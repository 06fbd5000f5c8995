package rlock_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

// A new leader comes within the lease and two seconds. leadWithin adds one second for a busy machine.
const (
	leadLease  = 2 * time.Second
	leadWithin = leadLease + 2*time.Second + time.Second
)

// term is one run of a leader's function.
type term struct {
	of   int             // index of the client
	ctx  context.Context // ends with the lock
	done chan error      // what its function shall return
}

// election is several clients that call Lead, and counts those that lead.
type election struct {
	t      *testing.T
	terms  chan term
	over   []chan error // how the Lead of each client ended
	inside atomic.Int32 // functions that run with a live context
}

// stand makes the clients call Lead until ctx ends.
func stand(ctx context.Context, t *testing.T, clients ...*rlock.Client) *election {
	e := &election{t: t, terms: make(chan term, 10)}
	for i, c := range clients {
		over := make(chan error, 1)
		e.over = append(e.over, over)
		go func() {
			over <- c.NewLock("election").Lead(ctx, func(ctx context.Context) error {
				if e.inside.Add(1) != 1 {
					t.Error("two lead")
				}
				defer e.inside.Add(-1)
				now := term{i, ctx, make(chan error, 1)}
				e.terms <- now
				select {
				case err := <-now.done:
					return err
				case <-ctx.Done():
					return errors.New("told to stop")
				}
			})
		}()
	}
	return e
}

// next waits for the next term.
func (e *election) next() term {
	e.t.Helper()
	select {
	case now := <-e.terms:
		return now
	case <-time.After(leadWithin):
		e.t.Fatalf("nobody leads within %v", leadWithin)
		panic("unreachable")
	}
}

// ended waits for the end of a client's Lead.
func (e *election) ended(i int, is error) {
	e.t.Helper()
	select {
	case err := <-e.over[i]:
		if !errors.Is(err, is) {
			e.t.Errorf("it ended with %v, want %v", err, is)
		}
	case <-time.After(soonEnough):
		e.t.Fatal("it does not end")
	}
}

func leaders(t *testing.T, s *redistest.Server) (a, b *rlock.Client) {
	return openWith(t, s.URL(), rlock.WithWatchdogTimeout(leadLease)), openWith(t, s.URL(), rlock.WithWatchdogTimeout(leadLease))
}

func TestLeadGivesWayAndStandsAgain(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	a, b := leaders(t, s)
	e := stand(t.Context(), t, a, b)
	last := e.next()
	for range 3 {
		becomes(t, "the other waits", func() bool {
			info, err := a.NewLock("election").Info(t.Context())
			return err == nil && info.Waiters > 0
		})
		returned := time.Now()
		last.done <- nil
		now := e.next()
		if now.of == last.of && time.Since(returned) < leadPauses {
			t.Error("it leads again at once, though another waited")
		}
		last = now
	}
}

// leadPauses is the shortest pause between two terms.
const leadPauses = 50 * time.Millisecond

func TestLeadPausesBetweenTwoTerms(t *testing.T) {
	t.Parallel()
	a, _ := leaders(t, redistest.Start(t))
	e := stand(t.Context(), t, a)
	first := e.next()
	returned := time.Now()
	first.done <- nil
	e.next()
	if took := time.Since(returned); took < leadPauses {
		t.Errorf("it leads again after %v", took)
	}
}

// The server is paused for longer than the lease. Nobody leads then; both clients try again when it
// resumes.
func TestLeadStandsAgainAfterALoss(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	a, b := leaders(t, s)
	e := stand(t.Context(), t, a, b)
	first := e.next()
	s.Pause()
	select {
	case <-first.ctx.Done():
	case <-time.After(soonEnough):
		t.Error("it is not told")
	}
	if cause := context.Cause(first.ctx); !errors.Is(cause, rlock.ErrLeaseLost) || first.ctx.Err() == nil {
		t.Errorf("its context ended with %v", cause)
	}
	becomes(t, "nobody leads", func() bool { return e.inside.Load() == 0 })
	s.Resume()
	now := e.next()
	for range 3 { // the client that lost the lock tries again, too
		if now.of != first.of {
			now.done <- nil
			now = e.next()
		}
	}
	if now.of != first.of {
		t.Error("who lost the lock does not stand again")
	}
}

// Lead ends when its function returns an error, and when its client or its context ends.
func TestLeadEnds(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	a, b := leaders(t, s)
	c := openWith(t, s.URL(), rlock.WithWatchdogTimeout(leadLease))
	ctx, cancel := context.WithCancel(t.Context())
	e := stand(ctx, t, a, b, c)
	failed := errors.New("no plan")
	first := e.next()
	first.done <- failed
	e.ended(first.of, failed)
	second := e.next()
	[]*rlock.Client{a, b, c}[second.of].Close()
	e.ended(second.of, rlock.ErrClosed)
	third := e.next()
	cancel()
	e.ended(third.of, context.Canceled)
	if n, err := s.Dial(t).Do("EXISTS", "election"); n != int64(0) || err != nil {
		t.Errorf("the lock is left: %v, %v", n, err)
	}
}

func TestLeadThatCannotBe(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := openWith(t, s.URL())
	over, cancel := context.WithCancel(t.Context())
	cancel()
	soon, stop := context.WithTimeout(t.Context(), soonEnough)
	defer stop()
	var zero rlock.Lock
	never := func(context.Context) error { t.Error("it leads"); return nil }
	for what, row := range map[string]struct{ err, is error }{
		"Wait":             {c.NewLock("x").Lead(t.Context(), never, rlock.Wait(time.Second)), rlock.ErrInvalidOption},
		"no lease":         {c.NewLock("x").Lead(t.Context(), never, rlock.Lease(0)), rlock.ErrInvalidOption},
		"no name":          {c.NewLock("").Lead(t.Context(), never), rlock.ErrInvalidName},
		"no lock":          {zero.Lead(t.Context(), never), rlock.ErrInvalidOption},
		"As":               {c.NewLock("x").Lead(t.Context(), never, rlock.As(c.NewOwner())), rlock.ErrInvalidOption},
		"a read lock":      {c.NewReadWriteLock("x").ReadLock().Lead(t.Context(), never), rlock.ErrInvalidOption},
		"its Margin":       {c.NewLock("x").Lead(soon, never, rlock.Lease(time.Second), rlock.Margin(time.Second)), rlock.ErrInvalidOption},
		"a ctx that ended": {c.NewLock("x").Lead(over, never), context.Canceled},
	} {
		if !errors.Is(row.err, row.is) || errors.Is(row.err, context.DeadlineExceeded) {
			t.Errorf("%s: %v, want %v", what, row.err, row.is)
		}
	}
}
