package security

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// authority signs certificates for any time, which those of redisserver can't be made for.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	a := &authority{key: key}
	a.cert = a.sign(t, &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(48 * time.Hour),
	}, &key.PublicKey)
	return a
}

func (a *authority) sign(t *testing.T, c *x509.Certificate, public *ecdsa.PublicKey) *x509.Certificate {
	t.Helper()
	parent := a.cert
	if parent == nil {
		parent = c
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, public, a.key)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// issue makes a certificate for 127.0.0.1 and localhost, changed by change.
func (a *authority) issue(t *testing.T, change func(*x509.Certificate)) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "127.0.0.1"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	if change != nil {
		change(c)
	}
	leaf := a.sign(t, c, &key.PublicKey)
	return tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: key, Leaf: leaf}
}

func (a *authority) pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(a.cert)
	return p
}

func expired(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }

// terminator speaks TLS before a plain server, as stunnel does, and keeps what clients said inside.
type terminator struct {
	addr string
	mu   sync.Mutex // guards said
	said bytes.Buffer
}

func (s *terminator) heard() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said.String()
}

func (s *terminator) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said.Write(b)
}

func terminate(t *testing.T, server string, config *tls.Config) *terminator {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", config)
	if err != nil {
		t.Fatal(err)
	}
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
	ours, theirs := newAuthority(t), newAuthority(t)
	const secret = "only-for-the-real-server"
	for behaviour, row := range map[string]struct {
		server *tls.Config
		host   string
		is     func(error) bool
	}{
		"an expired certificate": {
			server: &tls.Config{Certificates: []tls.Certificate{ours.issue(t, expired)}},
			is:     func(err error) bool { return invalid(err, x509.Expired) },
		},
		"a certificate that is not valid yet": {
			server: &tls.Config{Certificates: []tls.Certificate{ours.issue(t, func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Minute) })}},
			is:     func(err error) bool { return invalid(err, x509.Expired) },
		},
		"an unknown authority": {
			server: &tls.Config{Certificates: []tls.Certificate{theirs.issue(t, nil)}},
			is:     func(err error) bool { return errors.As(err, new(x509.UnknownAuthorityError)) },
		},
		"a certificate for another address than the URL's": {
			server: &tls.Config{Certificates: []tls.Certificate{ours.issue(t, func(c *x509.Certificate) { c.IPAddresses = nil })}},
			is:     func(err error) bool { return errors.As(err, new(x509.HostnameError)) },
		},
		"a certificate for another name than the URL's": {
			server: &tls.Config{Certificates: []tls.Certificate{ours.issue(t, func(c *x509.Certificate) { c.DNSNames = []string{"elsewhere.test"} })}},
			host:   "localhost",
			is:     func(err error) bool { return errors.As(err, new(x509.HostnameError)) },
		},
		"the host in the common name alone": {
			server: &tls.Config{Certificates: []tls.Certificate{ours.issue(t, func(c *x509.Certificate) { c.IPAddresses, c.DNSNames = nil, nil })}},
			is:     func(err error) bool { return errors.As(err, new(x509.HostnameError)) },
		},
		"a client's certificate": {
			server: &tls.Config{Certificates: []tls.Certificate{ours.issue(t, func(c *x509.Certificate) {
				c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
			})}},
			is: func(err error) bool { return invalid(err, x509.IncompatibleUsage) },
		},
		"TLS 1.1": {
			server: &tls.Config{Certificates: []tls.Certificate{ours.issue(t, nil)}, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11},
			is:     func(err error) bool { return strings.Contains(err.Error(), "protocol version") },
		},
	} {
		t.Run(behaviour, func(t *testing.T) {
			s := terminate(t, plain.Addr(), row.server)
			addr := s.addr
			if row.host != "" {
				_, port, _ := net.SplitHostPort(addr)
				addr = net.JoinHostPort(row.host, port)
			}
			c, err := rlock.Open(t.Context(), "rediss://user:"+secret+"@"+addr,
				rlock.WithTLSConfig(&tls.Config{RootCAs: ours.pool()}), rlock.WithCommandTimeout(timeout))
			if err == nil {
				c.Close()
				t.Fatal("it was believed")
			}
			if !row.is(err) {
				t.Errorf("%T %v", err, err)
			}
			if said := s.heard(); said != "" {
				t.Errorf("it was told %q", said)
			}
		})
	}
}

