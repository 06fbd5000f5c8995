package rlock

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/monitor"
	"github.com/rlock-go/redisson/internal/redistest"
)

// both are the two locks of a name.
func both(c *Client, name string) (read, write *Lock) {
	rw := c.NewReadWriteLock(name)
	return rw.ReadLock(), rw.WriteLock()
}

// nothingLeft checks that the server has no key but latches, which are deleted behind their callers' backs.
func nothingLeft(t *testing.T, s *redistest.Server) {
	t.Helper()
	conn := s.Dial(t)
	becomes(t, "an empty server", func() bool { n, err := redis.Int(conn.Do("DBSIZE")); return n == 0 && err == nil })
}

// inBackground acquires in the background, and gives the hold.
func inBackground(t *testing.T, l *Lock, opts ...AcquireOption) <-chan *Hold {
	got := make(chan *Hold, 1)
	go func() { got <- lockOf(t, l, opts...) }()
	return got
}

// rwListening waits until so many clients listen for the name's release.
func rwListening(t *testing.T, s *redistest.Server, name string, n int) {
	t.Helper()
	conn, channel := s.Dial(t), codec.ReadWriteChannel(name)
	becomes(t, "clients that listen", func() bool {
		counts, err := redis.IntMap(conn.Do("PUBSUB", "NUMSUB", channel))
		return err == nil && counts[channel] == n
	})
}

func TestReadersAreTogetherAndWritersAlone(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	clients := []*Client{open(t, s), open(t, s)}
	var reading, writing, most atomic.Int32
	var wg sync.WaitGroup
	do := func(l *Lock, fn func()) {
		for range 25 {
			err := l.Do(context.Background(), func(context.Context) error { fn(); return nil })
			if err != nil {
				t.Error(err)
				return
			}
		}
	}
	for i := range 16 {
		read, write := both(clients[i%2], "doc")
		if i < 4 {
			wg.Go(func() {
				do(write, func() {
					if w, r := writing.Add(1), reading.Load(); w != 1 || r != 0 {
						t.Errorf("%d write, %d read", w, r)
					}
					time.Sleep(100 * time.Microsecond)
					writing.Add(-1)
				})
			})
			continue
		}
		wg.Go(func() {
			do(read, func() {
				r := reading.Add(1)
				if w := writing.Load(); w != 0 {
					t.Errorf("%d write, %d read", w, r)
				}
				for n := most.Load(); n < r && !most.CompareAndSwap(n, r); n = most.Load() {
				}
				time.Sleep(time.Millisecond)
				reading.Add(-1)
			})
		})
	}
	wg.Wait()
	if most.Load() < 4 {
		t.Errorf("at most %d of 12 readers were together", most.Load())
	}
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
	unlock(t, w1)
	unlock(t, w2)
	looks("it goes on reading", o, 1, 0)
	r2 := lockOf(t, read, As(o))
	looks("twice", o, 2, 0)
	unlock(t, r1)
	unlock(t, r2)
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
	unlock(t, r)
	nothingLeft(t, s)
}

// A writer that reads lets other readers in when it stops writing, at once.
func TestDowngradeLetsAllReadersIn(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	a, b := open(t, s), open(t, s)
	read, write := both(a, "doc")
	w := lockOf(t, write)
	r := lockOf(t, read, As(w.Owner()))
	var waiting []<-chan *Hold
	for i := range 6 {
		l, _ := both([]*Client{a, b}[i%2], "doc")
		waiting = append(waiting, inBackground(t, l))
	}
	rwListening(t, s, "doc", 2)
	time.Sleep(50 * time.Millisecond)
	began := time.Now()
	unlock(t, w)
	holds := []*Hold{r}
	for _, got := range waiting {
		holds = append(holds, <-got)
	}
	if took := time.Since(began); took > soon {
		t.Errorf("the readers came in after %v", took)
	}
	for _, h := range holds {
		if err := h.Err(); err != nil {
			t.Error(err)
		}
	}
	_, other := both(b, "doc")
	if _, err := other.TryLock(t.Context()); !errors.Is(err, ErrLocked) {
		t.Errorf("beside readers: %v", err)
	}
	next := inBackground(t, other)
	rwListening(t, s, "doc", 1)
	for _, h := range holds {
		unlock(t, h)
	}
	unlock(t, <-next)
	nothingLeft(t, s)
}

