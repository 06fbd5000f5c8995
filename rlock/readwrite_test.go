package rlock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/testkit/monitor"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

func TestReadersAreTogetherAndWritersAlone(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	clients := []*Client{open(t, s), open(t, s)}
	var together []*Hold
	for i := range 6 {
		read, write := both(clients[i%2], "doc")
		together = append(together, lockOf(t, read))
		if _, err := write.TryLock(t.Context()); !errors.Is(err, ErrLocked) {
			t.Errorf("a writer among %d readers: %v", i+1, err)
		}
	}
	for _, h := range together {
		mustUnlock(t, h)
	}
	var reading, writing atomic.Int32
	var wg sync.WaitGroup
	do := func(l *Lock, in *atomic.Int32) {
		for range 25 {
			err := l.Do(context.Background(), func(context.Context) error {
				in.Add(1)
				defer in.Add(-1)
				if w, r := writing.Load(), reading.Load(); w > 1 || w == 1 && r > 0 {
					t.Errorf("%d write, %d read", w, r)
				}
				busy(100 * time.Microsecond)
				return nil
			})
			if err != nil {
				t.Error(err)
				return
			}
		}
	}
	for i := range 16 {
		read, write := both(clients[i%2], "doc")
		if i < 4 {
			wg.Go(func() { do(write, &writing) })
		} else {
			wg.Go(func() { do(read, &reading) })
		}
	}
	wg.Wait()
	nothingLeft(t, s)
}

func TestReadWriteViews(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	read, write := both(open(t, s), "doc")
	stranger := open(t, s).NewOwner()
	looks := func(what string, o Owner, reads, writes int) {
		t.Helper()
		for l, want := range map[*Lock]int{read: reads, write: writes} {
			counts(t, l, o, want)
			counts(t, l, stranger, 0)
			if is, err := l.IsHeldBy(t.Context(), o); is != (want > 0) || err != nil {
				t.Errorf("%s: held %v, %v", what, is, err)
			}
			if is, err := l.IsLocked(t.Context()); is != (want > 0) || err != nil {
				t.Errorf("%s: locked %v, %v", what, is, err)
			}
			i, err := l.Info(t.Context())
			if want == 0 && !errors.Is(err, ErrNotLocked) || want > 0 && (err != nil || i.Owner != o || i.Count != want || i.TTL < 20*time.Second || i.Since.IsZero()) {
				t.Errorf("%s: %+v, %v", what, i, err)
			}
			if ttl, err := l.RemainTTL(t.Context()); (reads+writes > 0) != (err == nil && ttl > 20*time.Second) {
				t.Errorf("%s: %v, %v", what, ttl, err)
			}
		}
	}
	w1 := lockOf(t, write)
	o := w1.Owner()
	looks("one writes", o, 0, 1)
	w2 := lockOf(t, write, As(o))
	r1 := lockOf(t, read, As(o))
	looks("and reads", o, 1, 2)
	mustUnlock(t, w1)
	mustUnlock(t, w2)
	looks("it goes on reading", o, 1, 0)
	r2 := lockOf(t, read, As(o))
	looks("twice", o, 2, 0)
	mustUnlock(t, r1)
	mustUnlock(t, r2)
	looks("it has ended", o, 0, 0)
	for _, l := range []*Lock{read, write} {
		if err := l.UnlockAs(t.Context(), o); !errors.Is(err, ErrNotHeld) {
			t.Errorf("an unlock of nothing: %v", err)
		}
	}
	nothingLeft(t, s)
}

func TestReaderCannotBecomeAWriter(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s)
	read, write := both(c, "doc")
	r := lockOf(t, read)
	tap := monitor.Tap(t, s.URL())
	for _, acquire := range []func() (*Hold, error){
		func() (*Hold, error) { return write.Lock(t.Context(), As(r.Owner())) },
		func() (*Hold, error) { return write.TryLock(t.Context(), As(r.Owner())) },
		func() (*Hold, error) { return write.TryLockFor(t.Context(), time.Minute, As(r.Owner())) },
	} {
		if _, err := acquire(); !errors.Is(err, ErrInvalidOption) {
			t.Errorf("%v", err)
		}
	}
	if lines := tap.Mark(); len(lines) > 0 {
		t.Errorf("it sent %v", lines)
	}
	if _, err := write.TryLock(t.Context()); !errors.Is(err, ErrLocked) {
		t.Errorf("another owner: %v", err)
	}
	mustUnlock(t, r)
	nothingLeft(t, s)
}

