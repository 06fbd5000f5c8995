package invariants

import (
	"context"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// These tests read the owner from the server: a call of Hold.Owner would show it.

// holder returns the only owner that the server has for the key.
func (r *rig) holder(key string) string {
	r.Helper()
	f := r.fields(key)
	for owner := range f {
		if len(f) == 1 {
			return owner
		}
	}
	r.Fatalf("%s is %v, want one owner", key, f)
	panic("unreachable")
}

// unlatched fails unless n unlocks of the key were sent, each without a latch.
func (r *rig) unlatched(key string, n int) []step {
	r.Helper()
	sends := r.of("unlock", key)
	if len(sends) != n {
		r.Fatalf("sent %+v, want %d unlocks", sends, n)
	}
	for _, s := range sends {
		if s.latch != "" {
			r.Errorf("an unlock has the latch %s", s.latch)
		}
	}
	return sends
}

// unlocking starts the unlock and waits until the fault has hit it.
func (r *rig) unlocking(h *rlock.Hold, fault faultproxy.Rule) (late *faultproxy.Handle, released <-chan error) {
	r.Helper()
	fault.Match, fault.Times = unlocks, 1
	late = r.Proxy.Add(fault)
	done := testbed.Begun(func() error { return h.Unlock(context.Background()) })
	r.Hit(late)
	return late, done
}

// watchedContext signals a call of Done, which an acquire makes when it begins to wait.
type watchedContext struct {
	context.Context

	looked chan struct{}
}

func (c watchedContext) Done() <-chan struct{} {
	select {
	case c.looked <- struct{}{}:
	default:
	}
	return c.Context.Done()
}

// However many of the sends ran, the unlock succeeds, and an owner that entered meanwhile keeps the lock.
func TestR4LostUnlockOfAnOwnerThatIsUsedOnceIsSentAgain(t *testing.T) {
	t.Parallel()
	for _, do := range []faultproxy.Action{faultproxy.CutAfter, faultproxy.DropReply, faultproxy.CutBefore} {
		for _, times := range []int{1, 3} {
			t.Run(do.String(), func(t *testing.T) {
				play(t, func(t *testing.T, r *rig) {
					h := lock(t, r.open().NewLock(name))
					next := r.open().NewLock(name)
					waiter := testbed.Enter(t.Context(), next)
					r.Becomes("the other client waits", func() bool { return r.Subscribed(name) == 1 })
					r.Proxy.Add(faultproxy.Rule{Match: unlocks, Times: times, Do: do})
					unlock(t, h)
					sends := r.unlatched(name, times+1)
					r.killed(sends[0].Conn, sends[1].at)
					inside := granted(t, waiter)
					if r.fields(name)[r.holder(name)] != 1 || inside.Err() != nil {
						t.Errorf("left %v, and the next one says %v", r.fields(name), inside.Err())
					}
					unlock(t, inside)
				})
			})
		}
	}
}

// The client can't know whether the release was announced, so it wakes its own waiter.
func TestR4NothingLeftAfterALostUnlockIsReleased(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		c := r.open()
		l := c.NewLock(name)
		h := lock(t, l, rlock.Lease(long))
		waiter := testbed.Enter(t.Context(), l)
		r.Becomes("it waits", func() bool { return r.Subscribed(name) == 1 })
		r.answered(name, 3)
		// As if the first send had run and its message had been lost as well.
		late, released := r.unlocking(h, faultproxy.Rule{Do: faultproxy.Withhold})
		r.Do("DEL", name)
		r.Proxy.CutAll()
		want(t, testbed.Receive(t, "Unlock returns", released), nil)
		if late.Release() != 0 {
			t.Error("it ran behind the kill barrier")
		}
		unlock(t, granted(t, waiter))
	})
}

// Nobody else can act as an owner whose text never left, so the server counts nothing that its client does not know of.
func TestR4LastUnlockTakesAllThatIsCounted(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		h := lock(t, r.open().NewLock(name))
		r.Do("HINCRBY", name, r.holder(name), 2)
		unlock(t, h)
		r.unlatched(name, 2)
		r.Gone(name)
	})
}

// Unlock returns in time, and the client goes on sending it.
func TestR4UnlockGoesOnInTheBackground(t *testing.T) {
	t.Parallel()
	with(t, []faultproxy.Action{faultproxy.CutBefore, faultproxy.DropReply}, func(t *testing.T, r *rig, do faultproxy.Action) {
		h := lock(t, r.open().NewLock(name), rlock.Lease(long))
		fault := r.Proxy.Add(faultproxy.Rule{Match: unlocks, Do: do})
		began := time.Now()
		want(t, h.Unlock(t.Context()), rlock.ErrUncertain)
		if took := time.Since(began); took > 4*timeout+time.Second+latencies {
			t.Errorf("after %v", took)
		}
		before := len(r.of("unlock", name))
		fault.Remove()
		r.Gone(name)
		r.Becomes("it is answered", func() bool {
			sends := r.of("unlock", name)
			return len(sends) > before || !sends[len(sends)-1].Answered.IsZero()
		})
	})
}

