package rlock

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// mayNot applies ACL rules to the default account.
func mayNot(t *testing.T, s *redistest.Server, rules ...any) {
	t.Helper()
	if _, err := s.Dial(t).Do("ACL", append([]any{"SETUSER", "default"}, rules...)...); err != nil {
		t.Fatal(err)
	}
}

// Some proxies and hosted services know no SCRIPT, and some accounts may not use it.
func TestScriptsGoAsTextWhereNoneCanBeLoaded(t *testing.T) {
	t.Parallel()
	refusing := redistest.Start(t)
	mayNot(t, refusing, "-script")
	for what, s := range map[string]*redistest.Server{"refused": refusing, "unknown": redistest.Start(t, "--rename-command", "SCRIPT", "")} {
		t.Run(what, func(t *testing.T) {
			conn, c := s.Dial(t), open(t, s)
			for range 2 {
				if err := c.NewLock("orders").Do(t.Context(), func(context.Context) error { return nil }); err != nil {
					t.Fatal(err)
				}
			}
			for call, want := range map[string]int{"eval": 2, "evalsha": 6, "script|load": 0} {
				if n := callsOf(t, conn, call); n != want {
					t.Errorf("%d calls of %s, want %d", n, call, want)
				}
			}
		})
	}
}

func TestNeitherScriptNorTextIsAllowed(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	mayNot(t, s, "-script", "-eval")
	c := open(t, s)
	if _, err := c.NewLock("orders").TryLock(t.Context()); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "'eval'") {
		t.Error(err)
	}
}
