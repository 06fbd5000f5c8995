package virtual_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// anyHold is a Hold, a MultiHold or Permits.
type anyHold interface {
	Context(context.Context) (context.Context, context.CancelFunc)
	Done() <-chan struct{}
	Err() error
	ValidUntil() time.Time
}

// goesOn checks that a hold is not over.
func (r *rig) goesOn(h anyHold) {
	r.Helper()
	select {
	case <-h.Done():
		r.Errorf("the hold is over: %v", h.Err())
	default:
		if err := h.Err(); err != nil {
			r.Error(err)
		}
	}
}

// contextOf is a context that ends with the hold, or before.
func (r *rig) contextOf(h anyHold) context.Context {
	ctx, cancel := h.Context(context.Background())
	r.Cleanup(cancel)
	return ctx
}

// endedFor checks that a context ends now, since its lease ends in a time, and that its cause says so.
func (r *rig) endedFor(ctx context.Context, ends time.Duration, says string) {
	r.Helper()
	if ctx.Err() == nil {
		r.Errorf("%v before the end its context has not ended", ends)
		return
	}
	says = fmt.Sprintf("lease lost: %sthe lease ends in %v", says, ends)
	if why := context.Cause(ctx); !errors.Is(why, rlock.ErrLeaseLost) || !strings.HasSuffix(why.Error(), `": `+says) {
		r.Errorf("it ended with %v, want %s", why, says)
	}
}

const failing = "renewals fail; "

// The contexts of each hold end a Margin before ValidUntil, and the hold goes on until then.
func TestContextsEndAMarginBeforeTheLease(t *testing.T) {
	type row struct {
		margin time.Duration
		says   string
		take   func(r *rig, c *rlock.Client) anyHold
	}
	lock := func(opts ...rlock.AcquireOption) func(*rig, *rlock.Client) anyHold {
		return func(r *rig, c *rlock.Client) anyHold {
			return must(c.NewLock("orders").Lock(context.Background(), opts...))(r)
		}
	}
	permits := func(n int, opts ...rlock.PermitOption) func(*rig, *rlock.Client) anyHold {
		return func(r *rig, c *rlock.Client) anyHold {
			s := c.NewPermitSemaphore("orders")
			must(s.TrySetPermits(context.Background(), 5))(r)
			return must(s.Acquire(context.Background(), n, opts...))(r)
		}
	}
	for what, row := range map[string]row{
		"renewed":               {10 * time.Second, failing, lock(rlock.Margin(10 * time.Second))},
		"half of the lease":     {15 * time.Second, failing, lock(rlock.Margin(15 * time.Second))},
		"the client's":          {4 * time.Second, failing, lock()},
		"in place of it":        {time.Second, failing, lock(rlock.Margin(time.Second))},
		"a longer MaxHold":      {10 * time.Second, failing, lock(rlock.Margin(10*time.Second), rlock.MaxHold(time.Hour))},
		"a MaxHold that passed": {2 * time.Second, "", lock(rlock.Margin(2*time.Second), rlock.MaxHold(4*time.Second))},
		"fixed":                 {10 * time.Second, "", lock(rlock.Margin(10*time.Second), rlock.Lease(25*time.Second))},
		"a permit":              {10 * time.Second, failing, permits(1, rlock.Margin(10*time.Second))},
		"permits, fixed":        {10 * time.Second, "", permits(3, rlock.Margin(10*time.Second), rlock.Lease(time.Minute))},
		"all members": {10 * time.Second, "", func(r *rig, c *rlock.Client) anyHold {
			both := rlock.NewMultiLock(c.NewLock("orders"), c.NewReadWriteLock("orders too").ReadLock())
			return must(both.Lock(context.Background(), rlock.Margin(10*time.Second), rlock.Lease(25*time.Second)))(r)
		}},
	} {
		t.Run(what, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				c := r.open(rlock.WithMargin(4 * time.Second))
				h := row.take(r, c)
				ctx := r.contextOf(h)
				r.pass(5 * time.Second)
				r.at(func() { r.cut(true) })
				until := h.ValidUntil()
				<-ctx.Done()
				if left := time.Until(until).Round(time.Millisecond); left != row.margin {
					t.Errorf("it ended %v before ValidUntil", left)
				}
				r.endedFor(ctx, row.margin, row.says)
				r.goesOn(h)
				r.endedFor(r.contextOf(h), row.margin, row.says) // neither does one that begins now last
				<-h.Done()
				if late := since(until); late < 0 || late > time.Second || !errors.Is(h.Err(), rlock.ErrLeaseLost) {
					t.Errorf("the hold ended %v after its ValidUntil with %v", late, h.Err())
				}
				r.at(func() { r.cut(false) })
			})
		})
	}
}

