package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/kit/machineclock"
)

// openJava starts a JVM. Each acquire is made by a new thread.
func openJava(o opening) (*service, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	opts := []javapeer.Option{javapeer.WatchdogTimeout(lease), javapeer.CommandTimeout(patience), javapeer.SubscriptionPoolSize(10)}
	if o.addr != "" {
		opts = append(opts, javapeer.ConnectionPoolSize(o.size()))
	}
	p, err := javapeer.Launch(ctx, javapeer.Newest, o.url(), opts...)
	if err != nil {
		return nil, err
	}
	var next atomic.Int64
	return &service{
		lock: func(ctx context.Context, name string) (hold, error) {
			if err := ctx.Err(); err != nil {
				return hold{}, err
			}
			t := p.Thread(fmt.Sprint("t", next.Add(1)))
			err := interruptible(ctx, t, func(ctx context.Context) error {
				_, err := t.LockInterruptibly(ctx, name, javapeer.Watchdog)
				return err
			})
			return javaHold(t, name), err
		},
		force: func(ctx context.Context, name string) error {
			_, err := p.Thread("forcer").ForceUnlock(ctx, name)
			return err
		},
		close: func() { p.Quit() }, kill: p.Kill, pause: p.Pause, resume: p.Resume,
	}, nil
}

// interruptible runs a thread's call, and interrupts it when ctx ends.
func interruptible(ctx context.Context, t *javapeer.Thread, does func(context.Context) error) error {
	whole := context.WithoutCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- does(whole) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	t.Interrupt(whole)
	select {
	case err := <-done:
		return err
	case <-time.After(limit):
		return errors.New("an interrupt did not end it")
	}
}

func javaHold(t *javapeer.Thread, name string) hold {
	return hold{
		unlock: func(ctx context.Context) error {
			return interruptible(ctx, t, func(ctx context.Context) error {
				_, err := t.Unlock(ctx, name)
				return err
			})
		},
		// The thread acts in the JVM once, at the end: nothing has told it to stop.
		work: func(d time.Duration) (deeds, error) {
			time.Sleep(d)
			ctx, cancel := context.WithTimeout(context.Background(), limit)
			defer cancel()
			r, err := t.IsLocked(ctx, name)
			if err != nil {
				return deeds{Last: machineclock.Now()}, nil // an exception is an answer of the JVM too
			}
			return deeds{Last: r.At}, nil
		},
	}
}
