package rlock

import "github.com/rlock-go/redisson/internal/kind"

// ReadWriteLock is Redisson's RReadWriteLock: two locks with one name. Any number of
// owners hold the read lock at once, or one owner holds the write lock alone. A
// handle is cheap, has no state, and is safe for concurrent use. The calls of a zero
// ReadWriteLock's locks return ErrInvalidOption.
//
//   - A writer may read: ReadLock with As and the writer's owner. If it then
//     releases the write lock first, it still holds the read lock, and other
//     readers can enter.
//   - A reader can't become a writer. With As, an owner that reads in this client
//     gets ErrInvalidOption from every acquire of the write lock, since it would
//     wait for itself.
//   - There is no queue among processes: readers that keep coming keep a writer
//     out. Within a client, writers have one queue and readers another.
//   - All clients of a read-write lock, Java's too, need the same watchdog timeout.
//     In Java, a reader's renewal sets the whole lock to that client's timeout, even
//     if others need more. This client corrects that within a third of its own
//     timeout. If the other timeout is shorter, the lock may end before, and
//     ValidUntil can't know that.
//   - An Extend that shortens a read hold's lease does not shorten the lock's.
//   - Use one kind for one name. If the key is a hash but no read-write lock, every
//     acquire returns ErrRefused and leaves it alone.
//
// Courtesy does not apply to it.
type ReadWriteLock struct{ read, write Lock }

// NewReadWriteLock returns a handle for the read-write lock with this name,
// Redisson's getReadWriteLock(name). It does no I/O. Names follow NewLock's rules.
func (c *Client) NewReadWriteLock(name string) *ReadWriteLock {
	return &ReadWriteLock{*c.newLock(kind.ReadLock, name), *c.newLock(kind.WriteLock, name)}
}

// ReadLock is the lock that any number of owners hold at once, while nobody else
// writes. Its IsLocked, HoldCount and the like are about reading; RemainTTL is that
// of the whole lock. ForceUnlock ends all reading, and does nothing while somebody
// writes. Info names one of the readers. It is Redisson's readLock.
func (l *ReadWriteLock) ReadLock() *Lock { return &l.read }

// WriteLock is the lock that one owner holds alone. Its IsLocked, HoldCount and the
// like are about writing; RemainTTL is that of the whole lock. ForceUnlock ends the
// writer's read holds too, and does nothing while nobody writes. It is Redisson's
// writeLock.
func (l *ReadWriteLock) WriteLock() *Lock { return &l.write }