// Without a Margin contexts end with their hold, though the client has one.
func TestContextsWithoutAMarginEndWithTheHold(t *testing.T) {
	inBubble(t, func(r *rig) {
		h := must(r.open(rlock.WithMargin(15*time.Second)).NewLock("orders").Lock(context.Background(), rlock.Margin(0)))(r)
		ctx := r.contextOf(h)
		r.at(func() { r.cut(true) })
		<-ctx.Done()
		if why := context.Cause(ctx); h.Err() == nil || why != h.Err() {
			t.Errorf("it ended with %v, its hold with %v", why, h.Err())
		}
		r.at(func() { r.cut(false) })
	})
}

// While renewals succeed, nothing ends. A renewal that comes back too late for a context does not revive it, but the hold goes
// on, and so does a context that begins later.
func TestRenewalThatComesBackLateRevivesNoContext(t *testing.T) {
	inBubble(t, func(r *rig) {
		h := must(r.open().NewLock("orders").Lock(context.Background(), rlock.Margin(10*time.Second)))(r)
		ctx := r.contextOf(h)
		r.pass(10 * time.Minute)
		if ctx.Err() != nil {
			t.Fatal(context.Cause(ctx))
		}
		r.at(func() { r.cut(true) })
		until := h.ValidUntil()
		<-ctx.Done()
		r.endedFor(ctx, 10*time.Second, failing)
		r.at(func() { r.cut(false) })
		for h.Err() == nil && !h.ValidUntil().After(until) {
			r.pass(100 * time.Millisecond)
		}
		later := r.contextOf(h)
		r.pass(10 * time.Minute)
		r.endedFor(ctx, 10*time.Second, failing)
		r.goesOn(h)
		if later.Err() != nil {
			t.Errorf("the later context ended with %v", context.Cause(later))
		}
	})
}

// Each of an owner's holds has its own Margin, though they share the lease.
func TestNestedHoldsHaveTheirOwnMargins(t *testing.T) {
	inBubble(t, func(r *rig) {
		bg := context.Background()
		l := r.open().NewLock("orders")
		outer := must(l.Lock(bg, rlock.Margin(5*time.Second)))(r)
		as := rlock.As(outer.Owner())
		wide, none := must(l.Lock(bg, as, rlock.Margin(12*time.Second)))(r), must(l.Lock(bg, as))(r)
		short := must(l.Lock(bg, as, rlock.Lease(10*time.Second), rlock.Margin(3*time.Second)))(r)
		began := time.Now()
		var got [4]time.Duration
		ended := make(chan struct{})
		ctxs := []context.Context{r.contextOf(short), r.contextOf(wide), r.contextOf(outer), r.contextOf(none)}
		go func() {
			defer close(ended)
			for i, ctx := range ctxs {
				<-ctx.Done()
				got[i] = since(began)
			}
		}()
		r.at(func() { r.cut(true) })
		<-ended
		want := [4]time.Duration{6900 * time.Millisecond, 17700 * time.Millisecond, 24700 * time.Millisecond, 29700 * time.Millisecond}
		if got != want {
			t.Errorf("they ended after %v, want %v", got, want)
		}
		r.at(func() { r.cut(false) })
	})
}

