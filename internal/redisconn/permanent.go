package redisconn

import (
	"crypto/tls"
	"errors"
	"net"
)

// Permanent tells whether connecting again would meet the same refusal: bad
// credentials, a missing permission, a database that does not exist, a certificate
// that either side does not trust, a server without TLS, a pool that is too small,
// or a server of another topology. It is false for refused credentials that are
// asked for at each connect. An error with a method Permanent decides by itself.
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
	said, _ := RefusalOf(err)
	return distrusted || plain || alerted(err) || said.OfConnection()
}

// alerted tells whether err is a TLS alert of the server, as after a certificate that it
// refuses.
func alerted(err error) bool {
	alert, ok := errors.AsType[*net.OpError](err)
	return ok && alert.Op == "remote error"
}

// credentialsError is the refusal of credentials that are asked for at each
// connect. The next ones may be accepted.
type credentialsError struct{ error }

func (e credentialsError) Unwrap() error { return e.error }

// CredentialsRefused tells whether err is the refusal of credentials that are asked
// for at each connect.
func CredentialsRefused(err error) bool {
	_, ok := errors.AsType[credentialsError](err)
	return ok
}
