package redisserver_test

import (
	"errors"
	"net"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/rlock-go/redisson/integration/redisserver"
)

func TestContainerLosesAndRegainsItsNetwork(t *testing.T) {
	s := redisserver.Container(t)
	old := redisserver.Dial(t, s, redis.DialReadTimeout(20*time.Second))
	must(t, old, "RPUSH", "l", "a")
	s.CutNetwork()
	s.CutNetwork()
	began := time.Now()
	if _, err := net.DialTimeout("tcp", s.Addr(), 300*time.Millisecond); !isTimeout(err) || time.Since(began) < 200*time.Millisecond {
		t.Errorf("a new connection: %v", err)
	}
	// Lost on its way, and delivered by TCP once there is a way again.
	if err := errors.Join(old.Send("RPUSH", "l", "b"), old.Flush()); err != nil {
		t.Fatal(err)
	}
	s.ReconnectNetwork()
	must(t, redisserver.Dial(t, s), "PING")
	if n, err := redis.Int(old.Receive()); n != 2 || err != nil {
		t.Errorf("the old connection got %d, %v", n, err)
	}
}

func TestContainerRestartsWithoutItsNetwork(t *testing.T) {
	s := redisserver.Container(t, "--requirepass", "p@ss")
	must(t, redisserver.Dial(t, s), "SET", "k", "v")
	s.CutNetwork()
	s.Restart()
	if _, err := net.DialTimeout("tcp", s.Addr(), 300*time.Millisecond); !isTimeout(err) {
		t.Errorf("a new connection: %v", err)
	}
	s.ReconnectNetwork()
	if v, err := redis.String(redisserver.Dial(t, s).Do("GET", "k")); v != "v" || err != nil {
		t.Errorf("GET: %q, %v", v, err)
	}
}
