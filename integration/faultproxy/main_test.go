package faultproxy_test

import (
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/internal/redistest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a server, the proxy before it, and a connection that goes around the proxy.
type rig struct {
	*testing.T
	server *redistest.Server
	proxy  *faultproxy.Proxy
	direct redis.Conn
}

func newRig(t *testing.T) *rig {
	server := redistest.Start(t)
	return &rig{t, server, faultproxy.Start(t, server.Addr()), server.Dial(t)}
}

// dial connects through the proxy; the read timeout is what a silent proxy is noticed by.
func (r *rig) dial(readTimeout time.Duration) redis.Conn {
	r.Helper()
	c, err := redis.Dial("tcp", r.proxy.Addr(), redis.DialReadTimeout(readTimeout), redis.DialConnectTimeout(5*time.Second))
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { c.Close() })
	return c
}

// wants fails unless GET key gives value; "" is an absent key.
func (r *rig) wants(key, value string) {
	r.Helper()
	got, err := redis.String(r.direct.Do("GET", key))
	if err != nil && !errors.Is(err, redis.ErrNil) {
		r.Fatal(err)
	}
	if got != value {
		r.Errorf("%s is %q, want %q", key, got, value)
	}
}

// becomes waits for a state.
func (r *rig) becomes(what string, state func() bool) {
	r.Helper()
	for end := time.Now().Add(10 * time.Second); !state(); {
		if time.Now().After(end) {
			r.Fatalf("never: %s", what)
		}
		<-time.After(time.Millisecond)
	}
}

func isTimeout(err error) bool {
	var net net.Error
	return errors.As(err, &net) && net.Timeout()
}

func must(t testing.TB, c redis.Conn, name string, args ...any) any {
	t.Helper()
	reply, err := c.Do(name, args...)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return reply
}

func send(t testing.TB, c redis.Conn, name string, args ...any) {
	t.Helper()
	if err := errors.Join(c.Send(name, args...), c.Flush()); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func text(reply any) string { return fmt.Sprintf("%s", reply) }
