package redisserver_test

import (
	"errors"
	"net"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/rlock-go/redisson/integration/redisserver"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func must(t testing.TB, c redis.Conn, name string, args ...any) any {
	t.Helper()
	reply, err := c.Do(name, args...)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return reply
}

func isTimeout(err error) bool {
	var net net.Error
	return errors.As(err, &net) && net.Timeout()
}

func value(t testing.TB, s redisserver.Server, key string) string {
	t.Helper()
	v, err := redis.String(redisserver.Dial(t, s).Do("GET", key))
	if err != nil && !errors.Is(err, redis.ErrNil) {
		t.Fatal(err)
	}
	return v
}

// checkServer is what every server that is ours must do.
func checkServer(t *testing.T, s redisserver.Server, kind redisserver.Kind) {
	if s.Kind() != kind {
		t.Errorf("kind %q", s.Kind())
	}
	addr, c := s.Addr(), redisserver.Dial(t, s, redis.DialReadTimeout(20*time.Second))
	must(t, c, "SET", "k", "v")

	s.Pause()
	if err := errors.Join(c.Send("INCR", "n"), c.Flush()); err != nil {
		t.Fatal(err)
	}
	if _, err := redis.DialURL(s.URL(), redis.DialReadTimeout(200*time.Millisecond), redis.DialPassword("x")); !isTimeout(err) {
		t.Errorf("a paused server answers: %v", err)
	}
	s.Resume()
	if n, err := redis.Int(c.Receive()); n != 1 || err != nil {
		t.Errorf("after Resume: %d, %v", n, err)
	}

	s.Restart()
	if _, err := c.Do("PING"); err == nil || isTimeout(err) {
		t.Errorf("a connection survived the restart: %v", err)
	}
	if s.Addr() != addr {
		t.Errorf("moved from %s to %s", addr, s.Addr())
	}
	if got := value(t, s, "k"); got != "v" {
		t.Errorf("after Restart k is %q", got)
	}

	s.Wipe()
	if got := value(t, s, "k"); got != "" {
		t.Errorf("after Wipe k is %q", got)
	}

	must(t, redisserver.Dial(t, s), "SET", "k", "w")
	s.Pause()
	s.Stop()
	s.Stop()
	if conn, err := net.DialTimeout("tcp", addr, time.Second); err == nil {
		conn.Close()
		t.Error("a stopped server accepts")
	}
	s.Restart()
	if got := value(t, s, "k"); got != "w" {
		t.Errorf("after Stop and Restart k is %q", got)
	}
}

func TestLocal(t *testing.T) { checkServer(t, redisserver.Local(t), redisserver.KindLocal) }

func TestContainer(t *testing.T) { checkServer(t, redisserver.Container(t), redisserver.KindContainer) }

func TestStartChoosesByTheEnvironment(t *testing.T) {
	t.Setenv("REDIS_URL", "")
	t.Setenv("RLOCK_DOCKER", "")
	local := redisserver.Start(t)
	if local.Kind() != redisserver.KindLocal {
		t.Errorf("kind %q", local.Kind())
	}
	t.Setenv("RLOCK_DOCKER", "1")
	if s := redisserver.Start(t); s.Kind() != redisserver.KindContainer {
		t.Errorf("kind %q", s.Kind())
	}
	t.Setenv("REDIS_URL", local.URL())
	given := redisserver.Start(t)
	if given.Kind() != redisserver.KindGiven || given.Addr() != local.Addr() || given.URL() != local.URL() {
		t.Errorf("given %q at %s", given.Kind(), given.Addr())
	}
	must(t, redisserver.Dial(t, given), "PING")
}
