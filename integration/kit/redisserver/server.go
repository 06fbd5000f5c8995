package redisserver

import (
	"os"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
)

// patience bounds each wait; a loaded machine may need seconds for what else takes 20 ms.
const patience = 30 * time.Second

// Server is a Redis server for a test.
type Server interface {
	URL() string  // redis:// or rediss://, with the password if there is one
	Addr() string // host:port
}

// Start returns the server at REDIS_URL if that is set, else a new local process.
func Start(t testing.TB) Server {
	t.Helper()
	if url := os.Getenv("REDIS_URL"); url != "" {
		return Given(t, url)
	}
	return Local(t)
}

// Dial connects to a server with timeouts of 5 to 10 s. The connection is closed when the test ends.
func Dial(t testing.TB, s Server, options ...redis.DialOption) redis.Conn {
	t.Helper()
	conn, err := Connect(s.URL(), options...)
	if err != nil {
		t.Fatalf("redisserver: %v", err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// Connect is Dial for a URL; for one of Sentinels it connects to the master. The caller closes the connection.
func Connect(url string, options ...redis.DialOption) (redis.Conn, error) {
	if several(url) {
		return topologytest.Dial(url)
	}
	if sentinels(url) {
		var err error
		if url, err = masterURL(url); err != nil {
			return nil, err
		}
	}
	return redis.DialURL(url, append([]redis.DialOption{
		redis.DialConnectTimeout(5 * time.Second),
		redis.DialReadTimeout(10 * time.Second),
		redis.DialWriteTimeout(5 * time.Second),
	}, options...)...)
}

// await polls until try succeeds, or fails the test with the last error.
func await(t testing.TB, what string, try func() error) {
	t.Helper()
	var err error
	redistest.Becomes(t, what, func() bool { err = try(); return err == nil }, func() string { return err.Error() })
}

// answers sends PING on a new connection with timeouts of 1 s.
func answers(url string, options ...redis.DialOption) error {
	conn, err := Connect(url, append([]redis.DialOption{
		redis.DialConnectTimeout(time.Second), redis.DialReadTimeout(time.Second),
	}, options...)...)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.Do("PING")
	return err
}
