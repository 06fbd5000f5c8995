package testbed

import (
	"testing"
	"time"
)

const pollEvery = 2 * time.Millisecond // for states without an event

// Within waits up to most for a state, and reports whether it came.
func Within(most time.Duration, state func() bool) bool {
	for end := time.Now().Add(most); !state(); {
		if time.Now().After(end) {
			return false
		}
		<-time.After(pollEvery)
	}
	return true
}

// Becomes waits for a state that must come.
func Becomes(t testing.TB, what string, state func() bool) {
	t.Helper()
	BecomesWithin(t, Patience, what, state)
}

// BecomesWithin waits for a state that must come within most.
func BecomesWithin(t testing.TB, most time.Duration, what string, state func() bool) {
	t.Helper()
	if !Within(most, state) {
		t.Fatalf("never within %v: %s", most, what)
	}
}

// Becomes waits for a state.
func (r *Rig) Becomes(what string, state func() bool) {
	r.Helper()
	Becomes(r.T, what, state)
}

// Stays checks that a state holds for the time d.
func (r *Rig) Stays(what string, d time.Duration, state func() bool) {
	r.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); <-time.After(pollEvery) {
		if !state() {
			r.Fatalf("not any more: %s", what)
		}
	}
}

// Gone waits until a key does not exist.
func (r *Rig) Gone(key string) {
	r.Helper()
	r.Becomes(key+" is free", func() bool { return r.Free(key) })
}

// Listeners waits until n clients are subscribed for a lock: each has a waiter.
func (r *Rig) Listeners(name string, n int) {
	r.Helper()
	r.Becomes("the lock's channel has its subscribers", func() bool { return r.Subscribed(name) == n })
}

// Begun runs call in a new goroutine and returns a channel for its error.
func Begun(call func() error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- call() }()
	return done
}

// Receive waits for a value that must come.
func Receive[T any](t testing.TB, what string, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(Patience):
		t.Fatalf("waited %v for %s", Patience, what)
		panic("unreachable")
	}
}