func TestWritersEnterOneByOne(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	a, b := open(t, s), open(t, s)
	read, _ := both(a, "doc")
	r := lockOf(t, read)
	got := make(chan *Hold, 6)
	for i := range 6 {
		_, l := both([]*Client{a, b}[i%2], "doc")
		go func() { got <- lockOf(t, l) }()
	}
	rwListening(t, s, "doc", 2)
	began := time.Now()
	unlock(t, r)
	for range 6 {
		h := <-got
		select {
		case <-got:
			t.Fatal("two write")
		case <-time.After(5 * time.Millisecond):
		}
		unlock(t, h)
	}
	if took := time.Since(began); took > soon {
		t.Errorf("six writers took %v", took)
	}
	nothingLeft(t, s)
}

// holdTTLs are what the keys of an owner's read holds have left.
func holdTTLs(t *testing.T, conn redis.Conn, name, owner string) (all []time.Duration) {
	t.Helper()
	for i := 1; ; i++ {
		ms, err := redis.Int64(conn.Do("PTTL", fmt.Sprintf("%s:%s:rwlock_timeout:%d", codec.ReadHolds(name), owner, i)))
		if err != nil {
			t.Fatal(err)
		}
		if ms == -2 {
			return all
		}
		all = append(all, time.Duration(ms)*time.Millisecond)
	}
}

// lasts checks what a lock's key has left.
func lasts(t *testing.T, l *Lock, least, most time.Duration) {
	t.Helper()
	if ttl, err := l.RemainTTL(t.Context()); err != nil || ttl <= least || ttl > most {
		t.Errorf("the lock has %v, %v; want more than %v and at most %v", ttl, err, least, most)
	}
}

func TestUnlockGivesWhatIsLeftItsLease(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	c := open(t, s)
	read, write := both(c, "doc")
	long := lockOf(t, read, Lease(time.Minute))
	short := lockOf(t, read, As(long.Owner()), Lease(10*time.Second))
	name := long.Owner().String()
	if ttls := holdTTLs(t, conn, "doc", name); len(ttls) != 2 {
		t.Errorf("two holds have %v", ttls)
	}
	unlock(t, long) // on the server the other one's key goes
	if ttls := holdTTLs(t, conn, "doc", name); len(ttls) != 1 || ttls[0] < 9*time.Second {
		t.Errorf("what is left has %v", ttls)
	}
	lasts(t, read, 9*time.Second, time.Minute)
	unlock(t, short)

	// The hold that is left needs more than that of its number had.
	short = lockOf(t, read, Lease(5*time.Second))
	long = lockOf(t, read, As(short.Owner()), Lease(time.Minute))
	name = short.Owner().String()
	unlock(t, short)
	if ttls := holdTTLs(t, conn, "doc", name); len(ttls) != 1 || ttls[0] < 55*time.Second {
		t.Errorf("what is left has %v", ttls)
	}
	lasts(t, read, 55*time.Second, time.Minute)
	if left := time.Until(long.ValidUntil()); left < 55*time.Second {
		t.Errorf("it is trusted for %v", left)
	}
	unlock(t, long)

	// A writer's lease is not cut by what it reads, nor summed by what it writes.
	w := lockOf(t, write, Lease(time.Minute))
	r1 := lockOf(t, read, As(w.Owner()), Lease(4*time.Second))
	r2 := lockOf(t, read, As(w.Owner()), Lease(4*time.Second))
	unlock(t, r2)
	lasts(t, write, 55*time.Second, time.Minute)
	unlock(t, r1)
	lasts(t, write, 55*time.Second, time.Minute)
	again := lockOf(t, write, As(w.Owner()), Lease(time.Minute))
	lasts(t, write, 55*time.Second, time.Minute)
	unlock(t, w)
	lasts(t, write, 55*time.Second, time.Minute)
	unlock(t, again)
	nothingLeft(t, s)
}