// Extend moves the end of contexts, in both directions.
func TestExtendMovesTheEndOfContexts(t *testing.T) {
	inBubble(t, func(r *rig) {
		h := must(r.open().NewLock("orders").Lock(context.Background(), rlock.Lease(20*time.Second), rlock.Margin(10*time.Second)))(r)
		ctx := r.contextOf(h)
		for _, lease := range []time.Duration{time.Minute, 20 * time.Second, time.Minute, 12 * time.Second} {
			r.pass(5 * time.Second)
			if err := h.Extend(context.Background(), lease); err != nil || ctx.Err() != nil {
				t.Fatal(err, context.Cause(ctx))
			}
		}
		r.pass(time.Second)
		until := h.ValidUntil()
		<-ctx.Done()
		if left := time.Until(until).Round(time.Millisecond); left != 10*time.Second {
			t.Errorf("it ended %v before ValidUntil", left)
		}
	})
}

// A function that stops when its context ends returns before another client's begins, and Do has no loss to report.
func TestDoStopsAMarginBeforeOthersBegin(t *testing.T) {
	for what, opts := range map[string][]rlock.AcquireOption{
		"renewed": {rlock.Margin(10 * time.Second)},
		"fixed":   {rlock.Margin(10 * time.Second), rlock.Lease(30 * time.Second)},
	} {
		t.Run(what, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				c, other := r.open(), r.open()
				began := time.Now()
				failed := errors.New("half done")
				err := c.NewLock("orders").Do(context.Background(), func(ctx context.Context) error {
					r.at(func() { r.cut(true) })
					<-ctx.Done()
					r.at(func() { r.cut(false) })
					if took := since(began); took != 19700*time.Millisecond {
						t.Errorf("it was told to stop after %v", took)
					}
					r.pass(2 * time.Second)
					if _, err := other.NewLock("orders").TryLock(context.Background()); !errors.Is(err, rlock.ErrLocked) {
						t.Errorf("another client: %v", err)
					}
					return failed
				}, opts...)
				if errors.Is(err, rlock.ErrLeaseLost) || !errors.Is(err, failed) {
					t.Errorf("Do returned %v", err)
				}
				must(other.NewLock("orders").TryLock(context.Background()))(r)
			})
		})
	}
}

// A function need not return its context's cause: Do adds that a Margin ended the context, but neither to another
// error nor when the caller's own context has ended.
func TestDoNamesTheMarginThatEndedItsContext(t *testing.T) {
	broken := errors.New("half done")
	for what, row := range map[string]struct {
		lasts   time.Duration // the caller's context
		returns func(context.Context) error
		lost    bool
	}{
		"ctx.Err":            {time.Hour, context.Context.Err, true},
		"wrapped":            {time.Hour, func(ctx context.Context) error { return fmt.Errorf("half done: %w", ctx.Err()) }, true},
		"its cause":          {time.Hour, context.Cause, true},
		"another error":      {time.Hour, func(context.Context) error { return broken }, false},
		"nothing":            {time.Hour, func(context.Context) error { return nil }, false},
		"the caller's error": {time.Second, context.Context.Err, false},
	} {
		t.Run(what, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				l := r.open().NewLock("orders")
				ctx, cancel := context.WithTimeout(context.Background(), row.lasts)
				defer cancel()
				var want error
				err := l.Do(ctx, func(ctx context.Context) error {
					<-ctx.Done()
					want = row.returns(ctx)
					return want
				}, rlock.Margin(10*time.Second), rlock.Lease(30*time.Second))
				if !errors.Is(err, want) || (err == nil) != (want == nil) || errors.Is(err, rlock.ErrLeaseLost) != row.lost {
					t.Errorf("Do returned %v", err)
				}
				if row.lost && strings.Count(err.Error(), rlock.ErrLeaseLost.Error()) != 1 {
					t.Errorf("it says so more than once: %v", err)
				}
			})
		})
	}
}

