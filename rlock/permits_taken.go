package rlock

import (
	"context"
	"encoding/hex"
	"time"

	"github.com/rlock-go/redisson/internal/kind"
)

// Permits are the permits that one acquire of a [PermitSemaphore] took. They end together:
// when they are released, when their lease is lost, when one of them is released by its id, or
// when their client is closed. All methods are safe for concurrent use, and work like those of
// a [Hold]. The zero Permits are over. Permits must not be copied.
type Permits struct {
	_ noCopy
	h *Hold
	n int
}

// hold returns the Hold of these permits, or a zero Hold.
func (p *Permits) hold() *Hold {
	if p.h == nil {
		return new(Hold)
	}
	return p.h
}

// IDs returns the permits' ids as Java shows them: 32 hex digits each. Another process can
// release the permits by their ids.
func (p *Permits) IDs() []string {
	if p.h == nil {
		return nil
	}
	ids := kind.PermitIDs(p.h.h.OwnerText(), p.n)
	for i, id := range ids {
		ids[i] = hex.EncodeToString([]byte(id))
	}
	return ids
}

// Name is the semaphore's name, as it was given to NewPermitSemaphore.
func (p *Permits) Name() string { return p.hold().Name() }

// Release gives the permits back. It sends and blocks as [Hold.Unlock] does.
//
//   - ErrLeaseLost, which is ErrNotHeld too: somebody had released some of them by their
//     ids, or their lease was over. The others are back.
//   - ErrReleased: an earlier Release came first; nothing was changed.
//   - ErrUncertain: no answer came in time. The release may have run. The client repeats it
//     while the lease lasts.
//   - ErrUnavailable: no server has run the release so far. The lease ends, or the client
//     releases them later.
//   - ErrRefused: the server's error.
//   - ErrUnannounced: they are back, but waiters could not be notified.
//   - ErrUnreplicated: they are back, but no replica acknowledged it.
//   - ErrClosed: the client is closed; their lease ends.
//   - ErrInvalidOption: the zero Permits.
func (p *Permits) Release(ctx context.Context) error { return p.hold().Unlock(ctx) }

// Extend gives permits that were taken with Lease a new lease of d from now, at least 1 ms.
// It blocks until the server answers, ctx ends or a command timeout has passed.
//
//   - ErrLeaseLost, which is ErrNotHeld too: the permits were lost.
//   - ErrUncertain: there was no answer. Only the shorter lease is trusted.
//   - ErrUnavailable, ErrRefused, or ctx's error alone: nothing was changed.
//   - ErrUnreplicated: the new lease counts only while the shorter of both lasts.
//   - ErrReleased, ErrClosed: the permits were released, or the client is closed.
//   - ErrInvalidOption: the permits were taken without Lease, or d is below 1 ms.
func (p *Permits) Extend(ctx context.Context, d time.Duration) error { return p.hold().Extend(ctx, d) }

// Done returns a channel that is closed when the permits are over, see [Hold.Done].
func (p *Permits) Done() <-chan struct{} { return p.hold().Done() }

// Err is nil while the permits are held, see [Hold.Err].
func (p *Permits) Err() error { return p.hold().Err() }

// ValidUntil returns the time until which the permits are certainly held without another
// renewal, see [Hold.ValidUntil].
func (p *Permits) ValidUntil() time.Time { return p.hold().ValidUntil() }

// Context derives a context from parent that also ends with the permits, see [Hold.Context].
func (p *Permits) Context(parent context.Context) (context.Context, context.CancelFunc) {
	return p.hold().Context(parent)
}