// A reader's own unlocks, and another client's, leave a reader what it was promised, between renewals too.
func TestOtherReadersReleasesKeepAReadersLease(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	read, _ := both(open(t, s), "doc")
	other, _ := both(open(t, s), "doc")
	h := lockOf(t, read)
	for _, lease := range []time.Duration{time.Second, time.Minute} {
		unlock(t, lockOf(t, other, Lease(lease)))
		lasts(t, read, 25*time.Second, 30*time.Second)
	}
	f := lockOf(t, other, Lease(40*time.Second))
	unlock(t, h)
	lasts(t, read, 35*time.Second, 40*time.Second)
	unlock(t, f)
	nothingLeft(t, s)
}

func TestReadHoldsAreRenewedEachWithItsKey(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	const timeout = 600 * time.Millisecond
	c := open(t, s, WithWatchdogTimeout(timeout))
	read, write := both(c, "doc")
	w := lockOf(t, write)
	r := lockOf(t, read, As(w.Owner()))
	again := lockOf(t, read, As(w.Owner()))
	name := w.Owner().String()
	lives := func(holds int) {
		t.Helper()
		for end := time.Now().Add(2 * timeout); time.Now().Before(end); time.Sleep(timeout / 20) {
			if ttls := holdTTLs(t, conn, "doc", name); len(ttls) != holds {
				t.Fatalf("%d holds have %v", holds, ttls)
			}
			lasts(t, read, 0, timeout)
		}
	}
	lives(2)
	unlock(t, again) // which stops a Redisson writer's renewal
	lives(1)
	if err := w.Err(); err != nil {
		t.Error(err)
	}
	unlock(t, w)
	lives(1)
	if err := r.Err(); err != nil {
		t.Error(err)
	}
	unlock(t, r)
	nothingLeft(t, s)
}

// A hold whose lease has ended keeps nobody out, though its owner never unlocks it.
func TestEndedReadHoldDoesNotOutliveItsOwnersLast(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	read, write := both(open(t, s), "doc")
	first := lockOf(t, read, Lease(50*time.Millisecond))
	second := lockOf(t, read, As(first.Owner()))
	<-first.Done()
	waits := inBackground(t, write)
	rwListening(t, s, "doc", 1)
	conn := s.Dial(t)
	becomes(t, "the key of the first hold ends", func() bool {
		n, err := redis.Int(conn.Do("EXISTS", fmt.Sprintf("{doc}:%s:rwlock_timeout:1", first.Owner())))
		return n == 0 && err == nil
	})
	unlock(t, second)
	select {
	case h := <-waits:
		unlock(t, h)
	case <-time.After(soon):
		t.Fatal("a hold that has ended keeps a writer out")
	}
	if err := first.Unlock(t.Context()); !errors.Is(err, ErrLeaseLost) {
		t.Errorf("%v", err)
	}
	nothingLeft(t, s)
}

