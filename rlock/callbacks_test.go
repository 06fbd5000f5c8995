package rlock_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

// within fails the test if fn does not return.
func within(t *testing.T, what string, fn func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		fn()
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal(what, "hangs")
	}
}

func TestObserverMayCloseItsClient(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	for _, end := range []func(*rlock.Client) error{(*rlock.Client).Close, func(c *rlock.Client) error { return c.Shutdown(context.Background()) }} {
		closed := 0
		c := openWith(t, s.URL(), rlock.WithObserver(rlock.Observer{Closed: func(c *rlock.Client) {
			closed++
			if err := errors.Join(c.Close(), c.Shutdown(context.Background())); err != nil {
				t.Error(err)
			}
		}}))
		within(t, "the end", func() {
			if err := end(c); err != nil {
				t.Error(err)
			}
		})
		if closed != 1 {
			t.Errorf("told %d times", closed)
		}
	}
}

// The first observer closes the client as soon as it hears of it.
func TestEachObserverHearsOfTheStartBeforeTheEnd(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	for _, end := range []func(*rlock.Client) error{(*rlock.Client).Close, func(c *rlock.Client) error { return c.Shutdown(context.Background()) }} {
		var heard []string
		observer := func(name string, started func(*rlock.Client) error) rlock.Option {
			return rlock.WithObserver(rlock.Observer{
				Started: func(c *rlock.Client) {
					heard = append(heard, name+" starts")
					if err := started(c); err != nil {
						t.Error(err)
					}
				},
				Closed: func(*rlock.Client) { heard = append(heard, name+" ends") },
			})
		}
		openWith(t, s.URL(), observer("one", end), observer("two", func(*rlock.Client) error { return nil }))
		if got := strings.Join(heard, ", "); got != "one starts, two starts, one ends, two ends" {
			t.Error(got)
		}
	}
}

