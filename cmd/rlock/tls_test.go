package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

// certificate writes httptest's certificate for 127.0.0.1, which is its own authority.
func certificate(t *testing.T) (cert, key string, trust *tls.Config) {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	own := s.TLS.Certificates[0]
	private, err := x509.MarshalPKCS8PrivateKey(own.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(t.TempDir(), "cert"), filepath.Join(t.TempDir(), "key")
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: own.Certificate[0]}, key: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	trust = &tls.Config{RootCAs: x509.NewCertPool()}
	trust.RootCAs.AddCert(s.Certificate())
	return cert, key, trust
}

// All servers use TLS, also among each other, or only the Sentinels do.
func TestSentinelsThatSpeakTLS(t *testing.T) {
	t.Parallel()
	cert, key, trust := certificate(t)
	for _, all := range []bool{true, false} {
		secure := func() (f redistest.Front) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			f.Addr = l.Addr().String()
			_, port, _ := net.SplitHostPort(f.Addr)
			f.Args = []string{"--tls-port", port, "--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", cert, "--tls-auth-clients", "no"}
			if all {
				f.Args = append(f.Args, "--tls-replication", "yes")
			}
			return f
		}
		var nodes, sentinels [3]redistest.Front
		var addrs []string
		for i := range 3 {
			sentinels[i] = secure()
			addrs = append(addrs, sentinels[i].Addr)
			if all {
				nodes[i] = secure()
			}
		}
		redistest.StartSentinelsFronted(t, redistest.SentinelPasswords{}, nodes, sentinels)
		url := "redis+sentinel://" + strings.Join(addrs, ",") + "/" + redistest.MasterName
		flags, opts := []string{"--sentinel-tls", "--tls-ca", cert}, []rlock.Option{rlock.WithSentinelTLSConfig(trust)}
		if all {
			flags, opts = append(flags, "--tls"), append(opts, rlock.WithTLSConfig(trust))
		}
		h := acquire(t, open(t, url, opts...).NewLock("lock"))
		for _, c := range []struct{ args, says string }{
			{"ls", h.Owner().String()},
			{"show lock", h.Owner().String()},
			{"watch --for 300ms lock", "held         lock  by " + h.Owner().String() + ", since before"},
			{"doctor", "ok    messages"},
			{"run other -- echo ran", "ran"},
			{"unlock --force --yes lock", "freed"},
		} {
			words := strings.Fields(c.args)
			args := slices.Concat(words[:1], flags, words[1:])
			if out := ended(t, 0, url, args...); !strings.Contains(out, c.says) || strings.Contains(out, "todo") {
				t.Errorf("rlock %q: %s", args, out)
			}
		}
		for _, args := range [][]string{{"ls"}, {"show", "lock"}, {"doctor"}} { // without TLS, and without trust
			ended(t, unreachable, url, append(args, "--timeout", "300ms")...)
			ended(t, unreachable, url, append(args, "--timeout", "300ms", "--tls", "--sentinel-tls")...)
		}
	}
}
