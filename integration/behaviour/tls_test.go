package behaviour_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/rlock"
)

// handOver has one client wait for another's unlock: a command and a subscription connection each.
func (r *rig) handOver(from, to *rlock.Client) {
	r.Helper()
	name := r.name()
	h := r.Lock(from.NewLock(name))
	waiter := r.enter(to.NewLock(name))
	r.Listeners(name, 1)
	began := time.Now()
	r.Unlock(h)
	e := r.Entered(waiter)
	between(r, "waking up", e.At.Sub(began), 0, 5*time.Second)
	r.Unlock(e.Hold)
}

func TestLockOverTLS(t *testing.T) {
	for behaviour, mutual := range map[string]bool{"server certificate": false, "client certificate too": true} {
		t.Run(behaviour, func(t *testing.T) {
			s := redisserver.TLS(t, mutual)
			r := on(t, s.LocalServer)
			config := s.Config(t)
			r.handOver(r.Open(s.URL(), rlock.WithTLSConfig(config)), r.Open(s.URL(), rlock.WithTLSConfig(config)))
			t.Run("the URL's host is verified", func(t *testing.T) {
				unnamed := config.Clone()
				unnamed.ServerName = ""
				r.handOver(r.Open(s.URL(), rlock.WithTLSConfig(unnamed)), r.Open(s.URL(), rlock.WithTLSConfig(unnamed)))
			})
		})
	}
}

func TestTLSRefusals(t *testing.T) {
	t.Parallel()
	s := redisserver.TLS(t, true)
	fails := func(t *testing.T, url string, config *tls.Config) error {
		t.Helper()
		opts := []rlock.Option{rlock.WithCommandTimeout(2 * time.Second)}
		if config != nil {
			opts = append(opts, rlock.WithTLSConfig(config))
		}
		c, err := rlock.Open(t.Context(), url, opts...)
		if err == nil {
			c.Close()
			t.Fatal("it connected")
		}
		return err
	}
	t.Run("a server of an unknown authority", func(t *testing.T) {
		err := fails(t, s.URL(), nil)
		if !errors.As(err, new(x509.UnknownAuthorityError)) {
			t.Error(err)
		}
		wants(t, err, nil, "TLS", s.Addr())
	})
	t.Run("a server with another name", func(t *testing.T) {
		config := s.Config(t)
		config.ServerName = "elsewhere.test"
		if err := fails(t, s.URL(), config); !errors.As(err, new(x509.HostnameError)) {
			t.Error(err)
		}
	})
	t.Run("a client without its certificate", func(t *testing.T) {
		config := s.Config(t)
		config.Certificates = nil
		// With TLS 1.3 a client has finished its handshake when the server refuses it; whether it reads the reason
		// before its own next bytes meet a closed connection is chance.
		wants(t, fails(t, s.URL(), config), nil, "rlock: open")
		config.MaxVersion = tls.VersionTLS12
		wants(t, fails(t, s.URL(), config), nil, "TLS", "remote error")
	})
	t.Run("a plain URL to a TLS port", func(t *testing.T) {
		wants(t, fails(t, "redis://"+s.Addr(), nil), nil, "rlock: open")
	})
	t.Run("a TLS URL to a plain port", func(t *testing.T) {
		wants(t, fails(t, "rediss://"+s.LocalServer.Addr(), s.Config(t)), nil, "TLS")
	})
}

func TestPoolOverTLS(t *testing.T) {
	s := redisserver.TLS(t, true)
	r := on(t, s.LocalServer)
	config := s.Config(t)
	pool := &redis.Pool{Dial: func() (redis.Conn, error) {
		return redis.DialURL(s.URL(), redis.DialTLSConfig(config), redis.DialReadTimeout(3*time.Second), redis.DialWriteTimeout(3*time.Second))
	}}
	defer pool.Close()
	c, err := rlock.New(pool)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r.handOver(r.Open(s.URL(), rlock.WithTLSConfig(config)), c)
	if host, _, _ := net.SplitHostPort(s.Addr()); host != "127.0.0.1" {
		t.Error(host)
	}
}