// The lease may be the old or the new one, so the client repeats the unlock as long as the key may exist.
func TestR4UnlockGoesOnForTheLeaseOfAnExtendThatMayHaveRun(t *testing.T) {
	t.Parallel()
	const first = 3 * timeout
	with(t, []faultproxy.Action{faultproxy.CutAfter, faultproxy.DropReply}, func(t *testing.T, r *rig, do faultproxy.Action) {
		h := lock(t, r.open().NewLock(name), rlock.Lease(first))
		extends := r.Proxy.Add(faultproxy.Rule{Match: renewals, Do: do})
		want(t, h.Extend(t.Context(), long), rlock.ErrUncertain)
		extends.Remove()
		fault := r.Proxy.Add(faultproxy.Rule{Match: unlocks, Do: faultproxy.CutBefore})
		began := time.Now()
		want(t, h.Unlock(t.Context()), rlock.ErrUncertain)
		r.Becomes("the first lease is over", func() bool { return time.Since(began) > first+2*timeout })
		fault.Remove()
		r.Gone(name)
	})
}

// The refused sends did not run, but the last one, which has no answer, may run.
func TestR4UnlockWithoutAnAnswerAtTheLimitIsUncertain(t *testing.T) {
	const command = 3 * time.Second
	play(t, func(t *testing.T, r *rig) {
		h := lock(t, r.openWith("redis://"+r.Proxy.Addr(), command, nil).NewLock(name), rlock.Lease(long))
		refused := r.Proxy.Add(faultproxy.Rule{Match: unlocks, Do: faultproxy.Answer, Reply: []byte("-OOM command not allowed when used memory > 'maxmemory'.\r\n")})
		began := time.Now()
		released := testbed.Begun(func() error { return h.Unlock(context.Background()) })
		r.Becomes("the limit is near", func() bool { return time.Since(began) > 4*command })
		silent := r.Proxy.Add(faultproxy.Rule{Match: unlocks, Times: 1, Do: faultproxy.HoldReply})
		refused.Remove()
		err := testbed.Receive(t, "Unlock returns", released)
		if took := time.Since(began); took > 4*command+time.Second+latencies {
			t.Errorf("after %v", took)
		}
		want(t, err, rlock.ErrUncertain)
		r.Gone(name)
		silent.Release()
	})
}

// The owner's text leaves after the first send, and it enters elsewhere before the loss is known: nothing releases that
// hold.
func TestR4ForeignMeanwhileIsNotSentAgain(t *testing.T) {
	t.Parallel()
	t.Run("it ran", func(t *testing.T) {
		play(t, func(t *testing.T, r *rig) {
			h := lock(t, r.open().NewLock(name))
			_, released := r.unlocking(h, faultproxy.Rule{Do: faultproxy.HoldReply})
			r.Gone(name)
			_ = h.Owner().String()
			r.Proxy.CutAll()
			want(t, testbed.Receive(t, "Unlock returns", released), rlock.ErrUncertain)
			r.unlatched(name, 1)
		})
	})
	for what, show := range map[string]func(t *testing.T, h *rlock.Hold, text string) rlock.Owner{
		"another process entered as the owner":            func(_ *testing.T, h *rlock.Hold, _ string) rlock.Owner { return h.Owner() },
		"another client read the owner and entered as it": func(t *testing.T, _ *rlock.Hold, text string) rlock.Owner { return parse(t, text) },
	} {
		t.Run("it ran, and "+what, func(t *testing.T) {
			play(t, func(t *testing.T, r *rig) {
				h := lock(t, r.open().NewLock(name))
				text := r.holder(name)
				_, released := r.unlocking(h, faultproxy.Rule{Do: faultproxy.HoldReply})
				r.Gone(name)
				o := show(t, h, text)
				other := lock(t, r.open().NewLock(name), rlock.As(o))
				r.Proxy.CutAll()
				want(t, testbed.Receive(t, "Unlock returns", released), rlock.ErrUncertain)
				r.heldOnlyBy(name, o, 1)
				want(t, other.Err(), nil)
				r.unlatched(name, 1)
				unlock(t, other)
			})
		})
	}
	t.Run("it did not run", func(t *testing.T) {
		play(t, func(t *testing.T, r *rig) {
			c := r.open()
			h := lock(t, c.NewLock(name))
			late, released := r.unlocking(h, faultproxy.Rule{Do: faultproxy.Withhold})
			o := h.Owner()
			_ = o.String()
			r.Proxy.CutAll()
			want(t, testbed.Receive(t, "Unlock returns", released), rlock.ErrUncertain)
			if late.Release() != 0 {
				t.Error("it ran behind the kill barrier")
			}
			r.heldOnlyBy(name, o, 1)
			r.unlatched(name, 1)
			// The owner is known now, and may be used.
			want(t, c.NewLock(name).UnlockAs(t.Context(), o), nil)
			r.Gone(name)
		})
	})
	t.Run("by an acquire as the owner, which waits for the outcome", func(t *testing.T) {
		play(t, func(t *testing.T, r *rig) {
			l := r.open().NewLock(name)
			h := lock(t, l)
			text := r.holder(name)
			late, released := r.unlocking(h, faultproxy.Rule{Do: faultproxy.Withhold})
			o := parse(t, text)
			waits := watchedContext{Context: t.Context(), looked: make(chan struct{}, 1)}
			again := testbed.Enter(waits, l, rlock.As(o))
			testbed.Receive(t, "the acquire waits", waits.looked)
			r.Proxy.CutAll()
			want(t, testbed.Receive(t, "Unlock returns", released), rlock.ErrUncertain)
			if late.Release() != 0 {
				t.Error("it ran behind the kill barrier")
			}
			inner := granted(t, again)
			r.heldOnlyBy(name, o, 2)
			r.unlatched(name, 1)
			unlock(t, inner)
			want(t, l.UnlockAs(t.Context(), o), nil)
		})
	})
}

