package rlock

import (
	"context"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/locks"
)

// NewFencedLock returns a handle for the fenced lock with this name, Redisson's
// getFencedLock(name). It does no I/O. Names follow NewLock's rules.
//
// A fenced lock is a [Lock] whose grants are numbered. Each grant, even a
// re-entry, raises the number, which is the hold's fencing token, see
// [Hold.Token]. A holder that was paused for longer than its lease passes an older
// token than its successor, so a resource that refuses tokens below the highest
// one it has seen is safe from it. A token is higher by more than 1 after a grant
// that was given back. Tokens never repeat while the server keeps the key that
// counts them. That key has no TTL, and nothing deletes it.
//
// Its key is a plain lock's, so the two exclude and wake each other. But a plain
// lock raises no token, so a resource can't tell its holder from the one before.
// Use one kind for one name.
func (c *Client) NewFencedLock(name string) *Lock { return c.newLock(kind.Fenced, name) }

// Token returns the fencing token: the newest that the hold's owner was granted by a
// NewFencedLock of the name in this client. It is at least 1, or 0 for a lock of
// another kind. After a re-entry the outer hold's Token is the newer one, which the
// resource may have seen already. It came with the grant, so it is never the next
// holder's. It stays the same when the hold is over.
func (h *Hold) Token() int64 {
	if h.isZero() {
		return 0
	}
	return h.h.Token()
}

// LastToken returns the token of the lock's latest grant to anybody, 0 if there
// was none. It blocks like IsLocked. ErrInvalidOption: the lock is not from
// NewFencedLock. Its other errors are [Lock.IsLocked]'s. A holder must pass on its
// [Hold.Token] instead: this token may be another holder's. It is Redisson's
// getToken.
func (l *Lock) LastToken(ctx context.Context) (int64, error) {
	answer, err := l.ask(ctx, kind.LastToken, locks.Owner{})
	return answer.N, err
}