func invalid(err error, reason x509.InvalidReason) bool {
	var e x509.CertificateInvalidError
	return errors.As(err, &e) && e.Reason == reason
}

func TestBothConnectionsVerify(t *testing.T) {
	ours := newAuthority(t)
	r := on(t, redisserver.Local(t))
	s := terminate(t, r.Server.Addr(), &tls.Config{Certificates: []tls.Certificate{ours.issue(t, nil)}})
	var verified atomic.Int64
	config := &tls.Config{RootCAs: ours.pool(), VerifyConnection: func(state tls.ConnectionState) error {
		if len(state.VerifiedChains) == 0 || state.Version < tls.VersionTLS12 {
			return errors.New("not verified")
		}
		verified.Add(1)
		return nil
	}}
	c := r.Open("rediss://"+s.addr, rlock.WithTLSConfig(config))
	// What the caller does to the config afterwards is nothing to the client.
	config.VerifyConnection, config.InsecureSkipVerify = nil, true
	name := unique()
	h, err := c.NewLock(name).TryLock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	waiter := testbed.Enter(t.Context(), c.NewLock(name))
	r.Listeners(name, 1)
	if err := h.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.Entered(waiter).Hold.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := verified.Load(); n != 2 {
		t.Errorf("%d connections verified, want commands and subscriptions", n)
	}
}

func TestClientsThatAreNotWhatTheySayAreRefused(t *testing.T) {
	t.Parallel()
	ours, stranger := newAuthority(t), newAuthority(t)
	addr := mutual(t, ours)
	for behaviour, row := range map[string]struct {
		cert    tls.Certificate
		letIn   bool
		unshown bool
	}{
		"a good certificate":                 {cert: ours.issue(t, nil), letIn: true},
		"no certificate":                     {unshown: true},
		"an expired certificate":             {cert: ours.issue(t, expired)},
		"a certificate of another authority": {cert: stranger.issue(t, nil)},
	} {
		t.Run(behaviour, func(t *testing.T) {
			config := &tls.Config{RootCAs: ours.pool()}
			if !row.unshown {
				// Whatever the server lists as acceptable, this one is shown.
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

// mutual starts a server that wants certificates of an authority from its clients.
func mutual(t *testing.T, a *authority) (addr string) {
	t.Helper()
	dir := t.TempDir()
	put := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	pair := a.issue(t, nil)
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr = l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(addr)
	redisserver.Local(t, "--tls-port", port, "--tls-auth-clients", "yes", "--tls-cert-file", put("cert.pem", "CERTIFICATE", pair.Leaf.Raw),
		"--tls-key-file", put("key.pem", "PRIVATE KEY", key), "--tls-ca-cert-file", put("ca.pem", "CERTIFICATE", a.cert.Raw))
	return addr
}

// Which scheme is wrong can be told by neither side: the error says what to look at.
func TestSchemeOfTheOtherSortIsGuessed(t *testing.T) {
	plain := redisserver.Local(t).Addr()
	secured := mutual(t, newAuthority(t))
	for url, want := range map[string]string{
		"rediss://" + plain:                "a port without TLS answers like that",
		"redis://" + secured:               "a port with TLS answers like that",
		"redis+cluster://" + secured:       "a port with TLS answers like that",
		"redis://user:password@" + secured: "a port with TLS answers like that",
		secured:                            "host:port is written redis://host:port",
	} {
		c, err := rlock.Open(t.Context(), url, rlock.WithCommandTimeout(timeout))
		if err == nil {
			c.Close()
			t.Errorf("%s: it connected", url)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestHandshakeThatNeverEndsIsBounded(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	began := time.Now()
	c, err := rlock.Open(t.Context(), "rediss://"+l.Addr().String(), rlock.WithCommandTimeout(timeout))
	if err == nil {
		c.Close()
		t.Fatal("it connected")
	}
	if took := time.Since(began); took > 10*timeout {
		t.Errorf("it took %v", took)
	}
}
