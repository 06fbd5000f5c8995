package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"
)

// Conn is a dialled connection. Beside redigo's one sender and one receiver,
// any goroutine may interrupt it.
type Conn struct {
	stream
	net   net.Conn
	guard *guard
}

// Manage leaves the reads' deadlines to SetReadDeadline from now on; those
// that redigo sets before each reply have no effect any more. Whoever receives
// has before called when nothing is left of what was read, just before it
// waits for the network, and after when that is over. If before reports that
// replies are owed, one that comes soon is polled for.
func (c *Conn) Manage(before func() bool, after func()) {
	c.guard.before, c.guard.after = before, after
	c.guard.poll = newPoller(c.guard.Conn)
	c.guard.managed.Store(true)
}

// SetReadDeadline bounds the read under way and those that follow, from any
// goroutine.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.guard.Conn.SetReadDeadline(t) }

// stream is all that redigo's own connections can do.
type stream interface {
	redis.ConnWithTimeout
	DoContext(ctx context.Context, cmd string, args ...any) (any, error)
	ReceiveContext(ctx context.Context) (any, error)
}

// Interrupt ends every Send, Flush and Receive under way with an error and
// leaves the connection useless; Close is still owed.
func (c *Conn) Interrupt() { c.net.Close() }

// Dial connects, authenticates and selects the database; ctx bounds all of
// it, the TLS handshake included, and must have a deadline. timeout bounds
// each later write; reads are bounded by whoever receives.
func (t *Target) Dial(ctx context.Context, timeout time.Duration) (redis.Conn, error) {
	// redigo's own TLS handshake ignores ctx, so the stream is made here.
	d := &net.Dialer{KeepAlive: 30 * time.Second}
	nc, err := d.DialContext(ctx, "tcp", t.Address)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	raw := nc
	if t.TLS != nil {
		tc := tls.Client(nc, t.TLS)
		if err := tc.HandshakeContext(ctx); err != nil {
			nc.Close()
			return nil, fmt.Errorf("connect to %s: TLS: %w", t.Address, err)
		}
		nc = tc
	}
	g := &guard{Conn: nc, pusher: pusher{timeout: timeout}}
	c := &Conn{stream: redis.NewConn(g, 0, timeout).(stream), net: raw, guard: g}
	if err := t.greet(ctx, c); err != nil {
		c.Close()
		return nil, fmt.Errorf("connect to %s: %w", t.Address, err)
	}
	return c, nil
}

func (t *Target) greet(ctx context.Context, c redis.Conn) error {
	if t.Password != "" {
		args := []any{t.Password}
		if t.Username != "" {
			args = []any{t.Username, t.Password}
		}
		if err := ok(redis.DoContext(c, ctx, "AUTH", args...)); err != nil {
			return fmt.Errorf("AUTH: %w", t.redact(err))
		}
	}
	if t.Database != 0 {
		if err := ok(redis.DoContext(c, ctx, "SELECT", t.Database)); err != nil {
			return fmt.Errorf("SELECT %d: %w", t.Database, err)
		}
	}
	return nil
}

// ok checks an answer that is OK from every Redis.
func ok(reply any, err error) error {
	if err == nil && reply != "OK" {
		err = fmt.Errorf("no Redis: answered with a Go %T, not OK", reply)
	}
	return err
}

// redact takes the secrets out of an error answer: a server that doesn't know
// AUTH repeats its arguments, perhaps shortened.
func (t *Target) redact(err error) error {
	re, isServers := errors.AsType[redis.Error](err)
	if !isServers {
		return err
	}
	text, _, _ := strings.Cut(string(re), ", with args beginning with")
	return redis.Error(strings.ReplaceAll(text, t.Password, "(the password)"))
}