// Another's renewal sets the lock to its own lease. A fixed lease is put right each third of the watchdog timeout, for as
// long as it lasts and no longer.
func TestFixedReadLeaseIsAsserted(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	const timeout = 600 * time.Millisecond
	c := open(t, s, WithWatchdogTimeout(timeout))
	read, write := both(c, "doc")
	h := lockOf(t, read, Lease(4*timeout))
	began := time.Now()
	name := h.Owner().String()
	for time.Since(began) < 3*timeout {
		if _, err := conn.Do("PEXPIRE", "doc", timeout.Milliseconds()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(timeout / 2)
		left := 4*timeout - time.Since(began)
		lasts(t, read, left-timeout/4, left+timeout/4)
		if ttls := holdTTLs(t, conn, "doc", name); len(ttls) != 1 || ttls[0] > left+timeout/4 {
			t.Errorf("with %v left its key has %v", left, ttls)
		}
	}
	if err := h.Err(); err != nil {
		t.Errorf("%v after %v", err, time.Since(began))
	}
	for left := timeout; left > timeout/10; left = 4*timeout - time.Since(began) {
		if ttls := holdTTLs(t, conn, "doc", name); len(ttls) > 1 || len(ttls) == 1 && ttls[0] > left+timeout/5 {
			t.Errorf("with %v left its key has %v", left, ttls)
		}
		time.Sleep(timeout / 20)
	}
	unlock(t, lockOf(t, write)) // when its lease has ended
	if took := time.Since(began); took < 4*timeout-50*time.Millisecond || took > 5*timeout {
		t.Errorf("a lease of %v was over after %v", 4*timeout, took)
	}
	if err := h.Err(); !errors.Is(err, ErrLeaseLost) {
		t.Errorf("%v", err)
	}
	nothingLeft(t, s)
}

// A writer's fixed lease, and a plain lock's, are not renewed.
func TestOtherFixedLeasesAreNotAsserted(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s, WithWatchdogTimeout(300*time.Millisecond))
	_, write := both(c, "doc")
	holds := []*Hold{lockOf(t, write, Lease(time.Minute)), lockOf(t, c.NewLock("plain"), Lease(time.Minute))}
	tap := monitor.Tap(t, s.URL())
	time.Sleep(500 * time.Millisecond)
	if lines := tap.Mark(); len(lines) > 0 {
		t.Errorf("it sent %v", lines)
	}
	for _, h := range holds {
		unlock(t, h)
	}
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
	ended := func(h *Hold, knows bool) {
		t.Helper()
		if err := h.Unlock(t.Context()); errors.Is(err, ErrLeaseLost) != knows || !errors.Is(err, ErrNotHeld) {
			t.Errorf("%v", err)
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
	ended(elsewhere, true) // its client writes by now
	if n, err := redis.Int(s.Dial(t).Do("EXISTS", fmt.Sprintf("{doc}:%s:rwlock_timeout:1", r.Owner()), fmt.Sprintf("{doc}:%s:rwlock_timeout:2", r.Owner()))); n != 0 || err != nil {
		t.Errorf("%d keys of forced holds, %v", n, err)
	}
	// Who writes may be forced by another client, with what it reads.
	also := lockOf(t, otherRead, As(w.Owner()))
	forced(read, false)
	reader := inBackground(t, read)
	rwListening(t, s, "doc", 1)
	forced(write, true)
	r = <-reader
	ended(w, false)
	ended(also, false)
	unlock(t, r)
	nothingLeft(t, s)
}

// replyLoss is a dialer that breaks off a connection before the reply to a command that has a text in it.
type replyLoss struct {
	text atomic.Pointer[string] // nil: none
	lost atomic.Int32
}

func (d *replyLoss) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, addr)
	return &losingConn{Conn: conn, d: d}, err
}

type losingConn struct {
	net.Conn
	d     *replyLoss
	armed atomic.Bool
}

func (c *losingConn) Write(b []byte) (int, error) {
	if text := c.d.text.Load(); text != nil && strings.Contains(string(b), *text) && c.d.text.CompareAndSwap(text, nil) {
		c.armed.Store(true)
	}
	return c.Conn.Write(b)
}

func (c *losingConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.armed.Load() {
		c.d.lost.Add(1)
		c.Conn.Close()
		return 0, io.EOF
	}
	return n, err
}

// loseNext breaks off the next run of a script, when it has run.
func (d *replyLoss) loseNext(s *luasrc.Script) { d.text.Store(&s.SHA1) }

