package rlock

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/stalls"
)

// counted is an object that callers wait for and that is no lock: two kinds of semaphore, and a latch.
type counted struct {
	name  string
	lock  *Lock
	close func(ctx context.Context) error // makes every call wait
	open  func(ctx context.Context) error // lets one call through
	pass  func(ctx context.Context) error // waits, and gives back what it got
	// calls are the commands of a pass that does not wait.
	calls map[string]int
}

// countedBy returns the three objects, each closed by another client.
func countedBy(t *testing.T, c, other *Client) []counted {
	t.Helper()
	seats, rooms, ready := c.NewPermitSemaphore("seats"), c.NewSemaphore("rooms"), c.NewCountDownLatch("ready")
	all := []counted{{
		name: "permits", lock: &seats.lock, calls: map[string]int{"evalsha": 2, "get": 0},
		close: func(ctx context.Context) error {
			_, err := other.NewPermitSemaphore("seats").TrySetPermits(ctx, 0)
			return err
		},
		open: func(ctx context.Context) error { return other.NewPermitSemaphore("seats").AddPermits(ctx, 1) },
		pass: func(ctx context.Context) error { return seats.Do(ctx, 1, func(context.Context) error { return nil }) },
	}, {
		name: "semaphore", lock: &rooms.lock, calls: map[string]int{"evalsha": 2, "get": 0},
		close: func(ctx context.Context) error {
			_, err := other.NewSemaphore("rooms").TrySetPermits(ctx, 0)
			return err
		},
		open: func(ctx context.Context) error { return other.NewSemaphore("rooms").AddPermits(ctx, 1) },
		pass: func(ctx context.Context) error { return rooms.Do(ctx, 1, func(context.Context) error { return nil }) },
	}, {
		name: "latch", lock: &ready.lock, calls: map[string]int{"evalsha": 0, "get": 1},
		close: func(ctx context.Context) error {
			_, err := other.NewCountDownLatch("ready").TrySetCount(ctx, 1)
			return err
		},
		open: func(ctx context.Context) error { return other.NewCountDownLatch("ready").CountDown(ctx) },
		pass: ready.Await,
	}}
	for _, n := range all {
		if err := n.close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// ended returns the error of the next wait that ends.
func ended(t *testing.T, passed <-chan error) error {
	t.Helper()
	select {
	case err := <-passed:
		return err
	case <-time.After(10 * soon):
		t.Fatal("somebody waits for ever")
		return nil
	}
}

// callsOf returns how often a command ran on the server, in scripts too.
func callsOf(t *testing.T, conn redis.Conn, command string) int {
	t.Helper()
	text, err := redis.String(conn.Do("INFO", "commandstats"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(text, "cmdstat_"+command+":calls=")
	if !found {
		return 0
	}
	number, _, _ := strings.Cut(rest, ",")
	n, err := redis.Int([]byte(number), nil)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A1: a call that need not wait does not subscribe, and a script is loaded once.
func TestWhatIsFreeIsTakenByOneCommand(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	for _, n := range countedBy(t, open(t, s), open(t, s)) {
		if err := errors.Join(n.open(t.Context()), n.pass(t.Context())); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Do("CONFIG", "RESETSTAT"); err != nil {
			t.Fatal(err)
		}
		if err := n.pass(t.Context()); err != nil {
			t.Error(err)
		}
		if calls, subscribed := callsOf(t, conn, "evalsha"), callsOf(t, conn, "subscribe"); calls != n.calls["evalsha"] || subscribed != 0 {
			t.Errorf("%s: %d scripts and %d subscriptions", n.name, calls, subscribed)
		}
		if gets := callsOf(t, conn, "get"); n.calls["get"] > 0 && gets != n.calls["get"] {
			t.Errorf("%s: %d looks", n.name, gets)
		}
		if _, err := conn.Do("SCRIPT", "FLUSH"); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if err := n.pass(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if loads := callsOf(t, conn, "script|load"); loads != n.calls["evalsha"] {
			t.Errorf("%s: %d scripts were loaded, want %d", n.name, loads, n.calls["evalsha"])
		}
	}
}

// P1, P2: one connection has all subscriptions, for as long as anything is waited for. When it was cut, another one
// subscribes, and each waiter polls.
func TestAllThatIsCountedIsListenedForByOneConnection(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	all := countedBy(t, open(t, s), open(t, s))
	passed, seats := make(chan error, 2*len(all)), make(chan time.Time, 2)
	for _, n := range all {
		for range 2 {
			go func() {
				err := n.pass(context.Background())
				if n.name == "permits" {
					seats <- time.Now()
				}
				passed <- err
			}()
		}
		awaitWaiting(t, n.lock, 2)
	}
	listeners := func() (list []string) {
		text, err := redis.String(conn.Do("CLIENT", "LIST", "TYPE", "pubsub"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(text) {
			_, rest, _ := strings.Cut(line, " sub=")
			n, _, _ := strings.Cut(rest, " ")
			list = append(list, n)
		}
		return list
	}
	if list := listeners(); len(list) != 1 || list[0] != "3" {
		t.Errorf("connections that listen, with their channels: %q", list)
	}
	// No message announces the changes, as if it had been lost with the connection.
	cut := time.Now()
	for _, args := range [][]any{{"INCRBY", "seats", 2}, {"INCRBY", "rooms", 2}, {"DEL", "ready"}, {"CLIENT", "KILL", "TYPE", "pubsub"}} {
		if _, err := conn.Do(args[0].(string), args[1:]...); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 * len(all) {
		if err := ended(t, passed); err != nil {
			t.Error(err)
		}
	}
	for range 2 {
		// Without a cut one of them polls after four seconds, and the others every second.
		if took := (<-seats).Sub(cut); took > soon+stalls.Since(cut) {
			t.Errorf("permits were not looked at for %v", took)
		}
	}
	becomes(t, "nobody listens", func() bool { return len(listeners()) == 0 })
}

// E1: Close ends all waits, and leaves neither connection nor subscription.
func TestCloseEndsWaitsForWhatIsCounted(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c, conn := open(t, s), s.Dial(t)
	all := countedBy(t, c, open(t, s))
	passed := make(chan error, 2*len(all))
	for _, n := range all {
		for range 2 {
			go func() { passed <- n.pass(context.Background()) }()
		}
		awaitWaiting(t, n.lock, 2)
	}
	connections := func() int {
		text, err := redis.String(conn.Do("CLIENT", "LIST"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(text, " name=rlock ")
	}
	before := connections()
	if err := errors.Join(c.Close(), c.Close()); err != nil {
		t.Error(err)
	}
	for range 2 * len(all) {
		if err := ended(t, passed); !errors.Is(err, ErrClosed) {
			t.Errorf("a wait that Close ended: %v", err)
		}
	}
	becomes(t, "only the other client's connection", func() bool { return connections() == before-2 })
	for _, n := range all {
		if err := n.pass(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("%s of a closed client: %v", n.name, err)
		}
	}
}
