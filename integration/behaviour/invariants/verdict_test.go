package invariants

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

func tryFor(t testing.TB, ctx context.Context, l *rlock.Lock, wait time.Duration, opts ...rlock.AcquireOption) error {
	t.Helper()
	got := testbed.Receive(t, "TryLockFor returns", testbed.Acquire(func() (*rlock.Hold, error) { return l.TryLockFor(ctx, wait, opts...) }))
	if got.Err == nil {
		t.Error("got the lock")
	}
	return got.Err
}

func TestA6ElapsedWaitThatWasToldTakenIsErrLocked(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		r.occupy(name)
		l := r.open().NewLock(name)
		began := time.Now()
		err := tryFor(t, t.Context(), l, brief)
		want(t, err, rlock.ErrLocked)
		wantNot(t, err, context.DeadlineExceeded, context.Canceled, rlock.ErrUncertain)
		if took := time.Since(began); took < brief || took > brief+latencies {
			t.Errorf("after %v", took)
		}
		for _, wait := range []time.Duration{0, -time.Second} {
			before := len(r.of("acquire", name))
			want(t, tryFor(t, t.Context(), l, wait), rlock.ErrLocked)
			if n := len(r.of("acquire", name)) - before; n != 1 {
				t.Errorf("wait %v: %d tries, want TryLock's one", wait, n)
			}
		}
		if r.Proxy.Count("SUBSCRIBE") > 1 {
			t.Error("TryLock subscribed")
		}
		// A waiter in the queue that sent no try has its answer from the head's.
		ctx, cancel := context.WithCancel(t.Context())
		head := testbed.Enter(ctx, l)
		r.Listeners(name, 1)
		want(t, tryFor(t, t.Context(), l, brief), rlock.ErrLocked)
		cancel()
		want(t, testbed.Receive(t, "the head returns", head).Err, context.Canceled)
	})
}

// What the last attempt took is given back if nobody else can be its owner, or if its answer comes. Otherwise it stays
// for its lease.
func TestA6UnansweredLastAttemptIsNamed(t *testing.T) {
	t.Parallel()
	for whose, made := range map[string]func(mine client) []rlock.AcquireOption{
		"its own": func(client) []rlock.AcquireOption { return nil },
		"known":   func(mine client) []rlock.AcquireOption { return []rlock.AcquireOption{rlock.As(mine.NewOwner())} },
		"others'": func(client) []rlock.AcquireOption { return []rlock.AcquireOption{rlock.As(another(t, "8"))} },
	} {
		for i := range 4 {
			byContext, lost := i&1 > 0, i&2 > 0
			t.Run(fmt.Sprintf("%s, by its context: %v, lost: %v", whose, byContext, lost), func(t *testing.T) {
				play(t, func(t *testing.T, r *rig) {
					r.occupy(name)
					c := r.open()
					if !lost {
						c = r.openSlow()
					}
					l := c.NewLock(name)
					ctx, wait := t.Context(), 4*timeout
					if byContext {
						timed, cancel := context.WithTimeout(ctx, wait)
						defer cancel()
						ctx, wait = timed, long
					}
					got := testbed.Acquire(func() (*rlock.Hold, error) { return l.TryLockFor(ctx, wait, made(c)...) })
					r.answered(name, 2) // one try before and one after it has subscribed
					last := r.Proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: faultproxy.HoldReply})
					r.vacate(name)
					testbed.Receive(t, "the last try", last.Hit())
					if lost {
						r.cutOff()
					}
					err := testbed.Receive(t, "the acquire returns", got).Err
					r.Proxy.Refuse(false)
					last.Release()
					if lost && !tellsOfLoss(err) {
						t.Errorf("the server's last trouble is missing in: %v", err)
					}
					if byContext {
						want(t, err, context.DeadlineExceeded)
					}
					if whose == "others'" {
						want(t, err, rlock.ErrUncertain)
						wantNot(t, err, rlock.ErrLocked)
					} else {
						wantNot(t, err, rlock.ErrUncertain)
						if !byContext && (!errors.Is(err, rlock.ErrLocked) || !strings.Contains(err.Error(), "whatever it took is given back")) {
							t.Errorf("nobody is told that a grant may come: %v", err)
						}
					}
					if r.connected(l); whose == "others'" && lost {
						r.heldOnlyBy(name, another(t, "8"), 1)
					} else {
						r.Gone(name)
					}
				})
			})
		}
	}
}

