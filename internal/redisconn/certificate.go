package redisconn

import (
	"context"
	"crypto/tls"
	"net"
	"time"
)

// In TLS 1.3 a server reads the client's certificate after the client's handshake has
// ended. To refuse it, the server sends an alert and closes. If the client has written its
// first command by then, the reset of the connection discards the alert. So the client
// connects once more, writes nothing, and reads the alert there.

// alertWithin is how long a server may take to refuse a certificate.
const alertWithin = time.Second

// handshake does the TLS handshake on nc. asked reports whether the server wanted a
// certificate.
func (t *Target) handshake(ctx context.Context, nc net.Conn) (tc *tls.Conn, asked bool, err error) {
	config := t.TLS.Clone()
	choose := config.GetClientCertificate
	config.GetClientCertificate = func(wanted *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		asked = true
		if choose != nil {
			return choose(wanted)
		}
		for i := range config.Certificates { // as crypto/tls does by default
			if wanted.SupportsCertificate(&config.Certificates[i]) == nil {
				return &config.Certificates[i], nil
			}
		}
		return new(tls.Certificate), nil
	}
	tc = tls.Client(nc, config)
	err = tc.HandshakeContext(ctx)
	return tc, asked, err
}

// alert returns the server's alert about the certificate, which may be the cause of err on
// a connection whose server asked for one. It returns err if there is no alert.
func (t *Target) alert(ctx context.Context, err error) error {
	if Permanent(err) || IsRefusal(err) || ctx.Err() != nil {
		return err
	}
	nc, failed := t.connect(ctx)
	if failed != nil {
		return err
	}
	defer nc.Close()
	tc, _, refused := t.handshake(ctx, nc)
	if refused == nil {
		defer time.AfterFunc(min(timeLeft(ctx), alertWithin), func() { nc.Close() }).Stop()
		_, refused = tc.Read(make([]byte, 1))
	}
	if alerted(refused) {
		return refused
	}
	return err
}
