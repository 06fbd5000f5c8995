package pubsub

import "sync/atomic"

// Subscription is one waiter's share in a channel. Its Close may be called by
// any goroutine.
type Subscription struct {
	w   Waker // what is called
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

// Close gives the share up; when it was the channel's last, the channel is
// unsubscribed. It never blocks, and is idempotent. After it returned no call of
// the Waker begins; one that had begun may still be running. It may be called by
// the Waker itself, and with a lock held that the Waker takes.
func (s *Subscription) Close() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	if s.state.Swap(closed) == waiting {
		s.ch.left()
		s.hub.reconcile(s.ch)
	}
}