func TestA6GrantAfterTheEndIsGivenBack(t *testing.T) {
	t.Parallel()
	for what, end := range map[string]func(context.Context, *rlock.Lock) error{
		"wait": func(ctx context.Context, l *rlock.Lock) error { return tryFor(t, ctx, l, brief) },
		"ctx": func(ctx context.Context, l *rlock.Lock) error {
			ctx, cancel := context.WithTimeout(ctx, brief)
			defer cancel()
			return tryFor(t, ctx, l, long)
		},
	} {
		for _, do := range []faultproxy.Action{faultproxy.HoldReply, faultproxy.Withhold} {
			t.Run(what+" "+do.String(), func(t *testing.T) {
				play(t, func(t *testing.T, r *rig) {
					l := r.openSlow().NewLock(name)
					late := r.Proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: do})
					err := end(t.Context(), l)
					wantNot(t, err, rlock.ErrLocked) // nobody ever said "taken"
					if what == "ctx" {
						want(t, err, context.DeadlineExceeded)
					}
					late.Release()
					r.Becomes("given back", func() bool { return len(r.of("unlock", name)) == 1 })
					r.Gone(name)
				})
			})
		}
	}
}

func TestA6ContextsErrorIsNotErrLocked(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		r.occupy(name)
		l := r.open().NewLock(name)
		ctx, cancel := context.WithTimeout(t.Context(), brief)
		defer cancel()
		err := tryFor(t, ctx, l, long)
		want(t, err, context.DeadlineExceeded)
		wantNot(t, err, rlock.ErrLocked)
	})
}

var outages = map[string]func(*rig, bool){
	"refused":   func(r *rig, on bool) { r.Proxy.Refuse(on); r.Proxy.CutAll() },
	"blackhole": func(r *rig, on bool) { r.Proxy.Blackhole(on); r.Proxy.CutAll() },
	"frozen":    func(r *rig, on bool) { r.Proxy.Freeze(on) },
}

func TestA6UnreachableServerIsNeither(t *testing.T) {
	t.Parallel()
	for what, cut := range outages {
		for _, wait := range []time.Duration{brief, 4 * timeout} {
			t.Run(what+" for "+wait.String(), func(t *testing.T) {
				play(t, func(t *testing.T, r *rig) {
					l := r.open().NewLock(name)
					r.connected(l)
					cut(r, true)
					err := tryFor(t, t.Context(), l, wait)
					wantNot(t, err, rlock.ErrLocked, context.DeadlineExceeded, context.Canceled)
					cut(r, false)
					r.connected(l)
					h := lock(t, l)
					r.heldOnlyBy(name, h.Owner(), 1)
					unlock(t, h)
					r.Gone(name)
				})
			})
		}
	}
}

func TestA7ToldWaitSurvivesARestartOfTheServer(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		c := r.open()
		var waiting []<-chan testbed.Entry
		keys := []string{"a", "b", "c"}
		for _, key := range keys {
			r.occupy(key)
			waiting = append(waiting, testbed.Enter(t.Context(), c.NewLock(key)))
			r.Listeners(key, 1)
		}
		r.server.Wipe() // holders, scripts and subscriptions are gone, client ids begin again
		r.Redial()
		for i, got := range waiting {
			h := granted(t, got)
			r.heldOnlyBy(keys[i], h.Owner(), 1)
			unlock(t, h)
		}
	})
}

func TestA7ToldWaitSurvivesALongOutage(t *testing.T) {
	t.Parallel()
	each(t, outages, func(t *testing.T, r *rig, cut func(*rig, bool)) {
		r.occupy(name)
		r.Do("PEXPIRE", name, 3*timeout.Milliseconds()) // so that the waiters try during the outage
		c := r.open()
		l := c.NewLock(name)
		got := testbed.Enter(t.Context(), l)
		r.answered(name, 2)
		shared := testbed.Enter(t.Context(), l, rlock.As(c.NewOwner()))
		r.answered(name, 3)
		r.connected(l) // replies come in order: now the client has read that answer as well
		cut(r, true)
		r.vacate(name)
		time.Sleep(4 * timeout)
		select {
		case res := <-got:
			t.Fatalf("gave up: %v", res.Err)
		case res := <-shared:
			t.Fatalf("gave up: %v", res.Err)
		default:
		}
		cut(r, false)
		for range 2 { // in either order: if the first's try was lost, it lost its place
			select {
			case res := <-got:
				unlock(t, res.Hold)
			case res := <-shared:
				unlock(t, res.Hold)
			case <-time.After(soon):
				t.Fatal("a waiter does not enter")
			}
		}
		r.Gone(name)
	})
}

