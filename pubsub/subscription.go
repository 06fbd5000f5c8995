package pubsub

import "sync/atomic"

// Subscription is one waiter's share in a channel. Its Close may be called by
// any goroutine.
type Subscription struct {
	hub *Hub
	ch  *channel
	w   Waker

	state         atomic.Int32 // written under hub.mu
	toldConfirmed bool         // Confirmed was called at least once; guarded by hub.calls
}

// Close gives the share up; when it was the channel's last, the channel is
// unsubscribed. It never blocks, and is idempotent. After it returned no call of
// the Waker begins; one that had begun may still be running. It may be called by
// the Waker itself, and by someone who holds a lock that the Waker takes.
func (s *Subscription) Close() {
	h := s.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.state.Swap(closed) == waiting {
		s.ch.left()
		h.reconcile(s.ch)
	}
}
