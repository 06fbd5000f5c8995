package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/rlock-go/redisson/integration/internal/machineclock"
	"github.com/rlock-go/redisson/integration/javapeer"
)

// javaService is a JVM. A caller is a thread of it.
type javaService struct {
	p    *javapeer.Peer
	next atomic.Int64
}

func openJava(o opening) (*javaService, error) {
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
	return &javaService{p: p}, nil
}

func (s *javaService) lock(ctx context.Context, name string) (hold, error) {
	t := s.p.Thread(fmt.Sprint("t", s.next.Add(1)))
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	err := interruptible(ctx, t, func(ctx context.Context) error {
		_, err := t.LockInterruptibly(ctx, name, javapeer.Watchdog)
		return err
	})
	if err != nil {
		return nil, err
	}
	return javaHold{t, name}, nil
}

// interruptible has a thread do what an interrupt ends when ctx does.
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

func (s *javaService) force(ctx context.Context, name string) error {
	_, err := s.p.Thread("forcer").ForceUnlock(ctx, name)
	return err
}

func (s *javaService) close()        { s.p.Quit() }
func (s *javaService) kill()         { s.p.Kill() }
func (s *javaService) pause() error  { return s.p.Pause() }
func (s *javaService) resume() error { return s.p.Resume() }

type javaHold struct {
	t    *javapeer.Thread
	name string
}

func (h javaHold) unlock(ctx context.Context) error {
	return interruptible(ctx, h.t, func(ctx context.Context) error {
		_, err := h.t.Unlock(ctx, h.name)
		return err
	})
}

func (h javaHold) over() bool { return false }

// work acts in the JVM at its end: whatever the library says, nothing told this thread to stop.
func (h javaHold) work(d time.Duration) (deeds, error) {
	time.Sleep(d)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	r, err := h.t.IsLocked(ctx, h.name)
	if err != nil {
		return deeds{Last: machineclock.Now()}, nil // an exception is an answer of the JVM too
	}
	return deeds{Last: r.At}, nil
}
