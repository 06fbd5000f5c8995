package rlock_test

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

// A write to a full socket stalls, too. A command that was partly written is completed once there
// is room.
func TestCallsEndInTimeWhileASocketIsFull(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	small := func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		if err == nil {
			err = conn.(*net.TCPConn).SetWriteBuffer(64 << 10)
		}
		return conn, err
	}
	c := openWith(t, s.URL(), rlock.WithDialer(small), rlock.WithCommandTimeout(time.Hour)) // nothing here waits for it
	h := lock(t, c, "held", rlock.Lease(700*time.Millisecond))                              // ends before the client connects for invalidations
	before := connections(t, s)
	s.Pause()
	var all sync.WaitGroup
	for i := range 8 { // each is more than the socket's buffer takes
		all.Go(func() {
			long := strconv.Itoa(i) + strings.Repeat("x", 500<<10)
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			if _, err := c.NewLock(long).Lock(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%.100v", err)
			}
		})
	}
	all.Wait()
	<-h.Done()
	s.Resume()
	if err := c.NewLock("other").Do(t.Context(), func(context.Context) error { return nil }); err != nil {
		t.Error(err)
	}
	if n := connections(t, s) - before; n != 1 { // the connection of this query
		t.Errorf("%d new connections: the first was given up", n-1)
	}
}

// connections returns how many connections s has accepted so far.
func connections(t *testing.T, s *redistest.Server) int {
	t.Helper()
	info, err := redis.String(s.Dial(t).Do("INFO", "stats"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(info, "total_connections_received:")
	text, _, _ = strings.Cut(text, "\r\n")
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
