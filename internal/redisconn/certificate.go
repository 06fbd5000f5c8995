package redisconn

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/refusal"
)

// In TLS 1.3 a server reads the client's certificate after the client's handshake
// has ended. It refuses by an alert and closes, and if the client has written its
// first command by then, the alert is lost to the reset of the connection. So
// that is asked for once more, with nothing written.

// alertWithin is how long a server may take to refuse a certificate.
const alertWithin = time.Second

// handshake secures nc, and tells whether the server asked for a certificate.
func (t *Target) handshake(ctx context.Context, nc net.Conn) (tc *tls.Conn, asked bool, err error) {
	config := t.TLS.Clone()
	choose := config.GetClientCertificate
	if choose == nil {
		choose = firstSupported(config.Certificates)
	}
	config.GetClientCertificate = func(wanted *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		asked = true
		return choose(wanted)
	}
	tc = tls.Client(nc, config)
	err = tc.HandshakeContext(ctx)
	return tc, asked, err
}

// firstSupported chooses as crypto/tls does on its own.
func firstSupported(all []tls.Certificate) func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	return func(wanted *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		for i := range all {
			if wanted.SupportsCertificate(&all[i]) == nil {
				return &all[i], nil
			}
		}
		return new(tls.Certificate), nil
	}
}

// awaitReply has the server reply, whatever it says, so that the first command that
// counts does not meet its alert.
func awaitReply(ctx context.Context, c redis.Conn) error {
	deadline, _ := ctx.Deadline()
	_, err := redis.DoWithTimeout(c, max(time.Until(deadline), time.Millisecond), "PING")
	if refusal.Is(err) {
		return nil
	}
	return err
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
		end := time.Now().Add(alertWithin)
		if deadline, ok := ctx.Deadline(); ok && deadline.Before(end) {
			end = deadline
		}
		_ = tc.SetReadDeadline(end)
		_, refused = tc.Read(make([]byte, 1))
	}
	if by, ok := errors.AsType[*net.OpError](refused); ok && by.Op == "remote error" {
		return refused
	}
	return err
}
