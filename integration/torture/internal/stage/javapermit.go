package stage

import (
	"context"
	"time"

	"github.com/rlock-go/redisson/integration/internal/machineclock"
	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/integration/torture/internal/history"
)

// permit is round of a semaphore: one permit and its release. It always has a lease: without one it would never come back
// from a JVM that was killed.
func (w *javaWorker) permit(ctx context.Context, r *javaRun, t *javaThread, lock int, lease time.Duration) bool {
	sem := t.Permits(LockName(lock))
	say := w.saying(r)
	call := history.Event{
		At: machineclock.Now(), What: history.Called, Worker: w.number, Lock: lock, Lease: lease.Nanoseconds(), Permits: 1,
	}
	var reply javapeer.Reply
	var err error
	switch n := w.rng.IntN(10); {
	case n < 3:
		call.Mode = "tryAcquire"
		say(call)
		reply, err = sem.TryAcquireFor(ctx, 0, lease)
	case n < 8:
		call.Mode = "tryAcquire(wait)"
		say(call)
		reply, err = sem.TryAcquireFor(ctx, w.between(10*time.Millisecond, 1500*time.Millisecond), lease)
	default:
		call.Mode = "acquire"
		say(call)
		enough := time.AfterFunc(w.between(time.Second, 4*time.Second), func() { t.Interrupt(ctx) })
		reply, err = sem.Acquire(ctx, lease)
		enough.Stop()
	}
	if err != nil || reply.Text() == "null" {
		say(history.Event{What: history.Refused, Kind: refused(err)})
		return err == nil
	}
	id := reply.Text()
	// Java's clock, which tells when it ends, has whole milliseconds.
	say(history.Event{At: reply.At, What: history.Held, Owner: id, Until: call.At + (lease - time.Millisecond).Nanoseconds()})
	time.Sleep(w.stay())
	say(history.Event{What: history.Unlock})
	reply, err = sem.TryRelease(ctx, id)
	e := history.Event{At: reply.At, What: history.Unlocked, Kind: history.OK}
	switch {
	case err != nil:
		e.At = 0
		e.Kind, _ = exception(err)
	case !reply.Bool():
		e.Kind = history.NotHeld
	}
	say(e)
	return err == nil
}
