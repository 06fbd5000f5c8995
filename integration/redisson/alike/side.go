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

// Side is a Go client or a JVM. Who acts is an owner in Go, a thread in Java.
type Side interface {
	// Do calls a method of the object of a kind and name, by its command of package javapeer, and returns its answer as Java
	// prints it. "false" is also an error of Go's that says so, "not held" and "reentered" are either side's refusals.
	Do(ctx context.Context, who string, k javapeer.Kind, name, method string, args ...any) (string, error)
	// Owner is what the server calls who.
	Owner(ctx context.Context, who string) (string, error)
	// Dies ends the side: a JVM as by a crash, a client by Close. What they hold is left to expire.
	Dies()
}

type Java struct {
	*javapeer.Peer
	Named string // what the side calls its object; empty: as the play does
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

// do also tells when the call returned, by the clock that all processes have.
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

// said is what Go's answer, or error, is to Java.
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
