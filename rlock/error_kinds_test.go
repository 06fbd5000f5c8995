package rlock_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

// kinds are the errors that callers test for with errors.Is.
var kinds = map[string]error{
	"ErrLocked": rlock.ErrLocked, "ErrNoPermits": rlock.ErrNoPermits, "ErrNotOpen": rlock.ErrNotOpen, "ErrNotLocked": rlock.ErrNotLocked, "ErrNotHeld": rlock.ErrNotHeld, "ErrReleased": rlock.ErrReleased,
	"ErrLeaseLost": rlock.ErrLeaseLost, "ErrUncertain": rlock.ErrUncertain, "ErrClosed": rlock.ErrClosed,
	"ErrInvalidOption": rlock.ErrInvalidOption, "ErrInvalidName": rlock.ErrInvalidName, "ErrUnavailable": rlock.ErrUnavailable,
	"ErrRefused": rlock.ErrRefused, "ErrUnannounced": rlock.ErrUnannounced, "ErrReentered": rlock.ErrReentered, "ErrUnreplicated": rlock.ErrUnreplicated,
	"Canceled": context.Canceled, "DeadlineExceeded": context.DeadlineExceeded,
}

// isOf checks that err is of kind want, and of no other.
func isOf(t *testing.T, call string, err, want error) {
	t.Helper()
	for name, kind := range kinds {
		if errors.Is(err, kind) != (kind == want) {
			t.Errorf("%s: %v: is %s: %t", call, err, name, kind != want)
		}
	}
}

func TestTheKindsOfErrorsAreAllThatThePackageExports(t *testing.T) {
	t.Parallel()
	f, err := parser.ParseFile(token.NewFileSet(), "errors.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
			for _, s := range g.Specs {
				if name := s.(*ast.ValueSpec).Names[0].Name; strings.HasPrefix(name, "Err") && kinds[name] == nil {
					t.Errorf("%s is not looked for", name)
				}
			}
		}
	}
}

