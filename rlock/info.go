package rlock

import (
	"context"
	"time"
)

// Info describes a lock that somebody holds.
type Info struct {
	// Owner holds the lock: an acquisition in Go, a thread in Java. Only its text
	// lets others act as it, see Owner.String.
	Owner Owner

	// Count is how many holds the owner has.
	Count int

	// TTL is how long the key will live without a renewal, in whole
	// milliseconds, or NoExpiry.
	TTL time.Duration

	// Waiters is how many clients are subscribed to the release, however many
	// callers wait in each. It is -1 if the account may not count them. It
	// leaves out clients that poll for a moment (see WithCourtesy), and those
	// that wait for a spin lock, which has no messages. For a fair lock it is
	// how many owners have a place in the queue.
	Waiters int

	// Since is when this client acquired the oldest hold that Owner still has
	// here. It is zero if Owner holds the lock elsewhere, because the server
	// does not keep the time.
	Since time.Time
}

// Info returns who holds the lock, for how long, and how many clients wait. Owner,
// Count and TTL are from one moment; the waiters are counted right after it. Show
// the answer to people or on status pages, but don't decide by it: that moment is
// over. Info changes nothing. It sends two commands, in a cluster three; each
// blocks like IsLocked. ErrNotLocked: nobody holds the lock. ErrRefused: the key
// is no lock, and the error says what it is, or it is the server's error. Its
// other errors are [Lock.IsLocked]'s.
func (l *Lock) Info(ctx context.Context) (Info, error) {
	if err := l.unusableIn(ctx); err != nil {
		return Info{}, err
	}
	i, held, err := l.l.Holder(ctx)
	if err == nil && !held {
		err = ErrNotLocked
	}
	if err != nil {
		return Info{}, wrap("ask about", l.Name(), l.named(ctx, err))
	}
	return Info{Owner{i.Owner}, i.Count, i.TTL, i.Waiters, i.Since}, nil
}
