package invariants

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/rlock"
)

const brief = stall

func tryFor(t testing.TB, ctx context.Context, l *rlock.Lock, wait time.Duration, opts ...rlock.AcquireOption) error {
	t.Helper()
	got := happens(t, "TryLockFor returns", calling(func() (*rlock.Hold, error) { return l.TryLockFor(ctx, wait, opts...) }))
	if got.err == nil {
		t.Error("got the lock")
	}
	return got.err
}

func TestA6ElapsedWaitThatWasToldTakenIsErrLocked(t *testing.T) {
	r := newRig(t)
	r.occupy(name)
	l := r.open().NewLock(name)
	began := time.Now()
	err := tryFor(t, t.Context(), l, brief)
	want(t, err, rlock.ErrLocked)
	wantNot(t, err, context.DeadlineExceeded, context.Canceled, rlock.ErrUncertain)
	if took := time.Since(began); took < brief {
		t.Errorf("after %v", took)
	}
	for _, wait := range []time.Duration{0, -time.Second} {
		before := len(r.of("acquire", name))
		want(t, tryFor(t, t.Context(), l, wait), rlock.ErrLocked)
		if n := len(r.of("acquire", name)) - before; n != 1 {
			t.Errorf("wait %v: %d tries, want TryLock's one", wait, n)
		}
	}
	if r.proxy.Count("SUBSCRIBE") > 1 {
		t.Error("TryLock subscribed")
	}
	// A waiter in the queue that made no try of its own was told by the head's.
	ctx, cancel := context.WithCancel(t.Context())
	head := locking(ctx, l)
	r.subscribers(name, 1)
	want(t, tryFor(t, t.Context(), l, brief), rlock.ErrLocked)
	cancel()
	want(t, happens(t, "the head returns", head).err, context.Canceled)
}

func TestA6UnansweredLastAttemptIsNamed(t *testing.T) {
	r := newRig(t)
	r.occupy(name)
	l := r.openSlow().NewLock(name)
	plain := tryFor(t, t.Context(), l, brief)
	seen := len(r.of("acquire", name))
	got := calling(func() (*rlock.Hold, error) { return l.TryLockFor(t.Context(), 2*stall) })
	r.becomes("both tries", func() bool {
		tries := r.of("acquire", name)
		return len(tries) == seen+2 && !tries[seen+1].Answered.IsZero()
	})
	held := r.proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: faultproxy.HoldReply})
	r.vacate(name)
	happens(t, "the last try", held.Hit())
	err := happens(t, "TryLockFor returns", got).err
	if err == nil {
		t.Fatal("got the lock without an answer")
	}
	if err.Error() == plain.Error() || !strings.Contains(err.Error(), "not answered") {
		t.Errorf("the error hides that the last attempt was not answered: %v", err)
	}
	held.Release() // a grant after the end
	r.gone(name)
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
				r := newRig(t)
				l := r.openSlow().NewLock(name)
				late := r.proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: do})
				err := end(t.Context(), l)
				wantNot(t, err, rlock.ErrLocked) // nobody ever said "taken"
				if what == "ctx" {
					want(t, err, context.DeadlineExceeded)
				}
				late.Release()
				r.becomes("given back", func() bool { return len(r.of("unlock", name)) == 1 })
				r.gone(name)
			})
		}
	}
}

func TestA6ContextsErrorIsNotErrLocked(t *testing.T) {
	r := newRig(t)
	r.occupy(name)
	l := r.open().NewLock(name)
	ctx, cancel := context.WithTimeout(t.Context(), brief)
	defer cancel()
	err := tryFor(t, ctx, l, long)
	want(t, err, context.DeadlineExceeded)
	wantNot(t, err, rlock.ErrLocked)
}

func TestA6UnreachableServerIsNeither(t *testing.T) {
	t.Parallel()
	for what, cut := range map[string]func(*rig){
		"refused":   func(r *rig) { r.proxy.Refuse(true); r.proxy.CutAll() },
		"blackhole": func(r *rig) { r.proxy.Blackhole(true); r.proxy.CutAll() },
		"frozen":    func(r *rig) { r.proxy.Freeze(true) },
	} {
		for _, wait := range []time.Duration{brief, 4 * timeout} {
			t.Run(what+" for "+wait.String(), func(t *testing.T) {
				r := newRig(t)
				l := r.open().NewLock(name)
				r.becomes("connected", func() bool { locked, err := l.IsLocked(t.Context()); return err == nil && !locked })
				cut(r)
				err := tryFor(t, t.Context(), l, wait)
				wantNot(t, err, rlock.ErrLocked, context.DeadlineExceeded, context.Canceled)
				r.proxy.Refuse(false)
				r.proxy.Blackhole(false)
				r.proxy.Freeze(false)
				r.becomes("connected again", func() bool { _, err := l.IsLocked(t.Context()); return err == nil })
				h, err := l.TryLockFor(t.Context(), soon)
				if err != nil {
					t.Fatal(err)
				}
				r.heldOnlyBy(name, h.Owner(), 1)
				unlock(t, h)
				r.gone(name)
			})
		}
	}
}

func TestA7ToldWaitSurvivesARestartOfTheServer(t *testing.T) {
	r := newRig(t)
	c := r.open()
	var waiting []<-chan result
	keys := []string{"a", "b", "c"}
	for _, key := range keys {
		r.occupy(key)
		waiting = append(waiting, locking(t.Context(), c.NewLock(key)))
		r.subscribers(key, 1)
	}
	r.server.Wipe() // holders, scripts and subscriptions are gone, client ids begin again
	r.connect()
	for i, got := range waiting {
		h := granted(t, got)
		r.heldOnlyBy(keys[i], h.Owner(), 1)
		unlock(t, h)
	}
}

