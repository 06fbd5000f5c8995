package pubsub

import "sync/atomic"

// Flag is a Waker for a goroutine that waits in a select. However many wake-ups
// come while it isn't looking, it finds one.
type Flag struct {
	c   chan struct{}
	err atomic.Pointer[error]
}

// NewFlag returns a flag that is down.
func NewFlag() *Flag { return &Flag{c: make(chan struct{}, 1)} }

// C is the channel on which the flag is seen: receiving takes the flag down. It is never closed.
func (f *Flag) C() <-chan struct{} { return f.c }

// Err is nil until a subscription of the flag is refused, then the reason. Call it after
// receiving from C.
func (f *Flag) Err() error {
	if p := f.err.Load(); p != nil {
		return *p
	}
	return nil
}

// Confirmed puts the flag up.
func (f *Flag) Confirmed() { f.raise() }

// Message puts the flag up. The payload is not kept.
func (f *Flag) Message([]byte) { f.raise() }

// Refused records err for Err and puts the flag up.
func (f *Flag) Refused(err error) {
	f.err.CompareAndSwap(nil, &err)
	f.raise()
}

func (f *Flag) raise() {
	select {
	case f.c <- struct{}{}:
	default:
	}
}
