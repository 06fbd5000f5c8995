package stage

import (
	"cmp"
	"context"
	"math/rand/v2"
	"time"

	"github.com/rlock-go/redisson/integration/internal/machineclock"
	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/integration/torture/internal/history"
)

// javaWorker drives one thread of a JVM at a time.
type javaWorker struct {
	*javaProcess
	number int
	rng    *rand.Rand
}

func (w *javaWorker) between(least, most time.Duration) time.Duration {
	return (least + time.Duration(w.rng.Int64N(int64(most-least)))).Truncate(time.Millisecond)
}

func (w *javaWorker) loop() {
	var r *javaRun
	var t *javaThread
	for {
		select {
		case <-w.stopping:
			return
		case <-time.After(w.between(time.Millisecond, 20*time.Millisecond)):
		}
		now := w.current()
		if now == nil {
			r, t = nil, nil
			continue
		}
		if now != r || t == nil {
			r, t = now, now.thread()
		}
		if !w.round(r, t) {
			t = nil
		}
	}
}

// round is one acquire and its release. It reports whether the thread can be used again.
func (w *javaWorker) round(r *javaRun, t *javaThread) bool {
	s := w.stage
	r.working(t, true)
	defer r.working(t, false)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if s.Kind.Several {
		return w.together(ctx, r, t)
	}
	lock := w.rng.IntN(s.Locks)
	switch round := s.Kind.Round(s.began) * s.Locks; {
	case s.Kind.Lasting:
		return w.lent(ctx, r, t, round+lock)
	case s.Kind.Count > 0:
		return w.gate(ctx, r, t, round+lock)
	}
	name := LockName(lock)
	op := w.ops.Add(1)
	lease, term := javapeer.Watchdog, s.Watchdog
	if w.rng.IntN(3) == 0 {
		lease = w.between(80*time.Millisecond, s.Watchdog)
		term = lease
	}
	if s.Kind.Permits > 0 {
		return w.permit(ctx, r, t, lock, max(lease, s.Watchdog/5))
	}
	part := s.Kind.Parts[0]
	if len(s.Kind.Parts) > 1 && w.rng.IntN(10) < 4 {
		part = s.Kind.Parts[1]
	}
	as := t.Of(part)
	e := history.Event{
		What: history.Called, Op: op, Worker: w.number, Lock: lock, Lease: max(lease, 0).Nanoseconds(), Read: part == javapeer.Read,
	}
	say := func(e history.Event) {
		if e.At == 0 {
			e.At = machineclock.Now()
		}
		s.Book.Add(r.id, e)
	}
	if s.Kind.Order && t.place == "" {
		if owner, err := t.Owner(ctx); err == nil {
			t.place = owner.Text()
		}
	}
	var reply javapeer.Reply
	var err error
	var token *int64
	got := true
	switch n := w.rng.IntN(10); {
	case n < 3:
		e.Mode, e.Lease, term = "tryLock", 0, s.Watchdog
		e.At = machineclock.Now()
		say(e)
		reply, err = as.TryLock(ctx, name)
		got = err == nil && reply.Bool()
	case n < 8:
		e.Mode = "tryLock(wait)"
		e.At = machineclock.Now()
		say(e)
		wait := cmp.Or(s.Place, w.between(10*time.Millisecond, 1500*time.Millisecond))
		if s.Kind.Tokens {
			if reply, err = as.TryLockAndGetToken(ctx, name, wait, lease); err == nil && reply.Text() != "null" {
				token = new(reply.Int())
			}
			got = token != nil
		} else {
			reply, err = as.TryLockFor(ctx, name, wait, lease)
			got = err == nil && reply.Bool()
		}
	default:
		e.Mode = "lockInterruptibly"
		e.At = machineclock.Now()
		say(e)
		enough := time.AfterFunc(w.between(time.Second, 4*time.Second), func() {
			if !s.Kind.Order { // its place would keep all others out
				t.Interrupt(ctx)
			}
		})
		reply, err = as.LockInterruptibly(ctx, name, lease)
		enough.Stop()
	}
	if err != nil || !got {
		kind := refused(err)
		say(history.Event{What: history.Refused, Op: op, Kind: kind})
		// Its repeated acquire may have met its first.
		return kind == history.Locked
	}
	until := e.At + term.Nanoseconds()
	if s.Kind.Tokens && token == nil {
		// It is this grant's as long as the lock is.
		if last, err := as.Token(ctx, name); err == nil && last.At < until {
			token = new(last.Int())
		}
	}
	say(history.Event{
		At: reply.At, What: history.Held, Op: op, Owner: t.owner, Until: until, Token: token, Place: t.place,
	})
	if s.Kind.Once && w.rng.IntN(3) == 0 {
		w.again(ctx, as, say, history.Event{Worker: w.number, Lock: lock, Owner: t.owner, Outer: op, Until: until})
	}
	time.Sleep(w.stay())
	say(history.Event{What: history.Unlock, Op: op})
	if reply, err = as.Unlock(ctx, name); err != nil {
		kind, clean := exception(err)
		say(history.Event{What: history.Unlocked, Op: op, Kind: kind})
		return clean
	}
	say(history.Event{At: reply.At, What: history.Unlocked, Op: op, Kind: history.OK})
	return true
}

// stay is for how long it is inside.
func (w *javaWorker) stay() time.Duration {
	switch n := w.rng.IntN(20); {
	case n == 0:
		return w.between(100*time.Millisecond, w.stage.Watchdog*3/2)
	case n < 4:
		return w.between(20*time.Millisecond, 200*time.Millisecond)
	}
	return w.between(0, 15*time.Millisecond)
}

// again asks for a lock once more that the thread has, which is to be refused.
func (w *javaWorker) again(ctx context.Context, as *javapeer.Thread, say func(history.Event), e history.Event) {
	e.What, e.Op, e.Mode, e.At = history.Called, w.ops.Add(1), "tryLock", machineclock.Now()
	say(e)
	name := LockName(e.Lock)
	reply, err := as.TryLock(ctx, name)
	if err != nil || !reply.Bool() {
		say(history.Event{What: history.Refused, Op: e.Op, Kind: refused(err)})
		return
	}
	say(history.Event{At: reply.At, What: history.Held, Op: e.Op, Owner: e.Owner, Until: e.Until})
	say(history.Event{What: history.Unlock, Op: e.Op})
	_, err = as.Unlock(ctx, name)
	kind := history.OK
	if err != nil {
		kind, _ = exception(err)
	}
	say(history.Event{What: history.Unlocked, Op: e.Op, Kind: kind})
}

// refused names why Java did not get a lock.
func refused(err error) string {
	if err == nil {
		return history.Locked
	}
	kind, clean := exception(err)
	if clean {
		return history.Reentered
	}
	return kind
}