func TestA7ToldWaitSurvivesALongOutage(t *testing.T) {
	t.Parallel()
	for what, cut := range map[string]func(*rig, bool){
		"refused":   func(r *rig, on bool) { r.proxy.Refuse(on); r.proxy.CutAll() },
		"blackhole": func(r *rig, on bool) { r.proxy.Blackhole(on); r.proxy.CutAll() },
		"frozen":    func(r *rig, on bool) { r.proxy.Freeze(on) },
	} {
		t.Run(what, func(t *testing.T) {
			r := newRig(t)
			r.occupy(name)
			r.do("PEXPIRE", name, 3*timeout.Milliseconds()) // so that they try during the outage
			c := r.open()
			l := c.NewLock(name)
			got := locking(t.Context(), l)
			r.answered(name, 2)
			shared := locking(t.Context(), l, rlock.As(c.NewOwner()))
			r.answered(name, 3)
			// Replies come in order: now the client has read that answer as well.
			if _, err := l.IsLocked(t.Context()); err != nil {
				t.Fatal(err)
			}
			cut(r, true)
			r.vacate(name)
			began := time.Now()
			r.becomes("several command timeouts passed", func() bool { return time.Since(began) > 4*timeout })
			select {
			case res := <-got:
				t.Fatalf("gave up: %v", res.err)
			case res := <-shared:
				t.Fatalf("gave up: %v", res.err)
			default:
			}
			cut(r, false)
			unlock(t, granted(t, got))
			unlock(t, granted(t, shared))
			r.gone(name)
		})
	}
}

// tellsOfLoss: of a cut connection the client hears when it dials, at once or at the dial's deadline, or when it misses the
// answer to what it had sent.
func tellsOfLoss(err error) bool {
	return strings.Contains(err.Error(), "refused") || strings.Contains(err.Error(), "never answered") ||
		strings.Contains(err.Error(), "deadline exceeded")
}

func TestA7EndOfAToldWaitJoinsTheServersLastError(t *testing.T) {
	t.Parallel()
	for what, end := range map[string]func(*testing.T, context.Context, *rlock.Lock) error{
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
	} {
		t.Run(what, func(t *testing.T) {
			r := newRig(t)
			r.occupy(name)
			r.do("PEXPIRE", name, 2*timeout.Milliseconds()) // then it tries again, and fails
			l := r.open().NewLock(name)
			got := make(chan error, 1)
			go func() { got <- end(t, t.Context(), l) }()
			r.answered(name, 2)
			r.proxy.Refuse(true)
			r.proxy.CutAll()
			err := happens(t, "the acquire returns", got)
			if err == nil || !tellsOfLoss(err) {
				t.Errorf("the server's last trouble is missing in: %v", err)
			}
			r.proxy.Refuse(false)
		})
	}
}

func TestA7TroubleBeforeTheFirstAnswerIsReturned(t *testing.T) {
	t.Parallel()
	for what, trouble := range map[string]func(*rig) string{
		"refused":   func(r *rig) string { r.proxy.Refuse(true); r.proxy.CutAll(); return "refused" },
		"blackhole": func(r *rig) string { r.proxy.Blackhole(true); r.proxy.CutAll(); return "timeout" },
		"loading": func(r *rig) string {
			r.proxy.Add(faultproxy.Rule{Match: acquires, Do: faultproxy.Answer, Reply: []byte("-LOADING wait\r\n")})
			return "LOADING"
		},
	} {
		t.Run(what, func(t *testing.T) {
			r := newRig(t)
			c := r.open()
			l := c.NewLock(name)
			word := trouble(r)
			began := time.Now()
			// The head of the queue, those behind it, and those beside it.
			calls := []<-chan result{locking(t.Context(), l), locking(t.Context(), l), locking(t.Context(), l, rlock.As(c.NewOwner())),
				calling(func() (*rlock.Hold, error) { return l.TryLock(t.Context()) }),
				calling(func() (*rlock.Hold, error) { return l.TryLockFor(t.Context(), long) })}
			for i, call := range calls {
				got := happens(t, "the acquire returns", call)
				if got.err == nil || !strings.Contains(got.err.Error(), word) && !tellsOfLoss(got.err) {
					t.Errorf("call %d: error %v, want one that says %q", i, got.err, word)
				}
				wantNot(t, got.err, rlock.ErrLocked, context.DeadlineExceeded, context.Canceled)
				if took := got.at.Sub(began); took < timeout*9/10 || took > timeout+2*stall {
					t.Errorf("call %d: after %v, want a little more than %v", i, took, timeout)
				}
			}
			r.proxy.Refuse(false)
			r.proxy.Blackhole(false)
		})
	}
}

func TestA7ShortTroubleBeforeTheFirstAnswerIsWaitedOut(t *testing.T) {
	t.Parallel()
	for what, acquire := range ways {
		t.Run(what, func(t *testing.T) {
			r := newRig(t)
			l := r.openSlow().NewLock(name)
			r.proxy.Add(faultproxy.Rule{Match: acquires, Times: 2, Do: faultproxy.Answer, Reply: []byte("-LOADING wait\r\n")})
			r.proxy.Add(faultproxy.Rule{Match: acquires, Times: 2, Do: faultproxy.CutBefore})
			unlock(t, granted(t, calling(func() (*rlock.Hold, error) { return acquire(t.Context(), l) })))
		})
	}
}
