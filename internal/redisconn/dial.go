package redisconn

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/gomodule/redigo/redis"
)

// timeLeft is the time that ctx leaves, as redigo wants it: 0 means no limit.
func timeLeft(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return 0
	}
	return max(time.Until(deadline), time.Millisecond)
}

// Do sends a command on c and receives its reply, in the time that ctx leaves.
func Do(ctx context.Context, c redis.Conn, command string, args ...any) (any, error) {
	return redis.DoWithTimeout(c, timeLeft(ctx), command, args...)
}

// Receive receives a reply on c in the time that ctx leaves.
func Receive(ctx context.Context, c redis.Conn) (any, error) {
	return redis.ReceiveWithTimeout(c, timeLeft(ctx))
}

// Ask dials, calls questions with the connection, and closes it. Answers may have admit
// bytes if that is more than usual, see Admit. ctx bounds all of it, and must have a
// deadline.
func (t *Target) Ask(ctx context.Context, admit int, questions func(redis.Conn) error) error {
	dialled, err := t.Dial(ctx, timeLeft(ctx))
	if err != nil {
		return err
	}
	c := dialled.(*Conn)
	defer c.Close()
	c.admit = admit
	defer c.interruptedBy(ctx)()
	return questions(c)
}

// Ask calls questions with the connection. It is interrupted if ctx is cancelled meanwhile.
func (c *Conn) Ask(ctx context.Context, questions func(redis.Conn) error) error {
	defer c.interruptedBy(ctx)()
	return questions(c)
}

// interruptedBy interrupts c if ctx is cancelled before stop is called. The deadline of ctx
// does not interrupt c: it bounds each read, so that callers don't take the error for their
// own context's.
func (c *Conn) interruptedBy(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() {
		if ctx.Err() == context.Canceled {
			c.Interrupt()
		}
	})
}

// Dial connects, authenticates and selects the database; ctx bounds all of
// it, the TLS handshake included, and must have a deadline. timeout bounds
// each later write; reads are bounded by ReceiveWithTimeout.
func (t *Target) Dial(ctx context.Context, timeout time.Duration) (redis.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t.dials.Store(&cancel, nil)
	defer t.dials.Delete(&cancel)
	// redigo's own TLS handshake ignores ctx, so the stream is made here.
	nc, err := t.connect(ctx)
	if err != nil {
		return nil, err
	}
	// A server that says nothing ends Dial before the caller's time is over, so that the caller
	// learns why.
	if deadline, ok := ctx.Deadline(); ok {
		var end context.CancelFunc
		ctx, end = context.WithDeadline(ctx, deadline.Add(-time.Until(deadline)/32))
		defer end()
	}
	raw, certified := nc, false
	if t.TLS != nil {
		var tc net.Conn
		var asked bool
		if err := apart("the configuration", func() (err error) {
			tc, asked, err = t.handshake(ctx, nc)
			return err
		}); err != nil {
			nc.Close()
			return nil, fmt.Errorf("connect to %s: TLS: %w", t.Address, t.whyNoTLS(err))
		}
		nc, certified = tc, asked
	}
	c := newConn(raw, nc, timeout, &t.open, t.Address)
	if t.Named() {
		c.place = raw.RemoteAddr().String()
	}
	t.open.Store(c, nil)
	stop := c.interruptedBy(ctx)
	if certified { // the first command that matters must not meet an alert
		if _, err = Do(ctx, c, "PING"); IsRefusal(err) {
			err = nil
		}
	}
	if err == nil {
		err = t.greet(ctx, c)
	}
	stop()
	if err != nil {
		c.Close()
		err = t.wantsPassword(err)
		if certified {
			err = t.whyNoTLS(t.alert(ctx, err))
		}
		if t.TLS == nil && t.network() == "tcp" {
			err = t.wantsTLS(err, c.Reads() > 1)
		}
		return nil, fmt.Errorf("connect to %s: %w", t.Address, err)
	}
	cmp.Or(t.from, t).worked.Store(true)
	return c, nil
}

