package redisconn

import (
	"crypto/tls"
	"errors"
	"net"

	"github.com/rlock-go/redisson/internal/refusal"
)

// Permanent tells whether connecting again would meet the same refusal: bad
// credentials, a missing permission, a database that is not there, a
// certificate that is not trusted here or there, a server without TLS, a pool that is too small, or a server that
// is not a single one. Credentials that are asked for at each connect may be
// better the next time. An error with a method Permanent says so itself.
func Permanent(err error) bool {
	if by, ok := errors.AsType[interface {
		error
		Permanent() bool
	}](err); ok {
		return by.Permanent()
	}
	if errors.Is(err, ErrPoolSize) || errors.Is(err, ErrTopology) {
		return true
	}
	if CredentialsRefused(err) {
		return false
	}
	_, distrusted := errors.AsType[*tls.CertificateVerificationError](err)
	_, plain := errors.AsType[tls.RecordHeaderError](err)
	said, _ := refusal.Of(err)
	return distrusted || plain || alerted(err) || said.OfConnection()
}

// alerted tells what the other side says of this side's certificate, once it has read
// it.
func alerted(err error) bool {
	alert, ok := errors.AsType[*net.OpError](err)
	return ok && alert.Op == "remote error"
}

// credentialsError is a refusal of credentials that are asked for at each
// connect: the next ones may be better.
type credentialsError struct{ error }

func (e credentialsError) Unwrap() error { return e.error }

// CredentialsRefused tells whether err is the refusal of credentials that are asked
// for at each connect.
func CredentialsRefused(err error) bool {
	_, ok := errors.AsType[credentialsError](err)
	return ok
}
