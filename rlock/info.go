package rlock

import (
	"context"
	"time"
)

// Info is what is known of a lock that somebody holds.
type Info struct {
	// Owner is who holds it: a goroutine's acquisition in Go, a thread in Java.
	// From now on others may act as this owner, as with ParseOwner.
	Owner Owner

	// Count is how many holds the owner has.
	Count int

	// TTL is how long the key has still to live, in whole milliseconds, or
	// NoExpiry.
	TTL time.Duration

	// Waiters is how many clients listen for its release, however many callers
	// wait in each. -1 says that the account may not count them. A client that
	// polls for a moment is not counted (see WithCourtesy), nor is one that waits
	// for a spin lock, which has no messages.
	Waiters int

	// Since is when this client acquired the oldest hold that Owner still has in
	// it. It is zero if Owner holds the lock elsewhere: the server does not keep
	// the time.
	Since time.Time
}

// Info tells who holds the lock, for how long, and how many wait. Owner, Count
// and TTL are of one moment; the waiters are counted right after it. The answer is
// for people and status pages, not for a decision: it is about a moment that is
// over. ErrNotLocked: nobody holds the lock. A hash that is no lock is ErrRefused,
// and the error says what was found. It changes nothing, and sends two commands,
// in a cluster three. Each blocks like IsLocked, whose errors it has.
func (l *Lock) Info(ctx context.Context) (Info, error) {
	if err := l.askable(); err != nil {
		return Info{}, err
	}
	i, held, err := l.l.Holder(ctx)
	if err == nil && !held {
		err = ErrNotLocked
	}
	if err != nil {
		return Info{}, wrap("ask about", l.Name(), err)
	}
	return Info{Owner{i.Owner}, i.Count, i.TTL, i.Waiters, i.Since}, nil
}
