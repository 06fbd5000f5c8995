package behaviour_test

import (
	"context"
	"crypto/tls"
	"log/slog"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/monitor"
	"github.com/rlock-go/redisson/rlock"
)

// refusal is one bad input: what it does, and what the error must name besides.
type refusal struct {
	behaviour string
	do        func() error
	want      error
	says      []string
}

// refuse checks each row, and that the server at addr saw nothing of it.
func refuse(t *testing.T, addr string, rows []refusal) {
	t.Helper()
	tap := monitor.Tap(t, addr)
	for _, row := range rows {
		t.Run(row.behaviour, func(t *testing.T) {
			tap.Mark()
			wants(t, row.do(), row.want, row.says...)
			if sent := tap.Mark(); len(sent) != 0 {
				t.Errorf("sent %v", sent)
			}
		})
	}
}

func TestEmptyNamesAreRefusedByEveryCall(t *testing.T) {
	r, s := own(t)
	ctx := t.Context()
	plain, mapping := r.open(), r.open(rlock.WithNameMapper(swallow{}))
	var rows []refusal
	for from, l := range map[string]*rlock.Lock{"an empty name": plain.NewLock(""), "a name mapped to nothing": mapping.NewLock("x")} {
		for call, do := range map[string]func() error{
			"Lock":        func() error { _, err := l.Lock(ctx); return err },
			"TryLock":     func() error { _, err := l.TryLock(ctx); return err },
			"TryLockFor":  func() error { _, err := l.TryLockFor(ctx, time.Second); return err },
			"Do":          func() error { return l.Do(ctx, func(context.Context) error { panic("it ran") }) },
			"UnlockAs":    func() error { return l.UnlockAs(ctx, plain.NewOwner()) },
			"ForceUnlock": func() error { _, err := l.ForceUnlock(ctx); return err },
			"IsLocked":    func() error { _, err := l.IsLocked(ctx); return err },
			"IsHeldBy":    func() error { _, err := l.IsHeldBy(ctx, plain.NewOwner()); return err },
			"HoldCount":   func() error { _, err := l.HoldCount(ctx, plain.NewOwner()); return err },
			"RemainTTL":   func() error { _, err := l.RemainTTL(ctx); return err },
			"Info":        func() error { _, err := l.Info(ctx); return err },
		} {
			rows = append(rows, refusal{call + " of " + from, do, rlock.ErrInvalidName, []string{"empty"}})
		}
	}
	refuse(t, s.Addr(), rows)
}

type swallow struct{}

func (swallow) Map(string) string { return "" }

