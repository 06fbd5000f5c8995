package redisconn

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// The first connection is reset before the client can read the alert, because the server closes it with the client's
// command unread.
func TestRefusedCertificateIsToldThoughItsAlertWasLost(t *testing.T) {
	for _, row := range []struct {
		what      string
		then      tls.ClientAuthType // from the second connection on
		permanent bool
	}{
		{"it wants a certificate", tls.RequireAnyClientCert, true},
		{"it wants none, and is in trouble", tls.RequestClientCert, false},
	} {
		t.Run(row.what, func(t *testing.T) {
			https := httptest.NewTLSServer(nil)
			defer https.Close()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			go func() {
				for wanted := tls.RequestClientCert; ; wanted = row.then {
					nc, err := l.Accept()
					if err != nil {
						return
					}
					if tls.Server(nc, &tls.Config{Certificates: https.TLS.Certificates, ClientAuth: wanted}).Handshake() == nil {
						_ = nc.(*net.TCPConn).SetLinger(0)
					}
					nc.Close()
				}
			}()
			roots := x509.NewCertPool()
			roots.AddCert(https.Certificate())
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			_, err = (&Target{Address: l.Addr().String(), TLS: &tls.Config{RootCAs: roots, ServerName: "example.com"}}).Dial(ctx, time.Second)
			if err == nil || Permanent(err) != row.permanent || row.permanent && !strings.Contains(err.Error(), "certificate required") {
				t.Errorf("permanent %v: %v", Permanent(err), err)
			}
		})
	}
}
