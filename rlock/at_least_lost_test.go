package rlock_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

// AtLeast keeps nothing from others that take the lock away, neither before the release nor after it.
func TestAtLeastEndsWithALossOrByForce(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	conn := server.Dial(t)
	a, b := openWith(t, server.URL()), openWith(t, server.URL())
	for what, takes := range map[string]func(name string) error{
		"DEL":         func(name string) error { _, err := conn.Do("DEL", name); return err },
		"ForceUnlock": func(name string) error { _, err := b.NewLock(name).ForceUnlock(t.Context()); return err },
	} {
		for _, released := range []bool{false, true} {
			name := fmt.Sprint(what, released)
			h := lock(t, a, name, rlock.AtLeast(time.Hour))
			if released {
				if err := h.Unlock(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if err := takes(name); err != nil {
				t.Fatal(err)
			}
			next := lock(t, b, name)
			if !released {
				if err := h.Unlock(t.Context()); !errors.Is(err, rlock.ErrLeaseLost) || !errors.Is(err, rlock.ErrNotHeld) {
					t.Errorf("%s: the unlock of what is lost: %v", what, err)
				}
			}
			fields, err := redis.Strings(conn.Do("HKEYS", name))
			if ttl, err2 := redis.Int64(conn.Do("PTTL", name)); err != nil || err2 != nil || !slices.Equal(fields, []string{next.Owner().String()}) || ttl > 30_000 {
				t.Errorf("%s, released %t: %q live for %d ms, %v", what, released, fields, ttl, errors.Join(err, err2))
			}
			if err := next.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
			if n, err := conn.Do("EXISTS", name); n != int64(0) || err != nil {
				t.Errorf("%s, released %t: %v keys are left, %v", what, released, n, err)
			}
		}
	}
}
