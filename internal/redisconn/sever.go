package redisconn

import "sync/atomic"

// severed is why a connection was ended from outside; nil while it was not.
type severed struct{ cause atomic.Pointer[error] }

// or gives the cause in the place of err, which is only what its end looks like
// from inside.
func (s *severed) or(err error) error {
	if cause := s.cause.Load(); cause != nil && err != nil {
		return *cause
	}
	return err
}

// Sever ends every connection of t that is open or being greeted, at once,
// whatever is under way on it: reads end with cause. A Dial that has not
// connected yet is not among them.
func (t *Target) Sever(cause error) {
	t.open.mu.Lock()
	conns := make([]*Conn, 0, len(t.open.set))
	for c := range t.open.set {
		conns = append(conns, c)
	}
	t.open.mu.Unlock()
	for _, c := range conns {
		c.guard.severed.cause.CompareAndSwap(nil, &cause)
		c.Interrupt()
	}
}
