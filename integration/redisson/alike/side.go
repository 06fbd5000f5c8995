package alike

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/rlock"
)

// Side is a Go client or a JVM. The parameter who names an owner in Go, a thread in Java.
type Side interface {
	// Do calls a method of the object of a kind and name, by its command in package javapeer, and returns the answer as Java
	// prints it. A refusal is an answer, too: "false" (also for such an error in Go), "not held" or "reentered".
	Do(ctx context.Context, who string, k javapeer.Kind, name, method string, args ...any) (string, error)
	// Owner returns the owner by which the server knows who.
	Owner(ctx context.Context, who string) (string, error)
	// Dies ends the side: a JVM as by a crash, a client by Close. Its holds are left to expire.
	Dies()
}

type Java struct {
	*javapeer.Peer
	Named string // the object's name at this side; empty: the play's
}

// NewJava starts a release's JVM, which ends with t.
func NewJava(t *testing.T, version, url string, opts ...javapeer.Option) *Java {
	t.Helper()
	return &Java{Peer: javapeer.Start(t, version, url, opts...)}
}

func (s *Java) Do(ctx context.Context, who string, k javapeer.Kind, name, method string, args ...any) (string, error) {
	said, _, err := s.do(ctx, who, k, name, method, args)
	return said, err
}

// do also returns when the call returned, by the clock that all processes share.
func (s *Java) do(ctx context.Context, who string, k javapeer.Kind, name, method string, args []any) (said string, at int64, err error) {
	switch {
	case len(args) == 0 && (method == "lock" || method == "locktoken"), len(args) == 1 && (method == "trylockfor" || method == "trytokenfor"):
		args = append(args, javapeer.Watchdog)
	}
	r, err := s.Thread(who).Of(k).Call(ctx, cmp.Or(s.Named, name), method, args...)
	if e, is := errors.AsType[*javapeer.JavaError](err); is && strings.HasSuffix(e.Class, "IllegalMonitorStateException") {
		if strings.Contains(e.Message, "non-reentrant") {
			return "reentered", e.At, nil
		}
		return "not held", e.At, nil
	}
	return strings.Join(r.Values, " "), r.At, err
}

func (s *Java) Owner(ctx context.Context, who string) (string, error) {
	r, err := s.Thread(who).Owner(ctx)
	if err != nil {
		return "", err
	}
	return r.Text(), nil
}

func (s *Java) Dies() { s.Kill() }

// said translates Go's answer or error into Java's answer.
func said(v any, err error) (string, error) {
	switch {
	case errors.Is(err, rlock.ErrLocked), errors.Is(err, rlock.ErrNoPermits), errors.Is(err, rlock.ErrNotOpen):
		return "false", nil
	case errors.Is(err, rlock.ErrNotHeld):
		return "not held", nil
	case errors.Is(err, rlock.ErrReentered):
		return "reentered", nil
	}
	return fmt.Sprint(v), err
}
