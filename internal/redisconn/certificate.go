package redisconn

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/refusal"
)

// In TLS 1.3 a server reads the client's certificate after the client's handshake has
// ended. It refuses by an alert and closes, and if the client has written its first
// command by then, the alert is lost to the reset of the connection. So the alert is
// asked for once more, on a connection to which nothing is written.

// alertWithin is how long a server may take to refuse a certificate.
const alertWithin = time.Second

// handshake secures nc, and tells whether the server asked for a certificate.
func (t *Target) handshake(ctx context.Context, nc net.Conn) (tc *tls.Conn, asked bool, err error) {
	config := t.TLS.Clone()
	choose := config.GetClientCertificate
	config.GetClientCertificate = func(wanted *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		asked = true
		if choose != nil {
			return choose(wanted)
		}
		for i := range config.Certificates { // as crypto/tls does on its own
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

// awaitReply has the server reply, whatever it says, so that the first command that
// counts does not meet its alert.
func awaitReply(ctx context.Context, c redis.Conn) error {
	if _, err := Do(ctx, c, "PING"); !refusal.Is(err) {
		return err
	}
	return nil
}

// alert is what the server says of the certificate, if err is the end of a
// connection whose server asked for one, and err otherwise.
func (t *Target) alert(ctx context.Context, err error) error {
	if Permanent(err) || refusal.Is(err) || ctx.Err() != nil {
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
