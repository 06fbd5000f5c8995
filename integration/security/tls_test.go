package security

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

func as127(t *testing.T, a *redisserver.Authority, change func(*x509.Certificate)) tls.Certificate {
	t.Helper()
	return a.IssueChanged(t, change, "localhost", "127.0.0.1")
}

func unchanged(*x509.Certificate) {}

func expired(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }
func early(c *x509.Certificate)   { c.NotBefore = time.Now().Add(time.Minute) }

// terminator speaks TLS in front of a plain server, as stunnel does, and keeps what clients sent.
type terminator struct {
	testbed.Log
	addr string
}

func terminate(t *testing.T, server string, config *tls.Config) *terminator {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", config)
	testbed.Must(t, err)
	s := &terminator{addr: l.Addr().String()}
	var serving sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() {
		cancel()
		l.Close()
		serving.Wait()
	})
	serving.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			redis, err := net.Dial("tcp", server)
			if err != nil {
				client.Close()
				continue
			}
			end := func() { client.Close(); redis.Close() }
			context.AfterFunc(ctx, end)
			serving.Go(func() { defer end(); _, _ = io.Copy(io.MultiWriter(redis, s), client) })
			serving.Go(func() { defer end(); _, _ = io.Copy(client, redis) })
		}
	})
	return s
}

func TestServersThatAreNotWhatTheySayAreRefused(t *testing.T) {
	plain := redisserver.Local(t)
	ours, theirs := redisserver.NewAuthority(t), redisserver.NewAuthority(t)
	const secret = "only-for-the-real-server"
	hostname := func(err error) bool { return errors.As(err, new(x509.HostnameError)) }
	reason := func(is x509.InvalidReason) func(error) bool {
		return func(err error) bool {
			var e x509.CertificateInvalidError
			return errors.As(err, &e) && e.Reason == is
		}
	}
	for behaviour, row := range map[string]struct {
		by     *redisserver.Authority
		change func(*x509.Certificate)
		host   string // in the URL; empty: 127.0.0.1
		most   uint16 // newest version of TLS; 0: any
		is     func(error) bool
	}{
		"an expired certificate":              {ours, expired, "", 0, reason(x509.Expired)},
		"a certificate that is not valid yet": {ours, early, "", 0, reason(x509.Expired)},
		"an unknown authority":                {theirs, unchanged, "", 0, func(err error) bool { return errors.As(err, new(x509.UnknownAuthorityError)) }},
		"a certificate for another address than the URL's": {
			ours, func(c *x509.Certificate) { c.IPAddresses = nil }, "", 0, hostname,
		},
		"a certificate for another name than the URL's": {
			ours, func(c *x509.Certificate) { c.DNSNames = []string{"elsewhere.test"} }, "localhost", 0, hostname,
		},
		"the host in the common name alone": {
			ours, func(c *x509.Certificate) { c.Subject.CommonName, c.IPAddresses, c.DNSNames = "127.0.0.1", nil, nil }, "", 0, hostname,
		},
		"a client's certificate": {
			ours, func(c *x509.Certificate) { c.ExtKeyUsage = c.ExtKeyUsage[1:] }, "", 0, reason(x509.IncompatibleUsage),
		},
		"TLS 1.1": {
			ours, unchanged, "", tls.VersionTLS11, func(err error) bool { return strings.Contains(err.Error(), "protocol version") },
		},
	} {
		t.Run(behaviour, func(t *testing.T) {
			certificates := []tls.Certificate{as127(t, row.by, row.change)}
			s := terminate(t, plain.Addr(), &tls.Config{Certificates: certificates, MinVersion: tls.VersionTLS10, MaxVersion: row.most})
			addr := s.addr
			if row.host != "" {
				_, port, _ := net.SplitHostPort(addr)
				addr = net.JoinHostPort(row.host, port)
			}
			c, err := rlock.Open(t.Context(), "rediss://user:"+secret+"@"+addr,
				rlock.WithTLSConfig(&tls.Config{RootCAs: ours.Pool()}), rlock.WithCommandTimeout(timeout))
			if err == nil {
				c.Close()
				t.Fatal("it was believed")
			}
			if !row.is(err) {
				t.Errorf("%T %v", err, err)
			}
			if said := s.String(); said != "" {
				t.Errorf("it was told %q", said)
			}
		})
	}
}

func TestBothConnectionsVerify(t *testing.T) {
	ours := redisserver.NewAuthority(t)
	r := on(t, redisserver.Local(t))
	s := terminate(t, r.Server.Addr(), &tls.Config{Certificates: []tls.Certificate{as127(t, ours, unchanged)}})
	var verified atomic.Int64
	config := &tls.Config{RootCAs: ours.Pool(), VerifyConnection: func(state tls.ConnectionState) error {
		if len(state.VerifiedChains) == 0 || state.Version < tls.VersionTLS12 {
			return errors.New("not verified")
		}
		verified.Add(1)
		return nil
	}}
	c := r.Open("rediss://"+s.addr, rlock.WithTLSConfig(config))
	// What the caller does to the config afterwards does not affect the client.
	config.VerifyConnection, config.InsecureSkipVerify = nil, true
	name := unique()
	h := r.Lock(c.NewLock(name))
	waiter := testbed.Enter(t.Context(), c.NewLock(name))
	r.Listeners(name, 1)
	r.Unlock(h)
	r.Unlock(r.Entered(waiter).Hold)
	if n := verified.Load(); n != 2 {
		t.Errorf("%d connections verified, want commands and subscriptions", n)
	}
}