// An acquire that was run and not answered is undone and made again, an unlock repeated, a renewal sent again, a force told
// as uncertain. Each takes or gives back one hold.
func TestLostRepliesOfAReadWriteLock(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name         string
		lock, unlock *luasrc.Script
	}{
		{"read", luasrc.ReadLockScript, luasrc.ReadUnlockScript},
		{"write", luasrc.WriteLockScript, luasrc.WriteUnlockScript},
	} {
		for _, writes := range []bool{false, true} { // the owner writes meanwhile
			t.Run(fmt.Sprintf("%s, its owner writes %v", tc.name, writes), func(t *testing.T) {
				t.Parallel()
				s := redistest.Start(t)
				var loss replyLoss
				c := open(t, s, WithDialer(loss.dial))
				read, write := both(c, "doc")
				l := map[string]*Lock{"read": read, "write": write}[tc.name]
				outer := lockOf(t, write)
				var as []AcquireOption
				if writes {
					as = append(as, As(outer.Owner()))
				} else {
					unlock(t, outer)
				}
				unlock(t, lockOf(t, l, as...)) // the server knows the scripts
				before := 0
				if writes && tc.name == "write" {
					before = 1
				}
				loss.loseNext(tc.lock)
				h := lockOf(t, l, as...)
				o := h.Owner()
				counts(t, l, o, before+1)
				second := lockOf(t, l, As(o))
				for i, h := range []*Hold{second, h} {
					loss.loseNext(tc.unlock)
					unlock(t, h)
					counts(t, l, o, before+1-i)
				}
				if n := loss.lost.Load(); n != 3 {
					t.Errorf("%d replies were lost", n)
				}
				if writes {
					unlock(t, outer)
				}
				nothingLeft(t, s)
			})
		}
	}
}

func TestLostRenewalAndForceOfAReadWriteLock(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	const timeout = 900 * time.Millisecond
	var loss replyLoss
	c := open(t, s, WithDialer(loss.dial), WithWatchdogTimeout(timeout))
	read, write := both(c, "doc")
	h := lockOf(t, read)
	for i := range int32(3) {
		loss.loseNext(luasrc.ReadRenewScript)
		becomes(t, "a lost renewal", func() bool { return loss.lost.Load() == i+1 })
	}
	if err := h.Err(); err != nil {
		t.Fatal(err)
	}
	if ttls := holdTTLs(t, conn, "doc", h.Owner().String()); len(ttls) != 1 {
		t.Errorf("its hold has %v", ttls)
	}
	unlock(t, h)
	for _, l := range []*Lock{read, write} {
		lockOf(t, l)
		if was, err := l.ForceUnlock(t.Context()); !was || err != nil { // the server knows the script
			t.Errorf("%v, %v", was, err)
		}
		h := lockOf(t, l)
		loss.loseNext(luasrc.ReadWriteForceScript)
		if was, err := l.ForceUnlock(t.Context()); was || !errors.Is(err, ErrUncertain) {
			t.Errorf("%v, %v", was, err)
		}
		if err := h.Err(); !errors.Is(err, ErrLeaseLost) {
			t.Errorf("%v", err)
		}
	}
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
	unlock(t, h)
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

// A grant to read says that nobody else writes.
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
	unlock(t, r)
}

// There is no queue among processes: what can't be promised.
func TestReadersThatOverlapKeepAWriterOut(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	read, _ := both(open(t, s), "doc")
	_, write := both(open(t, s), "doc")
	reads := lockOf(t, read)
	waits := inBackground(t, write)
	rwListening(t, s, "doc", 1)
	for range 50 {
		next := lockOf(t, read)
		unlock(t, reads)
		reads = next
		select {
		case <-waits:
			t.Fatal("one writes beside a reader")
		case <-time.After(5 * time.Millisecond):
		}
	}
	unlock(t, reads)
	unlock(t, <-waits)
	nothingLeft(t, s)
}

// Readers that are let in by one message make one attempt each.
func TestReadersOfAClientTryTogether(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	a, b := open(t, s), open(t, s)
	_, write := both(a, "doc")
	read, _ := both(b, "doc")
	w := lockOf(t, write)
	var waiting []<-chan *Hold
	for range 50 {
		waiting = append(waiting, inBackground(t, read))
	}
	rwListening(t, s, "doc", 1)
	time.Sleep(100 * time.Millisecond)
	tap := monitor.Tap(t, s.URL())
	unlock(t, w)
	for _, got := range waiting {
		defer unlock(t, <-got)
	}
	tries := 0
	for _, l := range tap.Mark() {
		if l.Is("EVALSHA") && l.Args[1] == luasrc.ReadLockScript.SHA1 {
			tries++
		}
	}
	if tries != 50 {
		t.Errorf("%d tries let 50 readers in", tries)
	}
}