func TestBadTermsAreRefused(t *testing.T) {
	r, s := own(t)
	ctx := t.Context()
	c := r.open()
	l := c.NewLock("orders")
	fixed := r.Lock(c.NewLock("fixed"), rlock.Lease(time.Minute))
	kept := r.Lock(c.NewLock("kept"))
	acquire := func(opts ...rlock.AcquireOption) func() error {
		return func() error { _, err := l.Lock(ctx, opts...); return err }
	}
	bad := rlock.ErrInvalidOption
	var zero rlock.Owner
	refuse(t, s.Addr(), []refusal{
		{"Lease of nothing", acquire(rlock.Lease(0)), bad, []string{"orders", "lease of 0s", "at least 1ms"}},
		{"Lease below nothing", acquire(rlock.Lease(-time.Second)), bad, []string{"lease of -1s", "at least 1ms"}},
		{"Lease below a millisecond", acquire(rlock.Lease(999 * time.Microsecond)), bad, []string{"lease of 999µs", "at least 1ms"}},
		{"Lease twice", acquire(rlock.Lease(time.Second), rlock.Lease(time.Second)), bad, []string{"Lease given twice"}},
		{"MaxHold of nothing", acquire(rlock.MaxHold(0)), bad, []string{"MaxHold(0s)", "at least 1ms"}},
		{"MaxHold below a millisecond", acquire(rlock.MaxHold(time.Microsecond)), bad, []string{"MaxHold(1µs)", "at least 1ms"}},
		{"MaxHold twice", acquire(rlock.MaxHold(time.Second), rlock.MaxHold(time.Minute)), bad, []string{"MaxHold given twice"}},
		{"Lease with MaxHold", acquire(rlock.Lease(time.Second), rlock.MaxHold(time.Second)), bad, []string{"Lease and MaxHold"}},
		{"MaxHold with Lease", acquire(rlock.MaxHold(time.Second), rlock.Lease(time.Second)), bad, []string{"Lease and MaxHold"}},
		{"Wait below nothing", acquire(rlock.Wait(-time.Second)), bad, []string{"Wait(-1s)", "at least 0"}},
		{"Wait twice", acquire(rlock.Wait(time.Second), rlock.Wait(0)), bad, []string{"Wait given twice"}},
		{"Wait with TryLock", func() error { _, err := l.TryLock(ctx, rlock.Wait(time.Second)); return err }, bad, []string{"Wait", "TryLock"}},
		{"Wait with TryLockFor", func() error { _, err := l.TryLockFor(ctx, time.Second, rlock.Wait(0)); return err }, bad, []string{"Wait", "TryLockFor"}},
		{"As twice", acquire(rlock.As(c.NewOwner()), rlock.As(c.NewOwner())), bad, []string{"As given twice"}},
		{"a nil AcquireOption", acquire(nil), bad, []string{"nil AcquireOption"}},
		{"As the zero Owner", acquire(rlock.As(zero)), bad, []string{"zero Owner"}},
		{"TryLock as the zero Owner", func() error { _, err := l.TryLock(ctx, rlock.As(zero)); return err }, bad, []string{"zero Owner"}},
		{"Do as the zero Owner", func() error {
			return l.Do(ctx, func(context.Context) error { panic("it ran") }, rlock.As(zero))
		}, bad, []string{"zero Owner"}},
		{"UnlockAs the zero Owner", func() error { return l.UnlockAs(ctx, zero) }, bad, []string{"zero Owner", "orders"}},
		{"IsHeldBy the zero Owner", func() error { _, err := l.IsHeldBy(ctx, zero); return err }, bad, []string{"zero Owner", "orders"}},
		{"HoldCount of the zero Owner", func() error { _, err := l.HoldCount(ctx, zero); return err }, bad, []string{"zero Owner", "orders"}},
		{"Extend by nothing", func() error { return fixed.Extend(ctx, 0) }, bad, []string{"fixed", "lease of 0s", "at least 1ms"}},
		{"Extend below a millisecond", func() error { return fixed.Extend(ctx, time.Microsecond) }, bad, []string{"lease of 1µs"}},
		{"Extend what the watchdog extends", func() error { return kept.Extend(ctx, time.Minute) }, bad, []string{"kept", "Lease", "watchdog"}},
	})
	if fixed.Err() != nil || kept.Err() != nil {
		t.Error(fixed.Err(), kept.Err())
	}
}

func TestOwnersThatDoNotParse(t *testing.T) {
	const id = "7f3c1a52-0a49-4d0c-9d5e-2f6b1a0c8d11"
	for behaviour, row := range map[string]struct{ text, says string }{
		"nothing":                    {"", "36 characters"},
		"no thread":                  {id, "colon"},
		"an empty thread":            {id + ":", "thread id"},
		"no client":                  {":1", "36 characters"},
		"a blank":                    {id + ": 1", "thread id"},
		"a thread that is no number": {id + ":main", "thread id"},
		"a thread with a zero ahead": {id + ":01", "thread id"},
		"a thread with a plus":       {id + ":+1", "thread id"},
		"a thread beyond 64 bits":    {id + ":9223372036854775808", "64-bit"},
		"two colons":                 {id + ":1:2", "thread id"},
		"upper case":                 {"7F3C1A52-0A49-4D0C-9D5E-2F6B1A0C8D11:1", "lowercase"},
		"no dashes":                  {"7f3c1a520a494d0c9d5e2f6b1a0c8d11:1", "36 characters"},
		"braces":                     {"{" + id + "}:1", "36 characters"},
		"version 1":                  {"7f3c1a52-0a49-1d0c-9d5e-2f6b1a0c8d11:1", "version 4"},
		"the nil UUID":               {"00000000-0000-0000-0000-000000000000:0", "version 4"},
		"a line break behind":        {id + ":1\n", "thread id"},
	} {
		t.Run(behaviour, func(t *testing.T) {
			o, err := rlock.ParseOwner(row.text)
			wants(t, err, rlock.ErrInvalidOption, row.says)
			if o != (rlock.Owner{}) {
				t.Errorf("gave %v", o)
			}
		})
	}
	t.Run("what Java writes does", func(t *testing.T) {
		for _, text := range []string{id + ":1", id + ":9223372036854775807", id + ":-3", id + ":0"} {
			if o, err := rlock.ParseOwner(text); err != nil || o.String() != text {
				t.Errorf("%v, %v", o, err)
			}
		}
	})
}

