package pubsub

// Subscription is one waiter's share in a channel. Its Close may be called by
// any goroutine.
type Subscription struct {
	share
	tables *tables
	ch     *channel
}

// Close gives the share up; when it was the channel's last, the channel is
// unsubscribed. It never blocks, and is idempotent. After it returned no call of
// the Waker begins; one that had begun may still be running. It may be called by
// the Waker itself, and by someone who holds a lock that the Waker takes.
func (s *Subscription) Close() {
	t := s.tables
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.state.Swap(closed) == waiting {
		s.ch.left()
		t.reconcile(s.ch)
	}
}
