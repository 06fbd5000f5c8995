package javapeer

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/redistest"
)

func TestNamePrefixIsANameMapper(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		server := redistest.Start(t)
		if version == Oldest {
			_, err := Launch(t.Context(), version, server.Addr(), NamePrefix("app:"))
			if err == nil || !strings.Contains(err.Error(), "Redisson 3.11.6 has no setting nameMapper") {
				t.Fatalf("a version without NameMapper: %v", err)
			}
			return
		}
		p := Start(t, version, server.Addr(), NamePrefix("app:"))
		must(t)(p.Thread("t1").Lock(t.Context(), "n", Watchdog))
		if redisConn := server.Dial(t); !exists(t, redisConn, "app:n") || exists(t, redisConn, "n") {
			t.Fatal("the key has no prefix")
		}
	})
}

func TestUnknownSettingIsRefused(t *testing.T) {
	server := redistest.Start(t)
	_, err := Launch(t.Context(), Newest, server.Addr(), Setting("noSuchThing", "1"))
	if err == nil || !strings.Contains(err.Error(), "has no setting noSuchThing") {
		t.Fatal(err)
	}
}

func TestSettingsReachEveryVersion(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		server := redistest.Start(t, "--requirepass", "p=ß w")
		redisConn := server.Dial(t)
		ok := must(t)
		user := ""
		if version != Oldest {
			user = "default"
		}
		p := Start(t, version, server.Addr(), Credentials(user, "p=ß w"), Database(3),
			CommandTimeout(2*time.Second), RetryAttempts(1), ConnectionPoolSize(4), SubscriptionPoolSize(3))
		ok(p.Thread("t1").Lock(t.Context(), "n", Watchdog))
		if exists(t, redisConn, "n") {
			t.Fatal("in database 0")
		}
		if _, err := redisConn.Do("SELECT", 3); err != nil {
			t.Fatal(err)
		}
		if !exists(t, redisConn, "n") {
			t.Fatal("not in database 3")
		}
	})
}

func TestTLSTrustsTheCertificatesGiven(t *testing.T) {
	cert, key := selfSigned(t)
	port := freePort(t)
	redistest.Start(t, "--tls-port", strconv.Itoa(port), "--tls-cert-file", cert, "--tls-key-file", key,
		"--tls-ca-cert-file", cert, "--tls-auth-clients", "no")
	addr := "rediss://127.0.0.1:" + strconv.Itoa(port)
	eachVersion(t, func(t *testing.T, version string) {
		ok := must(t)
		p := Start(t, version, addr, TrustCertificates(cert))
		ok(p.Thread("t1").Lock(t.Context(), "n", Watchdog))
		ok(p.Thread("t1").Unlock(t.Context(), "n"))
	})
	if p, err := Launch(t.Context(), Newest, addr); err == nil {
		p.Kill()
		t.Error("a certificate nobody vouched for was accepted")
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func selfSigned(t *testing.T) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: "redis"}, // Java refuses an empty one
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(time.Hour),
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA:         true, BasicConstraintsValid: true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("cert.pem", "CERTIFICATE", cert), write("key.pem", "PRIVATE KEY", private)
}