// If a server is gone, or replies what no lock replies, the error's kind says so: no caller has to read its text.
func TestErrorOfEveryCallIsOfAKind(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "calls run into their timeouts")
	s := redistest.Start(t)
	replica := redistest.Start(t)
	conn := s.Dial(t)
	ctx := context.Background()
	do := func(args ...any) {
		t.Helper()
		if _, err := conn.Do(args[0].(string), args[1:]...); err != nil {
			t.Fatal(err)
		}
	}
	c := openWith(t, s.URL(), patient) // so that a machine that stands still makes no answer late
	l := c.NewLock("orders")
	short := func(l *rlock.Lock) error { _, err := l.TryLockFor(ctx, time.Millisecond); return err }
	long := func(l *rlock.Lock) error { _, err := l.TryLockFor(ctx, time.Minute); return err }
	once := func(l *rlock.Lock) error { _, err := l.TryLock(ctx); return err }
	waits := func(l *rlock.Lock) error { _, err := l.Lock(ctx); return err }
	asks := func(l *rlock.Lock) error { _, err := l.IsLocked(ctx); return err }
	counts := func(l *rlock.Lock) error { _, err := l.HoldCount(ctx, c.NewOwner()); return err }
	forces := func(l *rlock.Lock) error { _, err := l.ForceUnlock(ctx); return err }
	unlocks := func(l *rlock.Lock) error { return l.UnlockAs(ctx, c.NewOwner()) }

	permits := map[string]func(*rlock.PermitSemaphore) error{
		"TryAcquire":    func(s *rlock.PermitSemaphore) error { _, err := s.TryAcquire(ctx, 1); return err },
		"Acquire":       func(s *rlock.PermitSemaphore) error { _, err := s.Acquire(ctx, 2); return err },
		"TrySetPermits": func(s *rlock.PermitSemaphore) error { _, err := s.TrySetPermits(ctx, 2); return err },
		"AddPermits":    func(s *rlock.PermitSemaphore) error { return s.AddPermits(ctx, 2) },
		"Available":     func(s *rlock.PermitSemaphore) error { _, err := s.Available(ctx); return err },
		"Delete":        func(s *rlock.PermitSemaphore) error { _, err := s.Delete(ctx); return err },
		"ReleaseIDs":    func(s *rlock.PermitSemaphore) error { return s.ReleaseIDs(ctx, strings.Repeat("a", 32)) },
		"LeaseOf":       func(s *rlock.PermitSemaphore) error { _, err := s.LeaseOf(ctx, strings.Repeat("a", 32)); return err },
	}
	numbers := map[string]func(name string) error{
		"Acquire":         func(name string) error { return c.NewSemaphore(name).Acquire(ctx, 1) },
		"TryAcquire":      func(name string) error { return c.NewSemaphore(name).TryAcquire(ctx, 1) },
		"Release":         func(name string) error { return c.NewSemaphore(name).Release(ctx, 1) },
		"ReleaseIfExists": func(name string) error { _, err := c.NewSemaphore(name).ReleaseIfExists(ctx, 1); return err },
		"TrySetPermits":   func(name string) error { _, err := c.NewSemaphore(name).TrySetPermits(ctx, 1); return err },
		"AddPermits":      func(name string) error { return c.NewSemaphore(name).AddPermits(ctx, 1) },
		"Available":       func(name string) error { _, err := c.NewSemaphore(name).Available(ctx); return err },
		"Drain":           func(name string) error { _, err := c.NewSemaphore(name).Drain(ctx); return err },
		"Delete":          func(name string) error { _, err := c.NewSemaphore(name).Delete(ctx); return err },
		"TrySetCount":     func(name string) error { _, err := c.NewCountDownLatch(name).TrySetCount(ctx, 1); return err },
		"CountDown":       func(name string) error { return c.NewCountDownLatch(name).CountDown(ctx) },
		"Await":           func(name string) error { return c.NewCountDownLatch(name).Await(ctx) },
		"AwaitFor":        func(name string) error { return c.NewCountDownLatch(name).AwaitFor(ctx, time.Minute) },
		"Count":           func(name string) error { _, err := c.NewCountDownLatch(name).Count(ctx); return err },
		"Delete latch":    func(name string) error { _, err := c.NewCountDownLatch(name).Delete(ctx); return err },
	}
	do("HSET", "orders", "a", "b")
	do("SET", "{orders}:timeout", "text")
	for call, f := range numbers {
		err := f("orders")
		isOf(t, "keys of another type: "+call, err, rlock.ErrRefused)
		if !strings.Contains(fmt.Sprint(err), "the key holds a hash, which is no ") {
			t.Errorf("%s does not say what it found: %v", call, err)
		}
	}
	if kept, err := conn.Do("HGET", "orders", "a"); string(kept.([]byte)) != "b" || err != nil {
		t.Errorf("the key holds %v, %v", kept, err)
	}
	for call, f := range permits {
		isOf(t, "keys of another type: "+call, f(c.NewPermitSemaphore("orders")), rlock.ErrRefused)
	}
	do("DEL", "orders", "{orders}:timeout")
	do("SET", "orders", "text")
	for call, f := range map[string]func(*rlock.Lock) error{"TryLock": once, "Lock": waits, "ForceUnlock": forces, "HoldCount": counts} {
		isOf(t, "a key of another type: "+call, f(l), rlock.ErrRefused)
	}
	do("DEL", "orders")
	do("CONFIG", "SET", "maxmemory", "1")
	isOf(t, "no memory", once(l), rlock.ErrRefused)
	do("CONFIG", "SET", "maxmemory", "0")

	// From here on nothing runs, so no answer can be late.
	var dialled atomic.Int32
	c = openWith(t, s.URL(), rlock.WithCommandTimeout(200*time.Millisecond), rlock.WithDialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
		dialled.Add(1)
		return new(net.Dialer).DialContext(ctx, network, addr)
	}))
	l = c.NewLock("orders")
	host, port, err := net.SplitHostPort(replica.Addr())
	if err != nil {
		t.Fatal(err)
	}
	do("REPLICAOF", host, port)
	becomes(t, "a replica answers in time", func() bool { err = once(l); return !errors.Is(err, rlock.ErrUncertain) })
	isOf(t, "a replica", err, rlock.ErrUnavailable)
	do("REPLICAOF", "NO", "ONE")

	var h *rlock.Hold
	becomes(t, "the client knows that it is a master again", func() bool {
		h, err = l.TryLock(ctx, rlock.Lease(time.Minute)) // which has no subscriber, so all that is dialled is for commands
		return err == nil
	})
	s.Kill()
	gone := dialled.Load()
	becomes(t, "the client knows that its connection is broken", func() bool { return dialled.Load() > gone })
	var all sync.WaitGroup
	fails := func(call string, f func() error) {
		all.Go(func() { isOf(t, "no server: "+call, f(), rlock.ErrUnavailable) })
	}
	for call, f := range map[string]func(*rlock.Lock) error{
		"TryLockFor a moment": short, "TryLockFor": long, "TryLock": once, "Lock": waits, "IsLocked": asks, "HoldCount": counts,
		"ForceUnlock": forces, "UnlockAs": unlocks,
	} {
		fails(call, func() error { return f(c.NewLock("others")) })
	}
	for call, f := range numbers {
		fails(call, func() error { return f("others") })
	}
	for call, f := range permits {
		fails("permits' "+call, func() error { return f(c.NewPermitSemaphore("others")) })
	}
	all.Wait()
	isOf(t, "no server: Extend", h.Extend(ctx, time.Minute), rlock.ErrUnavailable)
	isOf(t, "no server: Unlock", h.Unlock(ctx), rlock.ErrUnavailable)
	_, err = rlock.Open(ctx, s.URL(), rlock.WithCommandTimeout(50*time.Millisecond))
	isOf(t, "no server: Open", err, rlock.ErrUnavailable)

	guarded := redistest.Start(t, "--requirepass", "sesame")
	_, err = rlock.Open(ctx, strings.Replace(guarded.URL(), "://", "://:mellon@", 1), patient)
	isOf(t, "a wrong password", err, rlock.ErrRefused)
	later := openWith(t, strings.Replace(guarded.URL(), "://", "://:mellon@", 1), patient, rlock.WithLazyConnect())
	for call, f := range map[string]func(*rlock.Lock) error{"TryLock": once, "Lock": waits, "IsLocked": asks} {
		isOf(t, "a wrong password, lazily, "+call, f(later.NewLock("orders")), rlock.ErrRefused)
	}
}