// A leader whose Margin has begun gives the lock up, whatever its function returns, and stands again.
func TestLeaderStopsAMarginBeforeTheNextBegins(t *testing.T) {
	inBubble(t, func(r *rig) {
		bg, end := context.WithCancel(context.Background())
		l := r.open().NewLock("orders")
		terms, over := 0, make(chan error, 1)
		go func() {
			over <- l.Lead(bg, func(ctx context.Context) error {
				terms++
				began := time.Now()
				for ctx.Err() == nil && since(began) < time.Minute { // it asks, as a loop does
					r.pass(time.Millisecond)
				}
				if terms == 3 {
					end()
				} else if took := since(began); took != 6900*time.Millisecond {
					t.Errorf("term %d lasted %v", terms, took)
				} else {
					r.endedFor(ctx, 3*time.Second, "")
				}
				return errors.New("half done")
			}, rlock.Lease(10*time.Second), rlock.Margin(3*time.Second))
		}()
		if err := <-over; terms != 3 || !errors.Is(err, context.Canceled) || errors.Is(err, rlock.ErrLeaseLost) {
			t.Errorf("after %d terms Lead returned %v", terms, err)
		}
	})
}

// No lease is shorter than twice its Margin.
func TestMarginThatCannotBe(t *testing.T) {
	inBubble(t, func(r *rig) {
		bg := context.Background()
		c, wide := r.open(), r.open(rlock.WithMargin(10*time.Second))
		asked := 0
		r.at(func() { r.server.Refuse = func([]string) string { asked++; return "" } })
		try := func(c *rlock.Client, opts ...rlock.AcquireOption) error {
			_, err := c.NewLock("orders").TryLock(bg, opts...)
			return err
		}
		opened := func(opts ...rlock.Option) error {
			_, err := rlock.Open(bg, "redis://"+address, append(opts, rlock.WithDialer(r.world.Dialer("10.1.1.1")))...)
			return err
		}
		const ms = time.Millisecond
		for what, err := range map[string]error{
			"below 0":                      try(c, rlock.Margin(-1)),
			"twice":                        try(c, rlock.Margin(1), rlock.Margin(1)),
			"above half of the watchdog's": try(c, rlock.Margin(15*time.Second+1)),
			"above half of the Lease":      try(c, rlock.Margin(501*ms), rlock.Lease(time.Second)),
			"above half of the MaxHold":    try(c, rlock.Margin(501*ms), rlock.MaxHold(time.Second)),
			"of a long MaxHold":            try(c, rlock.Margin(20*time.Second), rlock.MaxHold(time.Hour)),
			"the client's":                 try(wide, rlock.Lease(time.Second)),
			"of Do":                        c.NewLock("orders").Do(bg, func(context.Context) error { t.Error("it ran"); return nil }, rlock.Margin(time.Minute)),
			"of Lead":                      c.NewLock("orders").Lead(bg, func(context.Context) error { t.Error("it leads"); return nil }, rlock.Margin(time.Minute)),
			"of permits":                   c.NewPermitSemaphore("seats").Do(bg, 2, func(context.Context) error { t.Error("it ran"); return nil }, rlock.Margin(time.Minute)),
			"of a member": func() error {
				_, err := rlock.NewMultiLock(c.NewLock("a"), wide.NewLock("b")).TryLock(bg, rlock.Lease(time.Second))
				return err
			}(),
			"WithMargin below 0":    opened(rlock.WithMargin(-1)),
			"WithMargin twice":      opened(rlock.WithMargin(0), rlock.WithMargin(0)),
			"WithMargin above half": opened(rlock.WithWatchdogTimeout(time.Second), rlock.WithMargin(501*ms)),
		} {
			if !errors.Is(err, rlock.ErrInvalidOption) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if asked > 0 {
			t.Errorf("%d commands were sent", asked)
		}
		for what, err := range map[string]error{
			"none":            try(wide, rlock.Lease(time.Second), rlock.Margin(0)),
			"half of a Lease": try(c, rlock.Lease(time.Second), rlock.Margin(500*ms)),
		} {
			if err != nil && !errors.Is(err, rlock.ErrLocked) {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}