// tellsOfLoss recognises how the client notices a cut connection: its dial fails, at once or at the deadline, or what
// it had sent is never answered.
func tellsOfLoss(err error) bool {
	return strings.Contains(err.Error(), "refused") || strings.Contains(err.Error(), "never answered") ||
		strings.Contains(err.Error(), "deadline exceeded")
}

func TestA7EndOfAToldWaitJoinsTheServersLastError(t *testing.T) {
	t.Parallel()
	each(t, map[string]func(*testing.T, context.Context, *rlock.Lock) error{
		"wait": func(t *testing.T, ctx context.Context, l *rlock.Lock) error {
			_, err := l.TryLockFor(ctx, 4*timeout)
			want(t, err, rlock.ErrLocked)
			return err
		},
		"ctx": func(t *testing.T, ctx context.Context, l *rlock.Lock) error {
			ctx, cancel := context.WithTimeout(ctx, 4*timeout)
			defer cancel()
			_, err := l.Lock(ctx)
			want(t, err, context.DeadlineExceeded)
			return err
		},
	}, func(t *testing.T, r *rig, end func(*testing.T, context.Context, *rlock.Lock) error) {
		r.occupy(name)
		r.Do("PEXPIRE", name, 2*timeout.Milliseconds()) // then the waiter tries again, and fails
		l := r.open().NewLock(name)
		got := testbed.Begun(func() error { return end(t, t.Context(), l) })
		r.answered(name, 2)
		r.cutOff()
		err := testbed.Receive(t, "the acquire returns", got)
		if err == nil || !tellsOfLoss(err) {
			t.Errorf("the server's last trouble is missing in: %v", err)
		}
		r.Proxy.Refuse(false)
	})
}

func TestA7TroubleBeforeTheFirstAnswerIsReturned(t *testing.T) {
	t.Parallel()
	each(t, map[string]func(*rig) string{
		"refused":   func(r *rig) string { r.Proxy.Refuse(true); r.Proxy.CutAll(); return "refused" },
		"blackhole": func(r *rig) string { r.Proxy.Blackhole(true); r.Proxy.CutAll(); return "timeout" },
		"loading": func(r *rig) string {
			r.Proxy.Add(faultproxy.Rule{Match: acquires, Do: faultproxy.Answer, Reply: []byte("-LOADING wait\r\n")})
			return "LOADING"
		},
	}, func(t *testing.T, r *rig, trouble func(*rig) string) {
		c := r.open()
		l := c.NewLock(name)
		word := trouble(r)
		began := time.Now()
		// The head of the queue, a waiter behind it, a shared owner outside it, and two more calls.
		calls := []<-chan testbed.Entry{testbed.Enter(t.Context(), l), testbed.Enter(t.Context(), l), testbed.Enter(t.Context(), l, rlock.As(c.NewOwner())),
			testbed.Acquire(func() (*rlock.Hold, error) { return l.TryLock(t.Context()) }),
			testbed.Acquire(func() (*rlock.Hold, error) { return l.TryLockFor(t.Context(), long) })}
		for i, call := range calls {
			got := testbed.Receive(t, "the acquire returns", call)
			if got.Err == nil || !strings.Contains(got.Err.Error(), word) && !tellsOfLoss(got.Err) {
				t.Errorf("call %d: error %v, want one that says %q", i, got.Err, word)
			}
			wantNot(t, got.Err, rlock.ErrLocked, context.DeadlineExceeded, context.Canceled)
			if took := got.At.Sub(began); took < timeout*9/10 || took > timeout+latencies {
				t.Errorf("call %d: after %v, want a little more than %v", i, took, timeout)
			}
		}
		r.Proxy.Refuse(false)
		r.Proxy.Blackhole(false)
	})
}

func TestA7ShortTroubleBeforeTheFirstAnswerIsWaitedOut(t *testing.T) {
	t.Parallel()
	for what, acquire := range ways {
		t.Run(what, func(t *testing.T) {
			play(t, func(t *testing.T, r *rig) {
				l := r.openSlow().NewLock(name)
				r.Proxy.Add(faultproxy.Rule{Match: acquires, Times: 2, Do: faultproxy.Answer, Reply: []byte("-LOADING wait\r\n")})
				r.Proxy.Add(faultproxy.Rule{Match: acquires, Times: 2, Do: faultproxy.CutBefore})
				unlock(t, granted(t, testbed.Acquire(func() (*rlock.Hold, error) { return acquire(t.Context(), l) })))
			})
		})
	}
}
