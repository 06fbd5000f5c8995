package locks

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

const timeout = 2 * time.Second

// to dials s.
func to(s *redistest.Server) dials {
	return func(ctx context.Context) (redis.Conn, error) {
		return redis.DialURLContext(ctx, s.URL(), redis.DialReadTimeout(timeout), redis.DialWriteTimeout(timeout))
	}
}

// nobody dials a server that is not there.
func nobody(context.Context) (redis.Conn, error) { return nil, errors.New("nobody is there") }

// openForChange makes a client and a semaphore, and closes the client with the test.
func openForChange(t *testing.T, d dials, logger *slog.Logger) (c *Client, l Lock) {
	t.Helper()
	o := config()
	o.Timeout, o.Logger, o.Topology = timeout, logger, d.topology
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, c.NewLock(kind.Semaphore(1), "seats", "seats")
}

func adding(w *kind.Want) kind.Call { return kind.ChangeSemaphore(w, luasrc.GiveBack, 2, 0) }

// A change counts once, and leaves nothing behind unless its receipt is to be kept.
func TestChangeCountsAndItsReceiptGoes(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	_, l := openForChange(t, to(s), nil)
	for range 3 {
		if _, err := sendChange(t.Context(), &l, true, adding, nil); err != nil {
			t.Fatal(err)
		}
	}
	conn := s.Dial(t)
	if n, err := redis.Int(conn.Do("GET", "seats")); n != 6 || err != nil {
		t.Errorf("%d permits, %v", n, err)
	}
	redistest.Becomes(t, "the permits are left, and who made them", func() bool {
		keys, err := redis.Int(conn.Do("DBSIZE"))
		return err == nil && keys == 2
	})
}

// The server refuses the change for now, and its caller leaves. The repetition learns of that later: it ends once.
func TestChangeThatIsTakenBackEndsOnce(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	if _, err := s.Dial(t).Do("CONFIG", "SET", "min-replicas-to-write", 1); err != nil {
		t.Fatal(err)
	}
	c, l := openForChange(t, to(s), nil)
	for i := range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*5*time.Millisecond+time.Millisecond)
		if _, err := sendChange(ctx, &l, false, adding, nil); !errors.Is(err, context.DeadlineExceeded) && !errors.Is(Classify(err), ErrUnavailable) {
			t.Errorf("%v", err)
		}
		cancel()
	}
	if n := c.work.Count(); n != 0 {
		t.Errorf("%d go on", n)
	}
}

func TestChangeThatIsNotSentIsTakenBack(t *testing.T) {
	t.Parallel()
	dialling := make(chan struct{}, 9)
	c, l := openForChange(t, func(ctx context.Context) (redis.Conn, error) {
		dialling <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-dialling
		cancel()
	}()
	if _, err := sendChange(ctx, &l, false, adding, nil); !errors.Is(err, context.Canceled) || errors.Is(err, ErrUncertain) {
		t.Errorf("what was not sent: %v", err)
	}
	if _, err := sendChange(ctx, &l, false, adding, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that is over: %v", err)
	}
	if n := c.work.Count(); n != 0 {
		t.Errorf("%d are under way", n)
	}
}

func TestChangeWithoutAServerEndsAfterATimeout(t *testing.T) {
	t.Parallel()
	c, l := openForChange(t, nobody, nil)
	if _, err := sendChange(t.Context(), &l, false, adding, nil); err == nil || errors.Is(err, ErrUncertain) || !errors.Is(Classify(err), ErrUnavailable) {
		t.Errorf("without a server: %v", err)
	}
	c.Close()
	if _, err := sendChange(t.Context(), &l, false, adding, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("of a closed client: %v", err)
	}
}

func TestChangeThatIsDueIsSentThoughItsContextIsOver(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	_, l := openForChange(t, to(s), nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := sendChange(ctx, &l, true, adding, nil); err != nil {
		t.Error(err)
	}
	if n, err := redis.Int(s.Dial(t).Do("GET", "seats")); n != 2 || err != nil {
		t.Errorf("%d permits, %v", n, err)
	}
	_, gone := openForChange(t, nobody, nil)
	if _, err := sendChange(ctx, &gone, true, adding, nil); !errors.Is(Classify(err), ErrUnavailable) || errors.Is(err, ErrUncertain) {
		t.Errorf("without a server: %v", err)
	}
}

// lines is a log that a test may read while it is written.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) has(what string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.text.String(), what)
}

// If no server runs a release in time and its caller has left, the log reports it.
func TestReleaseThatIsGivenUpInTheBackgroundIsLogged(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "some timeouts pass")
	s := redistest.Start(t)
	var log lines
	c, l := openForChange(t, to(s), slog.New(slog.NewTextHandler(&log, nil)))
	c.changeFor = 4 * time.Second
	s.Kill()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := sendChange(ctx, &l, true, adding, nil); err == nil {
		t.Fatal("no server, and no error")
	}
	const given = `msg="change failed"`
	if log.has(given) {
		t.Error("it is told before it is given up")
	}
	redistest.Becomes(t, "somebody is told", func() bool { return log.has(given) })
	if !log.has("lock=seats") {
		t.Error("it does not say which")
	}
}