func TestBadSettingsAreRefused(t *testing.T) {
	r, s := own(t)
	open := func(opts ...rlock.Option) func() error {
		return func() error {
			c, err := rlock.Open(t.Context(), s.URL(), opts...)
			if err == nil {
				c.Close()
			}
			return err
		}
	}
	lend := func(p rlock.Pool, opts ...rlock.Option) func() error {
		return func() error {
			c, err := rlock.New(p, opts...)
			if err == nil {
				c.Close()
			}
			return err
		}
	}
	twice := func(o rlock.Option) func() error { return open(o, o) }
	bad := rlock.ErrInvalidOption
	pool := r.pool(4, false)
	refuse(t, s.Addr(), []refusal{
		{"WithWatchdogTimeout of nothing", open(rlock.WithWatchdogTimeout(0)), bad, []string{"WithWatchdogTimeout(0s)", "3ms"}},
		{"WithWatchdogTimeout too short for thirds", open(rlock.WithWatchdogTimeout(2 * time.Millisecond)), bad, []string{"WithWatchdogTimeout(2ms)", "3ms"}},
		{"WithCommandTimeout of nothing", open(rlock.WithCommandTimeout(0)), bad, []string{"WithCommandTimeout(0s)", "1ms"}},
		{"WithCommandTimeout below nothing", open(rlock.WithCommandTimeout(-time.Second)), bad, []string{"WithCommandTimeout(-1s)", "1ms"}},
		{"WithLongHoldLog of nothing", open(rlock.WithLongHoldLog(0)), bad, []string{"WithLongHoldLog(0s)"}},
		{"WithLongHoldLog twice", twice(rlock.WithLongHoldLog(time.Second)), bad, []string{"WithLongHoldLog given twice"}},
		{"a nil Option", open(nil), bad, []string{"nil Option"}},
		{"a nil logger", open(rlock.WithLogger(nil)), bad, []string{"WithLogger", "nil"}},
		{"a nil mapper", open(rlock.WithNameMapper(nil)), bad, []string{"WithNameMapper", "nil"}},
		{"a nil TLS configuration", open(rlock.WithTLSConfig(nil)), bad, []string{"WithTLSConfig", "nil"}},
		{"TLS for a plain URL", open(rlock.WithTLSConfig(&tls.Config{})), bad, []string{"TLS", "rediss://"}},
		{"WithWatchdogTimeout twice", twice(rlock.WithWatchdogTimeout(time.Second)), bad, []string{"WithWatchdogTimeout given twice"}},
		{"WithCommandTimeout twice", twice(rlock.WithCommandTimeout(time.Second)), bad, []string{"WithCommandTimeout given twice"}},
		{"WithTLSConfig twice", twice(rlock.WithTLSConfig(&tls.Config{})), bad, []string{"WithTLSConfig given twice"}},
		{"WithNameMapper twice", twice(rlock.WithNameMapper(swallow{})), bad, []string{"WithNameMapper given twice"}},
		{"WithReplicaSync twice", twice(rlock.WithReplicaSync(false)), bad, []string{"WithReplicaSync given twice"}},
		{"WithLogger twice", twice(rlock.WithLogger(slog.Default())), bad, []string{"WithLogger given twice"}},
		{"no pool", lend(nil), bad, []string{"nil pool"}},
		{"a nil *redis.Pool", lend((*redis.Pool)(nil)), bad, []string{"nil pool"}},
		{"TLS for a pool", lend(pool, rlock.WithTLSConfig(&tls.Config{})), bad, []string{"WithTLSConfig", "pool"}},
		{"a bad option for a pool", lend(pool, rlock.WithCommandTimeout(0)), bad, []string{"WithCommandTimeout(0s)"}},
	})
	if n := pool.ActiveCount(); n != 0 {
		t.Errorf("%d connections borrowed", n)
	}
}
