package stage

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/rlock-go/redisson/integration/internal/machineclock"
	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/integration/torture/internal/history"
)

// together is round of a multi-lock of up to three locks, in any order. Without a lease of its own: where a member was lost on
// the way, Redisson would set the lease of whoever holds it by then. Nobody is interrupted: Redisson 4.7.0 takes that for a refusal, its thread stays
// interrupted, and so it asks again and again, is granted a member once more each time, and gives none back. What an exception
// leaves is released member by member.
func (w *javaWorker) together(ctx context.Context, r *javaRun, t *javaThread) bool {
	s := w.stage
	members := w.rng.Perm(s.Locks)[:min(1+w.rng.IntN(3), s.Locks)]
	if w.rng.IntN(10) < 6 {
		slices.Sort(members)
	}
	var ops []int64
	var names []string
	for _, lock := range members {
		ops, names = append(ops, w.ops.Add(1)), append(names, LockName(lock))
	}
	each := func(e history.Event) {
		if e.At == 0 {
			e.At = machineclock.Now()
		}
		for i, op := range ops {
			e.Op = op
			if e.What == history.Called {
				e.Lock = members[i]
			}
			s.Book.Add(r.id, e)
		}
	}
	all, name := t.Of(javapeer.Multi), strings.Join(names, ",")
	call := history.Event{At: machineclock.Now(), What: history.Called, Worker: w.number}
	var reply javapeer.Reply
	var err error
	got := true
	switch n := w.rng.IntN(10); {
	case n < 3:
		call.Mode = "tryLock"
		each(call)
		reply, err = all.TryLock(ctx, name)
		got = err == nil && reply.Bool()
	case n < 9:
		call.Mode = "tryLock(wait)"
		each(call)
		reply, err = all.TryLockFor(ctx, name, w.between(10*time.Millisecond, 800*time.Millisecond), javapeer.Watchdog)
		got = err == nil && reply.Bool()
	default:
		call.Mode = "lockInterruptibly"
		each(call)
		reply, err = all.LockInterruptibly(ctx, name, javapeer.Watchdog)
	}
	apart := func() {
		for _, name := range names {
			t.Unlock(ctx, name) // what it does not hold it is told of
		}
	}
	if err != nil || !got {
		kind := refused(err)
		each(history.Event{What: history.Refused, Kind: kind})
		if err != nil {
			apart()
		}
		return kind == history.Locked
	}
	// Each member is renewed from its grant on, which was after the call. How late that was nobody knows.
	each(history.Event{At: reply.At, What: history.Held, Owner: t.owner, Until: call.At + s.Watchdog.Nanoseconds()})
	time.Sleep(w.stay())
	each(history.Event{What: history.Unlock})
	if reply, err = all.Unlock(ctx, name); err != nil {
		kind, clean := exception(err)
		each(history.Event{What: history.Unlocked, Kind: kind, Mode: history.Left})
		apart()
		return clean
	}
	each(history.Event{At: reply.At, What: history.Unlocked, Kind: history.OK})
	return true
}
