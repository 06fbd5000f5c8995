package rlock

import "github.com/rlock-go/redisson/internal/kind"

// ReadWriteLock is Redisson's RReadWriteLock: two locks of one name. Any number of
// owners hold the read lock at once, or one owner holds the write lock alone. A
// handle is cheap, holds no state of its own, and is safe for concurrent use. The
// calls of a zero ReadWriteLock's locks return ErrInvalidOption.
//
//   - A writer may read: ReadLock with As and the writer's owner. If it then
//     releases the write lock first, it goes on reading, and other readers come in.
//   - A reader can't become a writer. With As, an owner that reads in this client
//     gets ErrInvalidOption from every acquire of the write lock, since it would
//     wait for itself.
//   - There is no queue among processes: readers that keep coming keep a writer
//     out. Within a client, writers have one queue and readers another.
//   - All clients of a read-write lock, Java's too, need one watchdog timeout. In
//     Java, a reader's renewal sets the whole lock to that client's timeout, even if
//     others need more. This client puts it right within a third of its own
//     timeout; a lock with a shorter timeout elsewhere may end before, and
//     ValidUntil can't know that.
//   - Extend by less than a read hold has left shortens that hold, and not the lock.
//   - Use one kind for one name. A hash that is no read-write lock is
//     ErrRefused to every acquire, and left alone.
//
// Courtesy does not apply to it.
type ReadWriteLock struct{ read, write Lock }

// NewReadWriteLock returns a handle for the read-write lock with this name,
// Redisson's getReadWriteLock(name). It does no I/O. Names are as NewLock's.
func (c *Client) NewReadWriteLock(name string) *ReadWriteLock {
	return &ReadWriteLock{*c.newLock(kind.ReadLock, name), *c.newLock(kind.WriteLock, name)}
}

// ReadLock is the lock that any number of owners hold at once, while nobody else
// writes. Its IsLocked, HoldCount and the like are about reading; RemainTTL is of
// the whole lock. ForceUnlock ends all reading, and does nothing while somebody
// writes. Info names one of the readers. It is Redisson's readLock.
func (l *ReadWriteLock) ReadLock() *Lock { return &l.read }

// WriteLock is the lock that one owner holds alone. Its IsLocked, HoldCount and the
// like are about writing; RemainTTL is of the whole lock. ForceUnlock ends what
// the writer reads, too, and does nothing while nobody writes. It is Redisson's
// writeLock.
func (l *ReadWriteLock) WriteLock() *Lock { return &l.write }
