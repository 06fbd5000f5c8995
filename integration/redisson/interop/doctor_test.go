package interop

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

type mapper struct{}

func (mapper) Map(name string) string { return "app:" + name }

// With settings that differ, Redisson and Go are both inside, or wait apart, and doctor says why. With the same settings it finds
// nothing.
func TestDoctorSaysWhyJavaAndGoAreBothInside(t *testing.T) {
	t.Parallel()
	type pair struct {
		java *javapeer.Peer
		c    *rlock.Client
	}
	enter := func(t *testing.T, p pair, java javapeer.Kind, l *rlock.Lock, both bool) {
		t.Helper()
		r, err := p.java.Thread("t1").Of(java).TryLock(t.Context(), l.Name())
		if err != nil || !r.Bool() {
			t.Fatal(r, err)
		}
		if _, err := l.TryLock(t.Context()); (err == nil) != both {
			t.Fatalf("Go beside Java: %v", err)
		}
	}
	for name, row := range map[string]struct {
		release string
		java    []javapeer.Option
		golang  []rlock.Option
		play    func(t *testing.T, p pair)
		want    string
	}{
		"the same settings": {javapeer.Newest, nil, nil, func(t *testing.T, p pair) { enter(t, p, javapeer.Plain, p.c.NewLock("orders"), false) }, ""},
		"another database": {javapeer.Newest, []javapeer.Option{javapeer.Setting("database", "1")}, nil, func(t *testing.T, p pair) {
			enter(t, p, javapeer.Plain, p.c.NewLock("orders"), true)
		}, "todo  databases     orders is held in database 0 and in database 1"},
		"another database, and Java waits": {javapeer.Newest, []javapeer.Option{javapeer.Setting("database", "1")}, nil, func(t *testing.T, p pair) {
			if _, err := p.java.Thread("t1").Lock(t.Context(), "orders", javapeer.Watchdog); err != nil {
				t.Fatal(err)
			}
			go func() { _, _ = p.java.Thread("t2").Lock(context.Background(), "orders", javapeer.Watchdog) }()
		}, "warn  databases     orders is waited for, and is held in database 1, not in 0"},
		"a NameMapper on one side": {javapeer.Newest, []javapeer.Option{javapeer.NamePrefix("app:")}, nil, func(t *testing.T, p pair) {
			enter(t, p, javapeer.Plain, p.c.NewLock("orders"), true)
		}, "warn  names         app:orders and orders are held by different clients"},
		"a NameMapper of 3.20.0": {"3.20.0", []javapeer.Option{javapeer.NamePrefix("app:")}, []rlock.Option{rlock.WithNameMapper(mapper{})}, func(t *testing.T, p pair) {
			enter(t, p, javapeer.Write, p.c.NewReadWriteLock("doc").WriteLock(), true)
		}, "todo  names         app:app:doc and app:doc are both held"},
		"a NameMapper of 3.37.0": {"3.37.0", []javapeer.Option{javapeer.NamePrefix("app:")}, []rlock.Option{rlock.WithNameMapper(mapper{})}, func(t *testing.T, p pair) {
			if _, err := p.c.NewFairLock("orders").TryLock(t.Context()); err != nil {
				t.Fatal(err)
			}
			go func() {
				_, _ = p.java.Thread("t1").Of(javapeer.Fair).Lock(context.Background(), "orders", javapeer.Watchdog)
			}()
		}, "todo  fair queues   the queue of orders has 1 waiting and no holder, and app:orders is held"},
		"a longer watchdog timeout": {javapeer.Newest, []javapeer.Option{javapeer.WatchdogTimeout(time.Minute)}, nil, func(t *testing.T, p pair) {
			enter(t, p, javapeer.Plain, p.c.NewLock("orders"), false)
		}, "warn  leases        orders has "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t, "--appendonly", "yes")
			c, err := rlock.Open(t.Context(), s.URL(), row.golang...)
			testbed.Must(t, err)
			t.Cleanup(func() { _ = c.Close() })
			row.play(t, pair{javapeer.Start(t, row.release, s.Addr(), row.java...), c})
			out := ""
			found := testbed.Within(testbed.Patience, func() bool {
				text, _ := command(t, s.URL(), "doctor", "--read-only").CombinedOutput() // its status is 1 if there is something to do
				out = string(text)
				return strings.Contains(out, row.want)
			})
			if !found {
				t.Errorf("%s\nlacks %q", out, row.want)
			}
			if row.want == "" {
				for _, about := range []string{"databases", "owners", "fair queues", "names", "leases"} {
					if !strings.Contains(out, "ok    "+about) {
						t.Errorf("%s\nis not well about %s", out, about)
					}
				}
			}
		})
	}
}
