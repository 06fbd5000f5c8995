package interop

import (
	"context"
	"time"

	"github.com/rlock-go/redisson/integration/internal/machineclock"
	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/rlock"
)

// outcome is how a call ended that was made in the background.
type outcome[T any] struct {
	value T
	err   error
}

func background[T any](f func() (T, error)) <-chan outcome[T] {
	c := make(chan outcome[T], 1)
	go func() {
		v, err := f()
		c <- outcome[T]{v, err}
	}()
	return c
}

// await takes the result of a background call that has to succeed, soon.
func await[T any](s *scene, c <-chan outcome[T]) T {
	s.Helper()
	return awaitFor(s, patience, c)
}

func awaitFor[T any](s *scene, d time.Duration, c <-chan outcome[T]) T {
	s.Helper()
	select {
	case o := <-c:
		s.must(o.err)
		return o.value
	case <-time.After(d):
		s.Fatalf("no result within %v", d)
		panic("unreachable")
	}
}

// entry is a Go acquisition and when it returned, on CLOCK_MONOTONIC.
type entry struct {
	hold *rlock.Hold
	at   int64
}

// lockWith acquires the scene's lock.
func (s *scene) lockWith(c *rlock.Client) func() (entry, error) {
	ctx := s.Context()
	return func() (entry, error) {
		h, err := s.lockOf(c).Lock(ctx)
		return entry{h, machineclock.Now()}, err
	}
}

// goWaits starts a Go waiter of the scene's lock, which must be held, and returns once it waits: it is the last of so
// many connections that listen, and its try after that was executed too. (A renewal that the server counts in between
// would end this a moment early, before the second try. That is no harm: the waiter then finds the lock free by it.)
//
// Nobody listens for a spin lock's release: its waiter waits once it was refused twice.
func goWaits[T any](s *scene, listening int, enter func() (T, error)) <-chan outcome[T] {
	s.Helper()
	if s.kind == javapeer.Spin {
		listening = 0
	}
	// Who has entered unsubscribes behind its caller's back.
	s.eventually("an end of earlier waits", func() bool { return s.subscribers() == max(0, listening-1) })
	tries := s.evalshas()
	entered := background(enter)
	s.eventually("a Go waiter", func() bool { return s.subscribers() == listening && s.evalshas() >= tries+2 })
	return entered
}

// javaWaits starts a Java waiter of the scene's lock, which must be held, and returns once it waits.
func (s *scene) javaWaits(thread *javapeer.Thread) <-chan outcome[javapeer.Reply] {
	s.Helper()
	ctx := s.Context()
	entered := background(func() (javapeer.Reply, error) { return thread.Lock(ctx, s.name, javapeer.Watchdog) })
	s.javaParked(thread)
	return entered
}

// javaParked returns once the thread waits for the scene's lock.
func (s *scene) javaParked(thread *javapeer.Thread) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	s.must(thread.AwaitParked(ctx))
	if n := s.subscribers(); (n == 0) != (s.kind == javapeer.Spin) {
		s.Fatalf("%d connections listen to the channel while a Java waiter waits", n)
	}
}

// stillWaits fails if a waiter has come to an end.
func stillWaits[T any](s *scene, c <-chan outcome[T]) {
	s.Helper()
	select {
	case o := <-c:
		s.Fatalf("entered too early: %v, %v", o.value, o.err)
	default:
	}
}