func TestClientsThatAreNotWhatTheySayAreRefused(t *testing.T) {
	t.Parallel()
	server, stranger := redisserver.TLS(t, true), redisserver.NewAuthority(t)
	ours, addr := server.Authority, server.Addr()
	for behaviour, row := range map[string]struct {
		cert    tls.Certificate
		letIn   bool
		unshown bool
	}{
		"a good certificate":                 {cert: as127(t, ours, unchanged), letIn: true},
		"no certificate":                     {unshown: true},
		"an expired certificate":             {cert: as127(t, ours, expired)},
		"a certificate of another authority": {cert: as127(t, stranger, unchanged)},
	} {
		t.Run(behaviour, func(t *testing.T) {
			config := &tls.Config{RootCAs: ours.Pool()}
			if !row.unshown {
				// Send this one, whatever the server lists as acceptable.
				config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &row.cert, nil }
			}
			c, err := rlock.Open(t.Context(), "rediss://"+addr, rlock.WithTLSConfig(config), rlock.WithCommandTimeout(timeout))
			if err == nil {
				c.Close()
			}
			if row.letIn != (err == nil) {
				t.Error(err)
			}
		})
	}
}

// Neither side can know that the scheme is wrong, or whose a certificate is, so the error says what to check and what to set.
func TestTLSThatFailsSaysWhatToSet(t *testing.T) {
	t.Parallel()
	plain := redisserver.Local(t).Addr()
	wary, open := redisserver.TLS(t, true), redisserver.TLS(t, false)
	secured, authority := open.Addr(), open.Authority
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	testbed.Must(t, err)
	t.Cleanup(func() { silent.Close() })
	const (
		noTLS, tlsToo = "a port without TLS answers like that: try ", "a port with TLS answers like that: try "
		unknown       = "if that authority is yours, put it into RootCAs of "
		shy           = "the server wants a certificate that it trusts: put it into Certificates of WithTLSConfig"
	)
	known := &tls.Config{RootCAs: wary.Authority.Pool()}
	for _, row := range []struct {
		url  string
		tls  *tls.Config // nil: no option
		says string
	}{
		{"rediss://" + plain, nil, noTLS + "redis://"},
		{"rediss://" + plain, known, noTLS + "redis://"},
		{"redis+cluster://" + plain, known, noTLS + "it without WithTLSConfig"},
		{"redis+replicated://" + plain, known, noTLS + "it without WithTLSConfig"},
		{"redis+sentinel://" + plain + "/orders", known, noTLS + "it without WithSentinelTLSConfig"},
		{"redis://" + secured, nil, tlsToo + "rediss://"},
		{"redis://user:password@" + secured, nil, tlsToo + "rediss://"},
		{"redis://" + silent.Addr().String(), nil, tlsToo + "rediss://"},
		{secured, nil, "host:port is written redis://host:port"},
		{"rediss://" + secured, nil, unknown + "WithTLSConfig"},
		{"redis+cluster://" + secured, known, unknown + "WithTLSConfig"},
		{"redis+replicated://" + secured, known, unknown + "WithTLSConfig"},
		{"rediss://" + secured, &tls.Config{RootCAs: authority.Pool(), ServerName: "elsewhere"}, "put a name that its certificate has into ServerName of WithTLSConfig"},
		{"redis+sentinel://" + secured + "/orders", known, unknown + "WithSentinelTLSConfig"},
		{"rediss://" + wary.Addr(), known, shy},
		{"redis+cluster://" + wary.Addr(), known, shy},
		{"redis+replicated://" + wary.Addr(), known, shy},
	} {
		t.Run(row.url, func(t *testing.T) {
			t.Parallel() // most are tried until the timeout, which must be long: an error for want of a processor says something else
			opts := []rlock.Option{rlock.WithCommandTimeout(10 * timeout)}
			if row.tls != nil {
				given := rlock.WithTLSConfig
				if strings.HasPrefix(row.url, "redis+sentinel") {
					given = rlock.WithSentinelTLSConfig
				}
				opts = append(opts, given(row.tls))
			}
			c, err := rlock.Open(t.Context(), row.url, opts...)
			if err == nil {
				c.Close()
				t.Error("it connected")
			} else if !strings.Contains(err.Error(), row.says) {
				t.Error(err)
			}
		})
	}
}

func TestHandshakeThatNeverEndsIsBounded(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testbed.Must(t, err)
	defer l.Close()
	c, err := rlock.Open(t.Context(), "rediss://"+l.Addr().String(), rlock.WithCommandTimeout(timeout))
	if err == nil {
		c.Close()
		t.Fatal("it connected")
	}
}
