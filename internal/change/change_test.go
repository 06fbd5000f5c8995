package change

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/core"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/leakcheck"
	"github.com/rlock-go/redisson/internal/lockerr"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/internal/topology"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

// dials is a pool of one connection at a time.
type dials func(context.Context) (redis.Conn, error)

func (d dials) GetContext(ctx context.Context) (redis.Conn, error) { return d(ctx) }

// open is a client of the server, until end is called, and a semaphore of it.
func open(t *testing.T, url string) (c *core.Client, l core.Lock, end func()) {
	t.Helper()
	c = new(core.Client)
	const timeout = 300 * time.Millisecond
	if err := c.Init(core.Config{Watchdog: time.Minute, Timeout: timeout, Clock: clock.System(), Topology: func(s topology.Settings) (topology.Topology, error) {
		return topology.Borrowed(dials(func(ctx context.Context) (redis.Conn, error) {
			return redis.DialURLContext(ctx, url, redis.DialReadTimeout(timeout), redis.DialWriteTimeout(timeout))
		}), s), nil
	}}, nil); err != nil {
		t.Fatal(err)
	}
	return c, c.NewLock(kind.Semaphore(1), "seats", "seats"), func() {
		c.Shut()
		c.Timers.RunAll()
		c.Top.Close(timeout)
		c.Timers.Wait()
		c.Actors.Close()
	}
}

func adding(n int) func(*kind.Want) kind.Call {
	return func(w *kind.Want) kind.Call { return kind.ChangeSemaphore(w, luasrc.GiveBack, n, 0) }
}

// It counts, and leaves nothing behind unless somebody keeps its receipt.
func TestChangeCountsAndItsReceiptGoes(t *testing.T) {
	s := redistest.Start(t)
	_, l, end := open(t, s.URL())
	defer end()
	for range 3 {
		if _, err := Do(t.Context(), &l, true, adding(2), nil); err != nil {
			t.Fatal(err)
		}
	}
	conn := s.Dial(t)
	if n, err := redis.Int(conn.Do("GET", "seats")); n != 6 || err != nil {
		t.Errorf("%d permits, %v", n, err)
	}
	for until := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if keys, err := redis.Int(conn.Do("DBSIZE")); err != nil || keys == 1 {
			break
		} else if time.Now().After(until) {
			t.Fatalf("%d keys", keys)
		}
	}
}

// The server refuses it for now, its caller leaves, and what waits to send it again hears of that later: it ends once.
func TestChangeThatIsTakenBackEndsOnce(t *testing.T) {
	s := redistest.Start(t)
	if _, err := s.Dial(t).Do("CONFIG", "SET", "min-replicas-to-write", 1); err != nil {
		t.Fatal(err)
	}
	c, l, end := open(t, s.URL())
	for i := range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*5*time.Millisecond+time.Millisecond)
		if _, err := Do(ctx, &l, false, adding(1), nil); !errors.Is(err, context.DeadlineExceeded) && !errors.Is(lockerr.Classify(err), lockerr.ErrUnavailable) {
			t.Errorf("%v", err)
		}
		cancel()
	}
	if n := c.Work.Count(); n != 0 {
		t.Errorf("%d go on", n)
	}
	end()
}
