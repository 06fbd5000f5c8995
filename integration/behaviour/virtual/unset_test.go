package virtual_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// A call that waited for a semaphore that nobody has set says so, however the wait ended, also if the last thing that happened
// was trouble with the server. A latch that nobody has set is open.
func TestWaitForWhatNobodyHasSetSaysSo(t *testing.T) {
	bg := context.Background()
	for kind, of := range map[string]func(*rlock.Client) (acquire func(context.Context, ...rlock.WaitOption) error, do func(context.Context, ...rlock.WaitOption) error){
		"semaphore": func(c *rlock.Client) (acquire, do func(context.Context, ...rlock.WaitOption) error) {
			s := c.NewSemaphore("seats")
			return func(ctx context.Context, opts ...rlock.WaitOption) error { return s.Acquire(ctx, 1, opts...) },
				func(ctx context.Context, opts ...rlock.WaitOption) error { return s.Do(ctx, 1, nothing, opts...) }
		},
		"permits": func(c *rlock.Client) (acquire, do func(context.Context, ...rlock.WaitOption) error) {
			s := c.NewPermitSemaphore("seats")
			some := func(opts []rlock.WaitOption) (all []rlock.PermitOption) {
				for _, o := range opts {
					all = append(all, o)
				}
				return all
			}
			return func(ctx context.Context, opts ...rlock.WaitOption) error {
					_, err := s.Acquire(ctx, 2, some(opts)...)
					return err
				},
				func(ctx context.Context, opts ...rlock.WaitOption) error { return s.Do(ctx, 1, nothing, some(opts)...) }
		},
	} {
		const unset = ": none were set with TrySetPermits, or the semaphore was deleted"
		for what, row := range map[string]struct {
			wait  time.Duration // 0: the context ends
			do    bool
			fails bool // the server refuses all scripts from the third second on
			says  string
		}{
			"Wait":                  {10 * time.Second, false, false, "too few permits are free" + unset},
			"Wait, Do":              {10 * time.Second, true, false, "too few permits are free" + unset},
			"a context":             {0, false, false, "context deadline exceeded" + unset},
			"a context, Do":         {0, true, false, "context deadline exceeded" + unset},
			"a context and trouble": {0, false, true, "context deadline exceeded" + unset + " (last trouble: LOADING soon)"},
		} {
			t.Run(kind+"/"+what, func(t *testing.T) {
				inBubble(t, func(r *rig) {
					call, do := of(r.open())
					if row.do {
						call = do
					}
					ctx, opts := bg, []rlock.WaitOption(nil)
					if row.wait > 0 {
						opts = append(opts, rlock.Wait(row.wait))
					} else {
						var cancel context.CancelFunc
						ctx, cancel = context.WithTimeout(bg, 10*time.Second)
						defer cancel()
					}
					if row.fails {
						time.AfterFunc(2500*time.Millisecond, func() { r.refuse("LOADING soon") })
						time.AfterFunc(3*time.Second, func() { r.at(func() { r.server.Session(host(9)).Do("PUBLISH", "redisson_sc:{seats}", "1") }) })
					}
					err := call(ctx, opts...)
					if want := `rlock: acquire "seats": ` + row.says; err == nil || err.Error() != want {
						r.Errorf("\n%v, want\n%s", err, want)
					}
					if ended := strings.HasPrefix(row.says, "context"); errors.Is(err, context.DeadlineExceeded) != ended || errors.Is(err, rlock.ErrNoPermits) == ended {
						r.Error(err)
					}
				})
			})
		}
	}
	t.Run("latch", func(t *testing.T) {
		inBubble(t, func(r *rig) {
			l, began := r.open().NewCountDownLatch("gate"), time.Now()
			if err := errors.Join(l.Await(bg), l.AwaitFor(bg, time.Hour)); err != nil || since(began) > 10*time.Millisecond {
				r.Errorf("after %v: %v", since(began), err)
			}
		})
	})
}