// openWith makes a client once its servers answer within its command timeout.
func openWith(t *testing.T, url string, opts ...rlock.Option) (c *rlock.Client) {
	t.Helper()
	becomes(t, "the servers answer", func() bool {
		var err error
		if c, err = rlock.Open(t.Context(), url, opts...); err != nil && !errors.Is(err, rlock.ErrUnavailable) {
			t.Fatal(err)
		}
		return err == nil
	})
	t.Cleanup(func() { c.Close() })
	return c
}

func held(t *testing.T, l *rlock.Lock) *rlock.Hold {
	t.Helper()
	h, err := l.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// lock takes a lock that nobody has.
func lock(t *testing.T, c *rlock.Client, name string, opts ...rlock.AcquireOption) *rlock.Hold {
	t.Helper()
	h, err := c.NewLock(name).TryLock(t.Context(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Timeouts of package net match context.DeadlineExceeded. A caller would take such an error for its own context's.
func TestTimeoutOfDiallingIsNotACallersContext(t *testing.T) {
	t.Parallel()
	hangs := rlock.WithDialer(func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, &net.OpError{Op: "dial", Err: errors.Join(ctx.Err(), os.ErrDeadlineExceeded)}
	})
	for _, url := range []string{"redis://127.0.0.1:1", "redis+cluster://127.0.0.1:1", "redis+sentinel://127.0.0.1:1/one", "redis+replicated://127.0.0.1:1,127.0.0.1:2"} {
		_, err := rlock.Open(context.Background(), url, hangs, rlock.WithCommandTimeout(100*time.Millisecond))
		isOf(t, url, err, rlock.ErrUnavailable)
	}
}
