package stage

import (
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
	lock := w.rng.IntN(s.Locks)
	name := LockName(lock)
	op := w.ops.Add(1)
	lease, term := javapeer.Watchdog, s.Watchdog
	if w.rng.IntN(3) == 0 {
		lease = w.between(80*time.Millisecond, s.Watchdog)
		term = lease
	}
	e := history.Event{What: history.Called, Op: op, Worker: w.number, Lock: lock, Lease: max(lease, 0).Nanoseconds()}
	say := func(e history.Event) {
		if e.At == 0 {
			e.At = machineclock.Now()
		}
		s.Book.Add(r.id, e)
	}
	var reply javapeer.Reply
	var err error
	got := true
	switch n := w.rng.IntN(10); {
	case n < 3:
		e.Mode, e.Lease, term = "tryLock", 0, s.Watchdog
		e.At = machineclock.Now()
		say(e)
		reply, err = t.TryLock(ctx, name)
		got = err == nil && reply.Bool()
	case n < 8:
		e.Mode = "tryLock(wait)"
		e.At = machineclock.Now()
		say(e)
		reply, err = t.TryLockFor(ctx, name, w.between(10*time.Millisecond, 1500*time.Millisecond), lease)
		got = err == nil && reply.Bool()
	default:
		e.Mode = "lockInterruptibly"
		e.At = machineclock.Now()
		say(e)
		enough := time.AfterFunc(w.between(time.Second, 4*time.Second), func() { t.Interrupt(ctx) })
		reply, err = t.LockInterruptibly(ctx, name, lease)
		enough.Stop()
	}
	if err != nil || !got {
		kind, clean := "false", true
		if err != nil {
			kind, clean = exception(err)
		}
		say(history.Event{What: history.Refused, Op: op, Kind: kind})
		return clean
	}
	say(history.Event{
		At: reply.At, What: history.Held, Op: op, Owner: t.owner, Until: e.At + term.Nanoseconds(),
	})
	stay := w.between(0, 15*time.Millisecond)
	if n := w.rng.IntN(20); n == 0 {
		stay = w.between(100*time.Millisecond, s.Watchdog*3/2)
	} else if n < 4 {
		stay = w.between(20*time.Millisecond, 200*time.Millisecond)
	}
	time.Sleep(stay)
	say(history.Event{What: history.Unlock, Op: op})
	if reply, err = t.Unlock(ctx, name); err != nil {
		kind, clean := exception(err)
		say(history.Event{What: history.Unlocked, Op: op, Kind: kind})
		return clean
	}
	say(history.Event{At: reply.At, What: history.Unlocked, Op: op, Kind: history.OK})
	return true
}
