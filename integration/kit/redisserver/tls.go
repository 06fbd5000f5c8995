package redisserver

import (
	"crypto/tls"
	"net"
	"strconv"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// TLSServer is a local server that speaks TLS at Addr. It also has a plain port, at LocalServer.Addr.
type TLSServer struct {
	*LocalServer
	Authority *Authority // signed its certificate
	port      int
	mutual    bool
}

var _ Server = (*TLSServer)(nil)

// TLS starts a local server whose certificate is for localhost and 127.0.0.1. With mutual, clients need a certificate
// of the same authority.
func TLS(t testing.TB, mutual bool, args ...string) *TLSServer {
	t.Helper()
	authority := NewAuthority(t)
	cert, key, ca := authority.Write(t, t.TempDir(), authority.Issue(t, "localhost", "127.0.0.1"))
	s := &TLSServer{Authority: authority, port: redistest.FreePort(t), mutual: mutual}
	auth := "no"
	if mutual {
		auth = "yes"
	}
	s.LocalServer = Local(t, append([]string{
		"--tls-port", strconv.Itoa(s.port), "--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", ca,
		"--tls-auth-clients", auth,
	}, args...)...)
	await(t, "an answer over TLS", func() error { return answers(s.URL(), redis.DialTLSConfig(s.Config(t))) })
	return s
}

// Addr is its TLS address.
func (s *TLSServer) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// URL is its rediss:// URL, for clients that trust its authority.
func (s *TLSServer) URL() string { return "rediss://" + s.Addr() }

// Config trusts the server's authority. It has a client certificate if the server requires one.
func (s *TLSServer) Config(t testing.TB) *tls.Config {
	t.Helper()
	c := &tls.Config{RootCAs: s.Authority.Pool(), ServerName: "localhost"}
	if s.mutual {
		c.Certificates = []tls.Certificate{s.Authority.Issue(t)}
	}
	return c
}