// If an observer ends its caller's goroutine, nobody can get the grant, or send the unlock, so the client gives it back.
func TestWhatAnObserverTakesFromItsCallerIsGivenBack(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	at := ""
	ends := func(event string, s rlock.Subject) {
		if at == event+s.Name {
			runtime.Goexit()
		}
	}
	c := openWith(t, s.URL(), rlock.WithObserver(rlock.Observer{
		Acquired: func(_ context.Context, s rlock.Subject, _ rlock.AcquireEvent) { ends("acquired ", s) },
		Release:  func(ctx context.Context, s rlock.Subject) context.Context { ends("release ", s); return ctx },
	}))
	orders, semaphore, both := c.NewLock("orders"), c.NewSemaphore("seats"), rlock.NewMultiLock(c.NewLock("a"), c.NewLock("b"))
	if _, err := semaphore.TrySetPermits(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	for event, call := range map[string]func(){
		"acquired orders": func() { _, _ = orders.Lock(t.Context()) },
		"acquired seats":  func() { _ = semaphore.Acquire(t.Context(), 2) },
		"acquired b":      func() { _, _ = both.Lock(t.Context()) },
		"release orders":  func() { _ = orders.Do(t.Context(), func(context.Context) error { return nil }) },
	} {
		at = event
		within(t, event, func() {
			call()
			t.Error(event, "and it goes on")
		})
	}
	at = "release b" // on a goroutine of the client
	within(t, at, func() {
		if err := both.Do(t.Context(), func(context.Context) error { return nil }); !errors.Is(err, rlock.ErrUncertain) {
			t.Error(err)
		}
	})
	becomes(t, "all are given back", func() bool {
		held, err := redis.Int(conn.Do("EXISTS", "orders", "a", "b"))
		free, err2 := redis.Int(conn.Do("GET", "seats"))
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		return held == 0 && free == 3
	})
}

func TestClientIsClosedIfAnObserverOfItsStartEndsTheGoroutine(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	var c *rlock.Client
	within(t, "Open", func() {
		openWith(t, s.URL(), rlock.WithObserver(rlock.Observer{Started: func(started *rlock.Client) {
			c = started
			runtime.Goexit()
		}}))
		t.Error("it goes on")
	})
	if _, err := c.NewLock("orders").TryLock(t.Context()); !errors.Is(err, rlock.ErrClosed) {
		t.Error(err)
		c.Close()
	}
}

// odd is a log handler that panics in Handle, and in the method that `in` names.
type odd struct{ in string }

func (o odd) Enabled(context.Context, slog.Level) bool {
	if o.in == "enabled" {
		panic("odd")
	}
	return true
}

func (o odd) Handle(context.Context, slog.Record) error { panic("odd") }

func (o odd) WithAttrs([]slog.Attr) slog.Handler {
	if o.in == "attrs" {
		panic("odd")
	}
	return o
}

func (o odd) WithGroup(string) slog.Handler { return o }

func TestLogHandlerThatPanicsEndsNothing(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	for _, in := range []string{"handle", "enabled", "attrs"} {
		c := openWith(t, s.URL(), rlock.WithLogger(slog.New(odd{in})))
		if err := lock(t, c, "orders").Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The user's dial functions run on the client's own goroutines, where no caller could recover from a panic.
func TestFunctionThatConnectsAndPanicsIsAnError(t *testing.T) {
	t.Parallel()
	type opener func(t *testing.T, s *redistest.Server, breaks func(), opts ...rlock.Option) *rlock.Client
	var beside redistest.Parts
	defer beside.Wait()
	for how, end := range map[string]func(){"panicked: odd": func() { panic("odd") }, "ended its goroutine": runtime.Goexit} {
		for name, open := range map[string]opener{
			"dialer": func(t *testing.T, s *redistest.Server, breaks func(), opts ...rlock.Option) *rlock.Client {
				return openWith(t, s.URL(), append(opts, rlock.WithDialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
					breaks()
					return new(net.Dialer).DialContext(ctx, network, addr)
				}))...)
			},
			"credentials": func(t *testing.T, s *redistest.Server, breaks func(), opts ...rlock.Option) *rlock.Client {
				return openWith(t, s.URL(), append(opts, rlock.WithCredentials(func(context.Context) (string, string, error) {
					breaks()
					return "", "", nil
				}))...)
			},
			"pool": func(t *testing.T, s *redistest.Server, breaks func(), opts ...rlock.Option) *rlock.Client {
				return client(t, &redis.Pool{DialContext: func(ctx context.Context) (redis.Conn, error) {
					breaks()
					return redis.DialContext(ctx, "tcp", s.Addr())
				}}, opts...)
			},
		} {
			beside.Run(t, name+" that "+how, func(t *testing.T) {
				s := redistest.Start(t)
				var fails atomic.Bool
				var broke atomic.Int32
				breaks := func() {
					if fails.Load() {
						broke.Add(1)
						end()
					}
				}
				c := open(t, s, breaks, patient)
				h := lock(t, c, "held")
				fails.Store(true)
				if _, err := s.Dial(t).Do("CLIENT", "KILL", "TYPE", "normal"); err != nil {
					t.Fatal(err)
				}
				becomes(t, "it is called again after that", func() bool { return broke.Load() >= 2 })

				// This client never has a connection, so nothing of it can be late.
				opts := []rlock.Option{rlock.WithCommandTimeout(100 * time.Millisecond)}
				if name != "pool" {
					opts = append(opts, rlock.WithLazyConnect())
				}
				hurried := open(t, s, breaks, opts...)
				_, err := hurried.NewLock("another").TryLock(t.Context())
				isOf(t, "TryLock", err, rlock.ErrUnavailable)
				if err == nil || !strings.Contains(err.Error(), how) {
					t.Errorf("it does not say that the function %s: %v", how, err)
				}
				fails.Store(false)
				if err := errors.Join(h.Unlock(t.Context()), c.Close()); err != nil {
					t.Errorf("when it works again: %v", err)
				}
			})
		}
	}
}
