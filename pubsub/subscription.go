package pubsub

import (
	"slices"
	"sync/atomic"
)

// Subscription is one waiter's share in a channel. Its Close may be called by
// any goroutine.
type Subscription struct {
	w   Waker
	hub *Hub
	ch  *channel

	state         atomic.Int32 // written under Hub.mu
	toldConfirmed bool         // Confirmed was called at least once; guarded by Hub.calls
}

// The states of a subscription.
const (
	waiting int32 = iota // counted by its channel
	refused              // no longer counted; Refused is called or about to be
	closed               // not counted, and no call may begin
)

func (s *Subscription) is(state int32) bool { return s.state.Load() == state }

// Close gives the share up. If it was the channel's last, the channel is
// unsubscribed. Close never waits for the network or for a Waker, and is idempotent.
// After it returned no call of the Waker begins; one that began before may still be
// running. Close may be called by the Waker, and with a lock held that the Waker takes.
func (s *Subscription) Close() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	if s.state.Swap(closed) != waiting {
		return
	}
	ch := s.ch
	ch.live--
	switch {
	case ch.live == 0:
		ch.subs = nil
	case len(ch.subs) > 32 && ch.live < len(ch.subs)/2:
		// Rare enough for a constant cost per Close, and often enough that in a
		// long list the closed never outnumber the live.
		ch.subs = slices.DeleteFunc(slices.Clone(ch.subs), func(s *Subscription) bool { return !s.is(waiting) })
	}
	s.hub.reconcile(ch)
}
