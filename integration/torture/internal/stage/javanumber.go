package stage

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/rlock-go/redisson/integration/internal/machineclock"
	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/integration/torture/internal/history"
)

// saying adds events about one operation of a life to the book.
func (w *javaWorker) saying(r *javaRun) func(history.Event) {
	op := w.ops.Add(1)
	return func(e history.Event) {
		e.Op = op
		if e.At == 0 {
			e.At = machineclock.Now()
		}
		w.stage.Book.Add(r.id, e)
	}
}

// lent is round of a semaphore whose permits nobody owns.
func (w *javaWorker) lent(ctx context.Context, r *javaRun, t *javaThread, lock int) bool {
	s := w.stage
	sem := t.Semaphore(s.Kind.Key(lock, s.names()))
	say := w.saying(r)
	n := 1 + w.rng.IntN(4)/3
	call := history.Event{What: history.Called, Worker: w.number, Lock: lock, Permits: n}
	var reply javapeer.Reply
	var err error
	switch i := w.rng.IntN(10); {
	case i < 3:
		call.Mode = "tryAcquire"
		say(call)
		reply, err = sem.Do(ctx, "tryacquire", n)
	case i < 8:
		call.Mode = "tryAcquire(wait)"
		say(call)
		reply, err = sem.Do(ctx, "tryacquirefor", n, w.between(10*time.Millisecond, 1500*time.Millisecond))
	default:
		call.Mode = "acquire"
		say(call)
		enough := time.AfterFunc(w.between(time.Second, 4*time.Second), func() { t.Interrupt(ctx) })
		reply, err = sem.Do(ctx, "acquire", n)
		enough.Stop()
	}
	if err != nil || call.Mode != "acquire" && !reply.Bool() {
		say(history.Event{What: history.Refused, Kind: refused(err)})
		return err == nil
	}
	say(history.Event{At: reply.At, What: history.Held, Owner: fmt.Sprintf("%s:%d", t.owner, w.ops.Load()), Until: math.MaxInt64})
	time.Sleep(w.stay())
	say(history.Event{What: history.Unlock})
	reply, err = sem.Do(ctx, "release", n)
	e := history.Event{At: reply.At, What: history.Unlocked, Kind: history.OK}
	if err != nil {
		e.At = 0
		e.Kind, _ = exception(err)
	}
	say(e)
	return err == nil
}

// gate is round of a latch: one call.
func (w *javaWorker) gate(ctx context.Context, r *javaRun, t *javaThread, lock int) bool {
	l := t.CountDownLatch(w.stage.Kind.Key(lock, w.stage.names()))
	say := w.saying(r)
	e := history.Event{What: history.Called, Worker: w.number, Lock: lock}
	var reply javapeer.Reply
	var err error
	open := true
	switch n := w.rng.IntN(100); {
	case n < 25:
		e.Mode = history.Await
		say(e)
		enough := time.AfterFunc(w.between(time.Second, 3*time.Second), func() { t.Interrupt(ctx) })
		reply, err = l.Do(ctx, "await")
		enough.Stop()
	case n < 40:
		e.Mode = history.Await
		say(e)
		if reply, err = l.Do(ctx, "awaitfor", w.between(time.Millisecond, 800*time.Millisecond)); err == nil {
			open = reply.Bool()
		}
	case n < 90:
		e.Mode = history.CountDown
		say(e)
		reply, err = l.Do(ctx, "countdown")
	default:
		e.Mode = history.Counting
		say(e)
		reply, err = l.Do(ctx, "count")
	}
	done := history.Event{At: reply.At, What: history.Did, Kind: history.OK}
	switch {
	case err != nil:
		done.At = 0
		done.Kind, _ = exception(err)
	case e.Mode == history.Counting:
		done.Got = int(reply.Int())
	case !open:
		done.Kind = history.Locked
	}
	say(done)
	return err == nil
}