// If another client may act as the owner, the unlock keeps its latch.
func TestR4UnlockOfAForeignOwnerKeepsTheLatch(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		c := r.open()
		l := c.NewLock(name)
		for what, show := range map[string]func(h *rlock.Hold){
			"by its text":              func(*rlock.Hold) { r.read(name) },
			"by String":                func(h *rlock.Hold) { _ = h.Owner().String() },
			"by an acquire as it":      func(*rlock.Hold) { unlock(t, lock(t, l, rlock.As(r.read(name)))) },
			"by an acquire elsewhere":  func(*rlock.Hold) { unlock(t, lock(t, c.NewLock("other"), rlock.As(r.read(name)))) },
			"by an unlock that failed": func(*rlock.Hold) { want(t, l.UnlockAs(t.Context(), r.read(name)), rlock.ErrInvalidOption) },
		} {
			before := len(r.of("unlock", name))
			h := lock(t, l)
			show(h)
			unlock(t, h)
			for _, s := range r.of("unlock", name)[before:] {
				if s.latch == "" {
					t.Errorf("shown %s, and unlocked without a latch", what)
				}
			}
		}
		h := lock(t, l)
		_, _ = h.Owner(), h.String() // a text for a log
		before := len(r.of("unlock", name))
		unlock(t, h)
		if s := r.of("unlock", name)[before]; s.latch != "" {
			t.Error("an owner that was printed is unlocked with a latch")
		}
		fresh := r.open() // in this client no owner was read before
		as := lock(t, fresh.NewLock(name), rlock.As(fresh.NewOwner()))
		unlock(t, as)
		sends := r.of("unlock", name)
		if s := sends[len(sends)-1]; s.latch != "" {
			t.Error("an owner of NewOwner is unlocked with a latch")
		}
	})
}

// read returns the only owner of a key.
func (r *rig) read(key string) rlock.Owner {
	r.Helper()
	return parse(r, r.holder(key))
}

func TestR4OwnNumberThatWasNeverHandedOutIsRefused(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		c := r.open()
		l := c.NewLock(name)
		h := lock(t, l)
		unlock(t, h)
		sent := r.Proxy.Count("EVALSHA")
		for _, number := range []string{"0", "-2", "1", "2", "1000001"} {
			o, err := rlock.ParseOwner(c.ID().String() + ":" + number)
			if err != nil {
				continue // Redisson would not write it
			}
			_, err = l.TryLock(t.Context(), rlock.As(o))
			want(t, err, rlock.ErrInvalidOption)
			want(t, l.UnlockAs(t.Context(), o), rlock.ErrInvalidOption)
		}
		if n := r.Proxy.Count("EVALSHA"); n != sent {
			t.Errorf("%d scripts were sent", n-sent)
		}
		// This owner is handed out only now.
		unlock(t, lock(t, l, rlock.As(h.Owner())))
	})
}

// The undo of a lost acquire is an unlock without a latch, and its replies are lost as well.
func TestR4LostUndoOfALostAcquire(t *testing.T) {
	t.Parallel()
	with(t, []faultproxy.Action{faultproxy.CutAfter, faultproxy.CutBefore}, func(t *testing.T, r *rig, do faultproxy.Action) { // not DropReply: the call would time out
		r.Proxy.Add(faultproxy.Rule{Match: acquires, Times: 1, Do: faultproxy.CutAfter})
		repeated := r.Proxy.Add(faultproxy.Rule{Match: again, Times: 1, Do: faultproxy.HoldReply})
		r.Proxy.Add(faultproxy.Rule{Match: unlocks, Times: 2, Do: do})
		ctx, cancel := context.WithCancel(t.Context())
		got := testbed.Enter(ctx, r.open().NewLock(name))
		testbed.Receive(t, "the repetition", repeated.Hit())
		cancel()
		want(t, testbed.Receive(t, "Lock returns", got).Err, context.Canceled)
		r.Proxy.CutAll()
		r.Becomes("it is undone", func() bool { return len(r.of("unlock", name)) == 3 && r.Free(name) })
		r.unlatched(name, 3)
	})
}
