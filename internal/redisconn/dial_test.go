package redisconn

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gomodule/redigo/redis"
)

// silent accepts connections and sends nothing.
func silent(t *testing.T) *Target {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return &Target{Address: l.Addr().String(), Name: "rlock"}
}

// The error must not speak of a context: a caller would take it for its own context's.
func TestDialThatTakesTooLongDoesNotSpeakOfAContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := silent(t).Dial(ctx, time.Minute)
	if ne, ok := errors.AsType[net.Error](err); !ok || !ne.Timeout() || strings.Contains(err.Error(), "context") {
		t.Errorf("got %v", err)
	}
}

func TestDialEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := silent(t).Dial(ctx, time.Minute); err == nil {
		t.Error("it connected")
	}
}

// A server that says nothing ends Dial before its caller's time is over, so that the caller learns why.
func TestSilentServerEndsDialBeforeItsContext(t *testing.T) {
	for hint, config := range map[string]*tls.Config{"a port with TLS": nil, "a port without TLS": {ServerName: "h"}} {
		synctest.Test(t, func(t *testing.T) {
			here, there := net.Pipe()
			defer there.Close()
			go func() { _, _ = io.Copy(io.Discard, there) }()
			target := &Target{Address: "h:1", Name: "rlock", TLS: config, Dialer: func(context.Context, string, string) (net.Conn, error) { return here, nil }}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if _, err := target.Dial(ctx, time.Minute); err == nil || !strings.Contains(err.Error(), hint) || ctx.Err() != nil {
				t.Errorf("%v, when its context said %v", err, ctx.Err())
			}
		})
	}
}

// answers accepts connections and writes these bytes to the first ones, one each.
func answers(t *testing.T, each ...string) *Target {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer c.Close()
			if n < len(each) {
				_, _ = c.Write([]byte(each[n]))
			}
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-ended
	})
	return &Target{Address: l.Addr().String(), Name: "rlock"}
}

// A port that says nothing to a plain command, or answers with a TLS alert, may want TLS. One that worked before does not, nor one
// that answered the first of two commands.
func TestPortThatMayWantTLSIsNamedAsThat(t *testing.T) {
	const hint = "a port with TLS answers like that: try rediss://"
	dial := func(target *Target) error {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		c, err := target.Dial(ctx, time.Minute)
		if err == nil {
			c.Close()
		}
		return err
	}
	if err := dial(answers(t)); err == nil || !strings.Contains(err.Error(), hint) {
		t.Errorf("silent: %v", err)
	}
	if err := dial(answers(t, "\x15\x03\x01\x00\x02\x02\x46")); err == nil || !strings.Contains(err.Error(), "a TLS alert came in place of a reply; ") || !strings.Contains(err.Error(), hint) {
		t.Errorf("an alert: %v", err)
	}
	two := answers(t, "+OK\r\n")
	two.Database = 1
	if err := dial(two); err == nil || strings.Contains(err.Error(), hint) {
		t.Errorf("silent after an answer: %v", err)
	}
	worked := answers(t, "+OK\r\n")
	if err := dial(worked); err != nil {
		t.Fatal(err)
	}
	for what, target := range map[string]*Target{"silent later": worked.At(worked.Address), "silent beside one that worked": worked.At(answers(t).Address)} {
		if err := dial(target); err == nil || strings.Contains(err.Error(), hint) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestPasswordIsTakenOutOfAServersText(t *testing.T) {
	for said, want := range map[string]string{
		"ERR unknown command 'AUTH', with args beginning with: 'secre'": "ERR unknown command 'AUTH'",
		"WRONGPASS secret is no password":                               "WRONGPASS (the password) is no password",
	} {
		if err := redact(fmt.Errorf("AUTH: %w", redis.Error(said)), "secret"); err != redis.Error(want) {
			t.Errorf("%q became %v", said, err)
		}
	}
	if err := redact(io.EOF, "secret"); err != io.EOF {
		t.Errorf("no server's error became %v", err)
	}
}