// whyNoTLS adds to the error of a handshake a likely reason and what to do about it. A Redis
// without TLS takes the handshake for an unfinished command, or refuses it in plain text.
func (t *Target) whyNoTLS(err error) error {
	option := cmp.Or(t.TLSOption, "WithTLSConfig")
	_, plain := errors.AsType[tls.RecordHeaderError](err)
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	_, named := errors.AsType[x509.HostnameError](err)
	switch {
	case plain || errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded):
		without := "redis://"
		if t.TLSOption != "" {
			without = "it without " + option
		}
		return fmt.Errorf("%w; a port without TLS answers like that: try %s", err, without)
	case unknown:
		return fmt.Errorf("%w; if that authority is yours, put it into RootCAs of %s", err, option)
	case named:
		return fmt.Errorf("%w; if the server is yours, put a name that its certificate has into ServerName of %s", err, option)
	case alerted(err) && strings.Contains(err.Error(), "certificate"):
		return fmt.Errorf("%w; the server wants a certificate that it trusts: put it into Certificates of %s", err, option)
	}
	return err
}

// wantsTLS adds a likely reason to the error of the first command: a port with TLS ends a
// connection that does not begin with a handshake, answers with an alert, or waits for the rest
// of it. A target that worked before has no TLS, and is only silent.
func (t *Target) wantsTLS(err error, answered bool) error {
	silent := errors.Is(err, os.ErrDeadlineExceeded) && !answered && !cmp.Or(t.from, t).worked.Load()
	if silent || errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, errAlert) {
		return fmt.Errorf("%w; TLS is not in use here, and a port with TLS answers like that: try %s", err, cmp.Or(t.TLSOption, "rediss://"))
	}
	return err
}

// wantsPassword says how to give the password that the server asked for.
func (t *Target) wantsPassword(err error) error {
	said, _ := RefusalOf(err)
	switch {
	case !said.NoAuth():
		return err
	case t.Option != "":
		return fmt.Errorf("a password is required: use %s: %w", t.Option, redis.Error(said.Text()))
	}
	return fmt.Errorf("a password is required: put it into the URL or use WithCredentials: %w", redis.Error(said.Text()))
}

// greet authenticates, selects the database and names the connection.
func (t *Target) greet(ctx context.Context, c *Conn) error {
	do := func(command string, args ...any) error {
		reply, err := Do(ctx, c, command, args...)
		if err == nil && reply != "OK" { // every Redis says OK
			err = fmt.Errorf("no Redis: answered with a Go %T, not OK", reply)
		}
		return err
	}
	user, password := t.Username, t.Password
	if t.Credentials != nil {
		if err := apart("the function", func() (err error) {
			user, password, err = t.Credentials(ctx)
			return err
		}); err != nil {
			return fmt.Errorf("credentials: %w", err)
		}
	}
	if password != "" {
		args := []any{password}
		if user != "" {
			args = []any{user, password}
		}
		if err := do("AUTH", args...); err != nil {
			err = fmt.Errorf("AUTH: %w", redact(err, password))
			if t.Credentials != nil {
				err = credentialsError{err}
			}
			return err
		}
	}
	if t.Database != 0 {
		if err := do("SELECT", t.Database); err != nil {
			return fmt.Errorf("SELECT %d: %w", t.Database, err)
		}
	}
	if t.Name != "" {
		err := do("CLIENT", "SETNAME", t.Name)
		if said, _ := RefusalOf(err); err != nil && !said.NotAllowed() {
			// The name only helps operators, so an account without it will do.
			return fmt.Errorf("CLIENT SETNAME: %w", err)
		}
		c.unnamed = err
	}
	return nil
}

// redact removes the password from an error answer: a server that doesn't know AUTH
// repeats its arguments, perhaps shortened. It returns an error that is no server's unchanged.
func redact(err error, password string) error {
	said, ok := RefusalOf(err)
	if !ok {
		return err
	}
	text, _, _ := strings.Cut(said.text, ", with args beginning with")
	return redis.Error(strings.ReplaceAll(text, password, "(the password)"))
}