func TestReadWriteForceUnlock(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	a, b := open(t, s), open(t, s)
	read, write := both(a, "doc")
	otherRead, otherWrite := both(b, "doc")
	forced := func(l *Lock, want bool) {
		t.Helper()
		if was, err := l.ForceUnlock(t.Context()); was != want || err != nil {
			t.Errorf("forced: %v, %v; want %v", was, err, want)
		}
	}
	ended := func(h *Hold, knows bool) { // others may have heard of it
		t.Helper()
		known, err := errors.Is(h.Err(), ErrLeaseLost), h.Unlock(t.Context())
		if knows && !known || !errors.Is(err, ErrLeaseLost) || !errors.Is(err, ErrNotHeld) {
			t.Errorf("known before %v; %v", known, err)
		}
	}
	forced(read, false)
	forced(write, false)
	r := lockOf(t, read)
	twice := lockOf(t, read, As(r.Owner()))
	elsewhere := lockOf(t, otherRead)
	forced(write, false)
	if err := r.Err(); err != nil {
		t.Errorf("nobody writes, and who reads: %v", err)
	}
	next := inBackground(t, otherWrite)
	rwListening(t, s, "doc", 1)
	forced(read, true)
	w := <-next
	ended(r, true)
	ended(twice, true)
	ended(elsewhere, true) // its client got the write lock, so it knows
	if n, err := redis.Int(s.Dial(t).Do("EXISTS", fmt.Sprintf("{doc}:%s:rwlock_timeout:1", r.Owner()), fmt.Sprintf("{doc}:%s:rwlock_timeout:2", r.Owner()))); n != 0 || err != nil {
		t.Errorf("%d keys of forced holds, %v", n, err)
	}
	// Another client may force a writer, including its read holds.
	also := lockOf(t, otherRead, As(w.Owner()))
	forced(read, false)
	reader := inBackground(t, read)
	rwListening(t, s, "doc", 1)
	forced(write, true)
	r = <-reader
	ended(w, false)
	ended(also, false)
	mustUnlock(t, r)
	nothingLeft(t, s)
}

func TestReadWriteLockMeetsWhatIsNone(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	c := open(t, s)
	read, write := both(c, "doc")
	h := lockOf(t, c.NewLock("doc"))
	for _, l := range []*Lock{read, write} {
		if _, err := l.Lock(t.Context()); !errors.Is(err, ErrRefused) {
			t.Errorf("beside a plain lock: %v", err)
		}
		if was, err := l.ForceUnlock(t.Context()); was || err != nil {
			t.Errorf("force of a plain lock: %v, %v", was, err)
		}
		if is, err := l.IsLocked(t.Context()); is || err != nil {
			t.Errorf("a plain lock: %v, %v", is, err)
		}
	}
	if err := h.Err(); err != nil {
		t.Error(err)
	}
	mustUnlock(t, h)
	if _, err := conn.Do("SET", "doc", "text"); err != nil {
		t.Fatal(err)
	}
	for _, l := range []*Lock{read, write} {
		if _, err := l.Lock(t.Context()); !errors.Is(err, ErrRefused) {
			t.Errorf("%v", err)
		}
		if _, err := l.ForceUnlock(t.Context()); !errors.Is(err, ErrRefused) {
			t.Errorf("%v", err)
		}
	}
	if text, err := redis.String(conn.Do("GET", "doc")); text != "text" || err != nil {
		t.Errorf("the key has %q, %v", text, err)
	}
	var zero ReadWriteLock
	for _, l := range []*Lock{zero.ReadLock(), zero.WriteLock()} {
		if _, err := l.Lock(t.Context()); !errors.Is(err, ErrInvalidOption) {
			t.Errorf("%v", err)
		}
	}
}

// A read grant shows that no other owner writes.
func TestReadGrantEndsWhatThisClientWrites(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s)
	read, write := both(c, "doc")
	w := lockOf(t, write)
	if _, err := s.Dial(t).Do("DEL", "doc"); err != nil {
		t.Fatal(err)
	}
	r := lockOf(t, read)
	if err := w.Err(); !errors.Is(err, ErrLeaseLost) {
		t.Errorf("it writes beside a reader: %v", err)
	}
	mustUnlock(t, r)
}

// both returns the two locks of a name.
func both(c *Client, name string) (read, write *Lock) {
	rw := c.NewReadWriteLock(name)
	return rw.ReadLock(), rw.WriteLock()
}

// nothingLeft waits until the server has no key: latches are deleted in the background.
func nothingLeft(t *testing.T, s *redistest.Server) {
	t.Helper()
	conn := s.Dial(t)
	becomes(t, "an empty server", func() bool { n, err := redis.Int(conn.Do("DBSIZE")); return n == 0 && err == nil })
}

// inBackground acquires in the background, and sends the hold.
func inBackground(t *testing.T, l *Lock, opts ...AcquireOption) <-chan *Hold {
	got := make(chan *Hold, 1)
	go func() { got <- lockOf(t, l, opts...) }()
	return got
}

// rwListening waits until n clients are subscribed to the name's channel.
func rwListening(t *testing.T, s *redistest.Server, name string, n int) {
	t.Helper()
	conn, channel := s.Dial(t), codec.ReadWriteChannel(name)
	becomes(t, "clients that listen", func() bool {
		counts, err := redis.IntMap(conn.Do("PUBSUB", "NUMSUB", channel))
		return err == nil && counts[channel] == n
	})
}
