package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rlock-go/redisson/integration/internal/machineclock"
	"github.com/rlock-go/redisson/integration/torture/internal/history"
	"github.com/rlock-go/redisson/rlock"
)

// pick is one of the locks, in the round that it is now.
func (w *worker) pick() int {
	n := len(w.Locks)
	return w.kind.Round(w.Began)*n + w.rng.IntN(n)
}

// takingLent is of a semaphore whose permits nobody owns.
func (s *stay) takingLent(n int, op int64) taking {
	sem := s.client.NewSemaphore(s.kind.Key(s.lock, s.Locks))
	got := func(err error) (granted, error) {
		if err != nil {
			return granted{}, err
		}
		return granted{&lent{sem, n, time.Now().Add(1000 * time.Hour)}, fmt.Sprintf("%v:%d", s.client.ID(), op)}, nil
	}
	return taking{
		try: func(ctx context.Context, _ ...rlock.AcquireOption) (granted, error) {
			return got(sem.TryAcquire(ctx, n))
		},
		wait: func(ctx context.Context, _ ...rlock.AcquireOption) (granted, error) {
			return got(sem.Acquire(ctx, n))
		},
		tryFor: func(ctx context.Context, wait time.Duration, _ ...rlock.AcquireOption) (granted, error) {
			return got(sem.TryAcquireFor(ctx, n, wait))
		},
	}
}

// lent are permits that nobody owns. They are never lost.
type lent struct {
	sem   *rlock.Semaphore
	n     int
	until time.Time
}

func (l *lent) Unlock(ctx context.Context) error            { return l.sem.Release(ctx, l.n) }
func (l *lent) Extend(context.Context, time.Duration) error { return nil }
func (l *lent) Err() error                                  { return nil }
func (l *lent) Done() <-chan struct{}                       { return nil }
func (l *lent) ValidUntil() time.Time                       { return l.until }

var notOpen = sort{history.Locked, []error{rlock.ErrNotOpen}}

// gate waits for a latch, counts it down, or asks it.
func (w *worker) gate(lock int) {
	l := w.client.NewCountDownLatch(w.kind.Key(lock, w.Locks))
	op := w.ops.Add(1)
	begin := func(mode string) {
		w.say(history.Event{What: history.Called, Op: op, Worker: w.number, Lock: lock, Mode: mode})
	}
	ended := func(c call, err error, got int) {
		at := machineclock.Now()
		name, why := c.judge(err)
		// What may have run is uncertain, whatever ended it.
		if errors.Is(err, rlock.ErrUncertain) {
			name = history.Uncertain
		}
		w.say(history.Event{At: at, What: history.Did, Op: op, Kind: name, Got: got})
		if why != "" {
			w.say(history.Event{What: history.Odd, Mode: c.name, Text: why})
		}
	}
	most := 3 * time.Second
	if w.chance(5) {
		most = 20 * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(w.storm.Load().ctx, w.between(0, most)+time.Microsecond)
	defer cancel()
	switch n := w.rng.IntN(100); {
	case n < 25:
		begin(history.Await)
		ended(call{"Await", "await", ctx, []sort{uncertain}, true, true, false}, l.Await(ctx), 0)
	case n < 35:
		begin(history.Await)
		ended(call{"AwaitFor", "await", ctx, []sort{uncertain, notOpen}, true, true, false}, l.AwaitFor(ctx, w.between(0, 800*time.Millisecond)), 0)
	case n < 90:
		begin(history.CountDown)
		ended(call{"CountDown", "count down", ctx, []sort{uncertain}, true, false, true}, l.CountDown(ctx), 0)
	default:
		begin(history.Counting)
		got, err := l.Count(ctx)
		ended(askCall(ctx), err, int(got))
	}
}
