// Package outcomes makes each event of an observer happen, by faults on a real server. It is for tests of observers.
package outcomes

import (
	"bytes"
	"context"
	"errors"
	"math"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

// metrics are those that count Make's events. Each has a label, whose values are the words of rlock's events.
var metrics = []struct {
	name, unit, label string
	words             []string
}{
	{"acquires", "{acquire}", "outcome", []string{"acquired", "locked", "timeout", "cancelled", "uncertain", "error"}},
	{"acquires", "{acquire}", "contended", []string{"true", "false"}},
	{"acquire.duration", "s", "contended", []string{"true", "false"}},
	{"hold.duration", "s", "end", []string{"released", "lost", "expired"}},
	{"renewals", "{lease}", "outcome", []string{"renewed", "failed", "lost"}},
	{"leases.failing", "{lease}", "change", []string{"begun", "ended"}},
	{"leases.lost", "{hold}", "reason", []string{"taken", "expired", "unreachable"}},
	{"wakeups", "{wakeup}", "source", []string{"message", "expiry", "handoff", "look"}},
	{"undos", "{acquire}", "outcome", []string{"undone", "nothing", "failed"}},
}

// Told fails t for each word that was not counted: has says whether a metric has this value of its label.
func Told(t testing.TB, has func(metric, unit, label, word string) bool) {
	t.Helper()
	for _, m := range metrics {
		for _, word := range m.words {
			if !has(m.name, m.unit, m.label, word) {
				t.Errorf("no %s with %s=%s", m.name, m.label, word)
			}
		}
	}
}

// MoreAllocations returns how many allocations these options add to a lock and unlock.
func MoreAllocations(t testing.TB, opts ...rlock.Option) float64 {
	t.Helper()
	url := redistest.Start(t).URL()
	pair := func(opts ...rlock.Option) float64 {
		client, err := rlock.Open(t.Context(), url, opts...)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		lock := client.NewLock("pair")
		least := math.Inf(1) // other work of the process only adds to it
		for range 10 {
			least = min(least, testing.AllocsPerRun(100, func() {
				hold, err := lock.Lock(context.Background())
				if err == nil {
					err = hold.Unlock(context.Background())
				}
				if err != nil {
					t.Fatal(err)
				}
			}))
		}
		return least
	}
	return pair(opts...) - pair()
}

// lease is the watchdog timeout, timeout the command timeout.
const (
	lease   = 2 * time.Second
	timeout = time.Second
	patient = 20 * time.Second // a test must not hang
)

// Make opens a client with these options, and makes all events happen within some seven
// seconds. It returns the client, which holds the lock "kept" until the test is over,
// while one of its calls waits for that lock. All its calls use ctx, for a minute at most.
// end closes the client, and returns when that call has told its observers of its end too.
func Make(t testing.TB, ctx context.Context, opts ...rlock.Option) (c *rlock.Client, end func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 3*patient)
	t.Cleanup(cancel)
	s := redistest.Start(t)
	conn := s.Dial(t)
	open := func(opts ...rlock.Option) *rlock.Client {
		c, err := rlock.Open(ctx, s.URL(), append(opts, rlock.WithWatchdogTimeout(lease), rlock.WithCommandTimeout(timeout))...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	var w wire
	undos, troubles := make(chan string, 10), make(chan error, 10)
	var sources sync.Map // of wake-ups, behind the lock's name
	var lost atomic.Bool // a renewal was answered "not yours"
	c = open(append(opts, rlock.WithDialer(w.dial), rlock.WithObserver(rlock.Observer{
		Undone: func(_ rlock.Subject, e rlock.UndoEvent) { undos <- string(e.Outcome) },
		Woken: func(_ context.Context, s rlock.Subject, e rlock.WakeEvent) {
			sources.Store(s.Name+string(e.Source), true)
		},
		Renewed: func(_ rlock.Subject, e rlock.RenewalEvent) {
			if e.Outcome == rlock.RenewalLost {
				lost.Store(true)
			}
		},
		Failing: func(s rlock.Subject, e rlock.FailingEvent) {
			if s.Name == "mended" {
				troubles <- e.Err
			}
		},
	}))...)
	other := open()
	lock := func(c *rlock.Client, name string, opts ...rlock.AcquireOption) *rlock.Hold {
		t.Helper()
		h, err := c.NewLock(name).Lock(ctx, opts...)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	unlock := func(h *rlock.Hold, want error) {
		t.Helper()
		if err := h.Unlock(ctx); !errors.Is(err, want) {
			t.Fatalf("unlock: %v, want %v", err, want)
		}
	}
	do := func(name string, args ...any) {
		t.Helper()
		if _, err := conn.Do(name, args...); err != nil {
			t.Fatal(err)
		}
	}
	over := func(h *rlock.Hold) {
		t.Helper()
		select {
		case <-h.Done():
		case <-time.After(patient):
			t.Fatalf("%s is held on", h.Name())
		}
	}
	// waits acquires in the background and returns when it is subscribed.
	waits := func(name string) <-chan *rlock.Hold {
		t.Helper()
		got := make(chan *rlock.Hold, 1)
		go func() {
			h, err := c.NewLock(name).Lock(ctx)
			if err != nil {
				t.Error(err)
			}
			got <- h
		}()
		for began := time.Now(); ; time.Sleep(5 * time.Millisecond) {
			n, err := redis.Values(conn.Do("PUBSUB", "NUMSUB", "redisson_lock__channel:{"+name+"}"))
			if err != nil {
				t.Fatal(err)
			}
			if subscribed, _ := redis.Int(n[1], nil); subscribed == 1 && c.Stats().Waiters == 1 {
				return got
			}
			if time.Since(began) > patient {
				t.Fatalf("nobody waits for %s", name)
			}
		}
	}
	// looked returns when a waiter for name has tried twice since asked, and has both answers.
	looked := func(name string, asked int) {
		t.Helper()
		for began := time.Now(); w.said(name) < asked+2; time.Sleep(time.Millisecond) {
			if time.Since(began) > patient {
				t.Fatalf("nobody looks at %s", name)
			}
		}
		if _, err := c.NewLock("free").IsLocked(ctx); err != nil { // its answer comes after both
			t.Fatal(err)
		}
	}
	// wokenBy has c wait for a lock that by releases, until a message or a hand-off wakes it: on a busy machine a look may come first.
	wokenBy := func(source rlock.WakeSource, name string, by *rlock.Client) {
		t.Helper()
		for began, i := time.Now(), 0; ; i++ {
			name := name + strconv.Itoa(i)
			h := lock(by, name)
			asked := w.said(name)
			got := waits(name)
			looked(name, asked)
			unlock(h, nil)
			unlock(<-got, nil)
			if _, came := sources.Load(name + string(source)); came {
				return
			}
			if time.Since(began) > patient {
				t.Fatalf("no %s wakes who waits for %s", source, name)
			}
		}
	}
	fails := func(_ *rlock.Hold, err, want error) {
		t.Helper()
		if !errors.Is(err, want) {
			t.Fatalf("%v, want %v", err, want)
		}
	}
	try := func(h *rlock.Hold, err error) func(error) {
		return func(want error) { t.Helper(); fails(h, err, want) }
	}

	unlock(lock(c, "free"), nil) // the server has the scripts
	// The acquires run, and their replies are lost. The undo of "failed" finds a key of another type.
	w.spoil(deaf)
	tries := make(chan error, 2)
	for _, name := range []string{"undone", "failed"} {
		go func() { _, err := c.NewLock(name).TryLock(ctx); tries <- err }()
	}
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		if n, err := redis.Int(conn.Do("EXISTS", "undone", "failed")); err != nil || time.Since(began) > patient {
			t.Fatalf("%d of 2 have run: %v", n, err)
		} else if n == 2 {
			break
		}
	}
	do("SET", "failed", "no lock")
	fails(nil, <-tries, rlock.ErrUncertain)
	fails(nil, <-tries, rlock.ErrUncertain)
	w.heal()
	undone(t, undos, "undone", "failed")
	w.spoil(mute) // it does not run
	try(c.NewLock("nothing").TryLock(ctx))(rlock.ErrUncertain)
	w.heal()
	undone(t, undos, "nothing")

	// Renewals fail while the account may not set leases.
	trouble := func(want bool) {
		t.Helper()
		select {
		case err := <-troubles:
			if (err != nil) != want {
				t.Fatalf("renewals of mended: %v", err)
			}
		case <-time.After(patient):
			t.Fatal("no word of the renewals of mended")
		}
	}
	mended := lock(c, "mended")
	do("ACL", "SETUSER", "default", "-pexpire")
	trouble(true)
	do("ACL", "SETUSER", "default", "+pexpire")
	trouble(false)
	unlock(mended, nil)

	kept, cut := lock(c, "kept"), lock(c, "cut")
	t.Cleanup(func() { _ = kept.Unlock(context.WithoutCancel(ctx)) })
	fixed := lock(c, "fixed", rlock.Lease(300*time.Millisecond))

	busy := lock(other, "busy")
	try(c.NewLock("busy").TryLock(ctx))(rlock.ErrLocked)
	try(c.NewLock("busy").TryLockFor(ctx, time.Second))(rlock.ErrLocked)
	asked := w.said("busy")
	short, leave := context.WithCancel(ctx)
	go func() { _, err := c.NewLock("busy").Lock(short); tries <- err }()
	looked("busy", asked)
	leave()
	fails(nil, <-tries, context.Canceled)
	do("SET", "text", "no lock")
	try(c.NewLock("text").TryLock(ctx))(rlock.ErrRefused)

	unlock(busy, nil)
	wokenBy(rlock.WakeMessage, "busy", other)
	wokenBy(rlock.WakeHandoff, "own", c)
	do("HSET", "dead", "2b1a6f0e-0000-4000-8000-000000000000:1", 1) // woken by the end of a lease
	do("PEXPIRE", "dead", 1000)
	unlock(lock(c, "dead"), nil)

	over(fixed)
	unlock(fixed, rlock.ErrLeaseLost)
	for began := time.Now(); !lost.Load(); { // on a busy machine a look may find the loss before the renewal
		gone := lock(c, "gone")
		do("DEL", "gone")
		over(gone)
		unlock(gone, rlock.ErrLeaseLost)
		if time.Since(began) > patient {
			t.Fatal("no renewal finds that its lock is gone")
		}
	}

	s.Pause()
	try(c.NewLock("unsure").TryLock(ctx))(rlock.ErrUncertain)
	over(cut)
	s.Resume()
	unlock(cut, rlock.ErrLeaseLost)
	over(kept)
	kept = lock(c, "kept")
	waiting := make(chan struct{})
	go func() { defer close(waiting); _, _ = c.NewLock("kept").Lock(ctx) }() // until the client is closed
	end = func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		<-waiting
	}
	t.Cleanup(end)
	Waits(t, c)
	return c, end
}

// Waits returns when a call of c waits.
func Waits(t testing.TB, c *rlock.Client) {
	t.Helper()
	for began := time.Now(); c.Stats().Waiters == 0; time.Sleep(time.Millisecond) {
		if time.Since(began) > patient {
			t.Fatal("nobody waits")
		}
	}
}

// undone waits for undos with these outcomes, in any order.
func undone(t testing.TB, told <-chan string, want ...string) {
	t.Helper()
	var got []string
	for range want {
		select {
		case outcome := <-told:
			got = append(got, outcome)
		case <-time.After(patient):
			t.Fatalf("undos: %q, want %q", got, want)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Fatalf("undos: %q, want %q", got, want)
	}
}

// wire makes a client's connections, and breaks them.
type wire struct {
	mu    sync.Mutex // guards all
	conns []*conn
	sent  bytes.Buffer
	down  bool // dial fails
}

// said counts how often a command with this key was sent.
func (w *wire) said(key string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return bytes.Count(w.sent.Bytes(), []byte("\r\n"+key+"\r\n"))
}

// The faults of a connection.
const (
	deaf = 1 + iota // what the server sends is lost
	mute            // what the client sends is lost
)

// spoil gives all open connections a fault, and allows no new ones until heal. The client
// would otherwise replace a lost connection by one without the fault, and send an acquire
// again there.
func (w *wire) spoil(fault int32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = true
	for _, c := range w.conns {
		c.fault.Store(fault)
	}
}

// heal lets the client connect again.
func (w *wire) heal() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = false
}

func (w *wire) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	w.mu.Lock()
	down := w.down
	w.mu.Unlock()
	if down {
		return nil, errors.New("the network is down")
	}
	plain, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: plain, w: w}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conns = append(w.conns, c)
	return c, nil
}

type conn struct {
	net.Conn
	w     *wire
	fault atomic.Int32
}

func (c *conn) Read(p []byte) (int, error) {
	for {
		n, err := c.Conn.Read(p)
		if err != nil || c.fault.Load() != deaf {
			return n, err
		}
	}
}

func (c *conn) Write(p []byte) (int, error) {
	if c.fault.Load() == mute {
		return len(p), nil
	}
	n, err := c.Conn.Write(p)
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	c.w.sent.Write(p[:n])
	return n, err
}
