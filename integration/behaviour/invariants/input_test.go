package invariants

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/rlock"
)

func TestI1BadInputIsNamedBeforeAnythingIsSent(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		c := r.open()
		l, nameless := c.NewLock(name), c.NewLock("")
		mapped := r.open(rlock.WithNameMapper(toNothing{})).NewLock(name)
		o := c.NewOwner()
		held := lock(t, c.NewLock("held"), rlock.Lease(long))
		dog := lock(t, c.NewLock("dog"))
		acquire := func(l *rlock.Lock, opts ...rlock.AcquireOption) error {
			_, err := l.TryLock(t.Context(), opts...)
			return err
		}
		option, bad := rlock.ErrInvalidOption, rlock.ErrInvalidName
		before := len(r.Proxy.Record())
		for what, row := range map[string]struct {
			call func() error
			is   error
			says string
		}{
			"empty name, Lock":        {func() error { _, err := nameless.Lock(t.Context()); return err }, bad, "empty"},
			"empty name, TryLock":     {func() error { return acquire(nameless) }, bad, "empty"},
			"empty name, TryLockFor":  {func() error { _, err := nameless.TryLockFor(t.Context(), time.Second); return err }, bad, "empty"},
			"empty name, Do":          {func() error { return nameless.Do(t.Context(), doesNothing) }, bad, "empty"},
			"empty name, UnlockAs":    {func() error { return nameless.UnlockAs(t.Context(), o) }, bad, "empty"},
			"empty name, ForceUnlock": {func() error { _, err := nameless.ForceUnlock(t.Context()); return err }, bad, "empty"},
			"empty name, IsLocked":    {func() error { _, err := nameless.IsLocked(t.Context()); return err }, bad, "empty"},
			"empty name, IsHeldBy":    {func() error { _, err := nameless.IsHeldBy(t.Context(), o); return err }, bad, "empty"},
			"empty name, HoldCount":   {func() error { _, err := nameless.HoldCount(t.Context(), o); return err }, bad, "empty"},
			"empty name, RemainTTL":   {func() error { _, err := nameless.RemainTTL(t.Context()); return err }, bad, "empty"},
			"empty name, Info":        {func() error { _, err := nameless.Info(t.Context()); return err }, bad, "empty"},
			"mapped to nothing":       {func() error { return acquire(mapped) }, bad, "empty"},
			"lease 0":                 {func() error { return acquire(l, rlock.Lease(0)) }, option, "lease"},
			"lease -1":                {func() error { return acquire(l, rlock.Lease(-1)) }, option, "lease"},
			"lease 999µs":             {func() error { return acquire(l, rlock.Lease(999*time.Microsecond)) }, option, "lease"},
			"lease twice":             {func() error { return acquire(l, rlock.Lease(long), rlock.Lease(long)) }, option, "Lease"},
			"lease and max":           {func() error { return acquire(l, rlock.Lease(long), rlock.MaxHold(long)) }, option, "MaxHold"},
			"max and lease":           {func() error { return acquire(l, rlock.MaxHold(long), rlock.Lease(long)) }, option, "MaxHold"},
			"max 0":                   {func() error { return acquire(l, rlock.MaxHold(0)) }, option, "MaxHold"},
			"max 1µs":                 {func() error { return acquire(l, rlock.MaxHold(time.Microsecond)) }, option, "MaxHold(1µs)"},
			"max twice":               {func() error { return acquire(l, rlock.MaxHold(long), rlock.MaxHold(long)) }, option, "MaxHold"},
			"wait -1":                 {func() error { _, err := l.Lock(t.Context(), rlock.Wait(-1)); return err }, option, "Wait(-1ns)"},
			"wait twice":              {func() error { _, err := l.Lock(t.Context(), rlock.Wait(0), rlock.Wait(0)); return err }, option, "Wait"},
			"wait and TryLock":        {func() error { return acquire(l, rlock.Wait(long)) }, option, "Wait"},
			"wait and TryLockFor":     {func() error { _, err := l.TryLockFor(t.Context(), time.Second, rlock.Wait(0)); return err }, option, "Wait"},
			"as nobody":               {func() error { return acquire(l, rlock.As(rlock.Owner{})) }, option, "zero Owner"},
			"as twice":                {func() error { return acquire(l, rlock.As(o), rlock.As(o)) }, option, "As"},
			"nil option":              {func() error { return acquire(l, nil) }, option, "nil"},
			"Extend 0":                {func() error { return held.Extend(t.Context(), 0) }, option, "lease"},
			"Extend 1µs":              {func() error { return held.Extend(t.Context(), time.Microsecond) }, option, "lease of 1µs"},
			"Do as nobody":            {func() error { return l.Do(t.Context(), doesNothing, rlock.As(rlock.Owner{})) }, option, "zero Owner"},
			"Extend of a watchdog's":  {func() error { return dog.Extend(t.Context(), long) }, option, "Lease"},
			"UnlockAs nobody":         {func() error { return l.UnlockAs(t.Context(), rlock.Owner{}) }, option, "zero Owner"},
			"UnlockAs of a Hold":      {func() error { return c.NewLock("held").UnlockAs(t.Context(), held.Owner()) }, option, "Hold"},
			"IsHeldBy nobody":         {func() error { _, err := l.IsHeldBy(t.Context(), rlock.Owner{}); return err }, option, "zero Owner"},
			"HoldCount of nobody":     {func() error { _, err := l.HoldCount(t.Context(), rlock.Owner{}); return err }, option, "zero Owner"},
		} {
			err := row.call()
			want(t, err, row.is)
			if err != nil && !strings.Contains(err.Error(), row.says) {
				t.Errorf("%s: %q is missing in: %v", what, row.says, err)
			}
		}
		for _, e := range r.Proxy.Record()[before:] {
			if !renewals(e.Cmd) {
				t.Errorf("sent %q", e.Cmd)
			}
		}
		unlock(t, held, dog)
	})
}

type toNothing struct{}

func (toNothing) Map(string) string { return "" }

func noCredentials(context.Context) (user, password string, err error) { return "", "", nil }

func TestI1BadClientOptionsAndURLsDialNobody(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	testbed.Must(t, err)
	defer listener.Close()
	at := listener.Addr().String()
	url := "redis://" + at
	for what, row := range map[string]struct {
		url  string
		opts []rlock.Option
	}{
		"watchdog 0":         {url, []rlock.Option{rlock.WithWatchdogTimeout(0)}},
		"watchdog twice":     {url, []rlock.Option{rlock.WithWatchdogTimeout(long), rlock.WithWatchdogTimeout(long)}},
		"timeout 0":          {url, []rlock.Option{rlock.WithCommandTimeout(0)}},
		"timeout -1":         {url, []rlock.Option{rlock.WithCommandTimeout(-1)}},
		"timeout twice":      {url, []rlock.Option{rlock.WithCommandTimeout(long), rlock.WithCommandTimeout(long)}},
		"watchdog 2ms":       {url, []rlock.Option{rlock.WithWatchdogTimeout(2 * time.Millisecond)}}, // a third is less than 1 ms
		"TLS for a plain":    {url, []rlock.Option{rlock.WithTLSConfig(&tls.Config{})}},
		"TLS twice":          {"rediss://" + at, []rlock.Option{rlock.WithTLSConfig(&tls.Config{}), rlock.WithTLSConfig(&tls.Config{})}},
		"mapper twice":       {url, []rlock.Option{rlock.WithNameMapper(toNothing{}), rlock.WithNameMapper(toNothing{})}},
		"logger twice":       {url, []rlock.Option{rlock.WithLogger(slog.Default()), rlock.WithLogger(slog.Default())}},
		"hold log twice":     {url, []rlock.Option{rlock.WithLongHoldLog(long), rlock.WithLongHoldLog(long)}},
		"hold log 0":         {url, []rlock.Option{rlock.WithLongHoldLog(0)}},
		"nil logger":         {url, []rlock.Option{rlock.WithLogger(nil)}},
		"nil mapper":         {url, []rlock.Option{rlock.WithNameMapper(nil)}},
		"nil TLS":            {url, []rlock.Option{rlock.WithTLSConfig(nil)}},
		"replicas twice":     {url, []rlock.Option{rlock.WithReplicaSync(true), rlock.WithReplicaSync(false)}},
		"nil option":         {url, []rlock.Option{nil}},
		"no scheme":          {at, nil},
		"another scheme":     {"http://" + at, nil},
		"no database":        {url + "/one", nil},
		"password, bad db":   {"redis://:hunter2@" + at + "/x", nil},
		"only a user":        {"redis://worker@" + at, nil},
		"name of two":        {url, []rlock.Option{rlock.WithConnectionName("two words")}},
		"name of lines":      {url, []rlock.Option{rlock.WithConnectionName("line\nbreak")}},
		"name not ASCII":     {url, []rlock.Option{rlock.WithConnectionName("ümlaut")}},
		"Sentinels' words":   {url, []rlock.Option{rlock.WithSentinelCredentials(noCredentials)}},
		"no such words":      {"redis+sentinel://" + at + "/orders", []rlock.Option{rlock.WithSentinelCredentials(nil)}},
		"nil Sentinels' TLS": {"redis+sentinel://" + at + "/orders", []rlock.Option{rlock.WithSentinelTLSConfig(nil)}},
		"nil credentials":    {url, []rlock.Option{rlock.WithCredentials(nil)}},
		"password twice":     {"redis://:hunter2@" + at, []rlock.Option{rlock.WithCredentials(noCredentials)}},
		"half an IPv6":       {"redis://[::1:6379", nil},
		"several hosts":      {url + "," + at, nil},
		"no master's name":   {"redis+sentinel://" + at, nil},
		"cluster's db":       {"redis+cluster://" + at + "/1", nil},
		"no number of a db":  {"redis+replicated://" + at + "/orders", nil},
		"bad port":           {"redis://:hunter2@127.0.0.1:port", nil},
		"empty":              {"", nil},
	} {
		client, err := rlock.Open(t.Context(), row.url, row.opts...)
		if client != nil {
			client.Close()
		}
		if !anyOf(err, []error{rlock.ErrInvalidOption}) {
			t.Errorf("%s: %v", what, err)
		}
		if err != nil && (strings.Contains(err.Error(), "hunter2") || row.url != "" && strings.Contains(err.Error(), at)) {
			t.Errorf("%s: the error shows the URL: %v", what, err)
		}
	}
	pool := &redis.Pool{MaxIdle: 2, Dial: func() (redis.Conn, error) { return redis.Dial("tcp", at) }}
	for what, row := range map[string]struct {
		pool rlock.Pool
		opts []rlock.Option
	}{
		"no pool":        {nil, nil},
		"a nil pool":     {(*redis.Pool)(nil), nil},
		"TLS of a pool":  {pool, []rlock.Option{rlock.WithTLSConfig(&tls.Config{})}},
		"timeout 0":      {pool, []rlock.Option{rlock.WithCommandTimeout(0)}},
		"name of a pool": {pool, []rlock.Option{rlock.WithConnectionName("app")}},
		"credentials":    {pool, []rlock.Option{rlock.WithCredentials(noCredentials)}},
	} {
		if _, err := rlock.New(row.pool, row.opts...); !anyOf(err, []error{rlock.ErrInvalidOption}) {
			t.Errorf("%s: %v", what, err)
		}
	}
	_ = listener.(*net.TCPListener).SetDeadline(time.Now().Add(50 * time.Millisecond))
	if conn, err := listener.Accept(); err == nil {
		conn.Close()
		t.Error("a connection was dialled")
	}
}

// All these names work with Redisson on one server, so they work here.
func TestI1OddNamesWorkOnOneServer(t *testing.T) {
	play(t, func(t *testing.T, r *rig) {
		c, other := r.open(), r.open()
		for _, odd := range []string{"a{b", "a}b", "}b", "{}a", "{a}", "ä\x00\r\n\xff", " ", strings.Repeat("x", 5000)} {
			h := lock(t, c.NewLock(odd))
			got := testbed.Enter(t.Context(), other.NewLock(odd))
			r.Becomes("somebody listens", func() bool { return len(r.Channels()) == 1 })
			channel := testbed.Channel(odd)
			if r.kind.Mode != "" {
				channel = testbed.ReadWriteChannel(odd)
			}
			if got := r.Channels()[0]; got != channel && !(r.kind.Fair && strings.HasPrefix(got, channel+":")) {
				t.Errorf("listening on %q, want %q", got, channel)
			}
			unlock(t, h)
			unlock(t, granted(t, got))
			if !r.Free(odd) {
				t.Errorf("%q is left", odd)
			}
			r.Becomes("nobody listens", func() bool { return len(r.Channels()) == 0 })
		}
	})
}

func TestI2KeyOfAnotherTypeStaysUntouched(t *testing.T) {
	r := newRig(t)
	c := r.open()
	for kind, make := range map[string][]any{
		"string": {"SET", name, "mine"},
		"list":   {"RPUSH", name, "mine"},
		"set":    {"SADD", name, "mine"},
		"zset":   {"ZADD", name, 1, "mine"},
		"stream": {"XADD", name, "1-1", "mine", "mine"},
	} {
		t.Run(kind, func(t *testing.T) {
			l, o := c.NewLock(name), c.NewOwner()
			held := lock(t, l)
			r.Do("DEL", name)
			r.Do(make[0].(string), make[1:]...)
			before := fmt.Sprint(r.Do("DUMP", name))
			for what, call := range map[string]func() error{
				"Lock":        func() error { _, err := l.Lock(t.Context()); return err },
				"TryLock":     func() error { _, err := l.TryLock(t.Context()); return err },
				"TryLockFor":  func() error { _, err := l.TryLockFor(t.Context(), long); return err },
				"As":          func() error { _, err := l.Lock(t.Context(), rlock.As(o)); return err },
				"Unlock":      func() error { return held.Unlock(t.Context()) },
				"UnlockAs":    func() error { return l.UnlockAs(t.Context(), o) },
				"Do":          func() error { return l.Do(t.Context(), doesNothing) },
				"IsHeldBy":    func() error { _, err := l.IsHeldBy(t.Context(), o); return err },
				"HoldCount":   func() error { _, err := l.HoldCount(t.Context(), o); return err },
				"ForceUnlock": func() error { _, err := l.ForceUnlock(t.Context()); return err },
			} {
				done := testbed.Acquire(func() (*rlock.Hold, error) { return nil, call() })
				err := testbed.Receive(t, what+" returns", done).Err
				if err == nil || !strings.Contains(err.Error(), "WRONGTYPE") && !strings.Contains(err.Error(), kind) {
					t.Errorf("%s does not say what was found: %v", what, err)
				}
				wantNot(t, err, rlock.ErrLocked, rlock.ErrUncertain)
			}
			if after := fmt.Sprint(r.Do("DUMP", name)); after != before {
				t.Errorf("the key was touched")
			}
			if ttl := r.Number("PTTL", name); ttl != -1 {
				t.Errorf("it got a TTL of %d", ttl)
			}
			r.Do("DEL", name)
		})
	}
}

func TestI2HashWithForeignFields(t *testing.T) {
	r := newRig(t)
	c := r.open()
	l, o := c.NewLock(name), c.NewOwner()
	r.Do("HSET", name, "a field", "a value", o.String(), "many")
	before := fmt.Sprint(r.Do("DUMP", name))
	_, err := l.TryLock(t.Context())
	want(t, err, rlock.ErrRefused)
	if !strings.Contains(err.Error(), "the key is a hash that is no lock") {
		t.Error(err)
	}
	if _, err := l.TryLock(t.Context(), rlock.As(o)); err == nil || !strings.Contains(err.Error(), "integer") {
		t.Errorf("acquire on a count of \"many\": %v", err)
	}
	if _, err := l.HoldCount(t.Context(), o); err == nil || !strings.Contains(err.Error(), "many") {
		t.Errorf("hold count of \"many\": %v", err)
	}
	if err := l.UnlockAs(t.Context(), o); err == nil || !strings.Contains(err.Error(), "integer") {
		t.Errorf("unlock of a count of \"many\": %v", err)
	}
	if ttl, err := l.RemainTTL(t.Context()); ttl != -1 || err != nil {
		t.Errorf("TTL %v, %v", ttl, err)
	}
	if after := fmt.Sprint(r.Do("DUMP", name)); after != before {
		t.Error("the key was touched")
	}
}

// No server gives these replies. The client's error quotes them, and it undoes the acquire that got one.
func TestI2ReplyOfAnotherShape(t *testing.T) {
	t.Parallel()
	replies := []string{"+OK\r\n", "*0\r\n", "$3\r\nabc\r\n", ":-7\r\n", "*1\r\n*1\r\n:1\r\n", "$-1\r\n", ":99\r\n"}
	meaningful := map[string][]string{
		"acquire": {"$-1\r\n", ":99\r\n"}, "unlock": {"$-1\r\n"}, "EXISTS": {}, "HEXISTS": {}, "HGET": {"$-1\r\n"}, "PTTL": {":99\r\n"}, "info": {}, "force": {},
	}
	for what, match := range map[string]faultproxy.Match{
		"acquire": acquires, "unlock": unlocks, "force": testbed.Forces, "EXISTS": faultproxy.Command("EXISTS"), "HEXISTS": faultproxy.Command("HEXISTS"),
		"HGET": faultproxy.Command("HGET"), "PTTL": faultproxy.Command("PTTL"), "info": faultproxy.Any(faultproxy.Script(luasrc.InfoScript.SHA1), faultproxy.Script(luasrc.ReadWriteInfoScript.SHA1)),
	} {
		t.Run(what, func(t *testing.T) {
			play(t, func(t *testing.T, r *rig) {
				if what == "EXISTS" && r.kind.Mode != "" {
					t.Skip("a read-write lock is asked by a script")
				}
				r.latchesMayStay = true
				c := r.open()
				for _, reply := range replies {
					if slices.Contains(meaningful[what], reply) {
						continue
					}
					l, o := c.NewLock(name), c.NewOwner()
					var h *rlock.Hold
					if what != "acquire" {
						h = lock(t, l)
					}
					odd := r.Proxy.Add(faultproxy.Rule{Match: match, Times: 1, Do: faultproxy.Replace, Reply: []byte(reply)})
					err := map[string]func() error{
						"acquire": func() error { _, err := l.Lock(t.Context()); return err },
						"unlock":  func() error { return h.Unlock(t.Context()) },
						"force":   func() error { _, err := l.ForceUnlock(t.Context()); return err },
						"EXISTS":  func() error { _, err := l.IsLocked(t.Context()); return err },
						"HEXISTS": func() error { _, err := l.IsHeldBy(t.Context(), o); return err },
						"HGET":    func() error { _, err := l.HoldCount(t.Context(), o); return err },
						"PTTL":    func() error { _, err := l.RemainTTL(t.Context()); return err },
						"info":    func() error { _, err := l.Info(t.Context()); return err },
					}[what]()
					if err == nil || odd.Hits() != 1 {
						t.Errorf("%s answered %q: %v", what, reply, err)
					} else if word := map[string]string{"+OK\r\n": "OK", "$3\r\nabc\r\n": "abc", ":-7\r\n": "-7", ":99\r\n": "99"}[reply]; !strings.Contains(err.Error(), word) {
						t.Errorf("%s answered %q: the error does not say what was found: %v", what, reply, err)
					}
					if h != nil && what != "unlock" && what != "force" {
						unlock(t, h)
					}
					r.Gone(name)
				}
			})
		})
	}
	t.Run("renewal", func(t *testing.T) {
		play(t, func(t *testing.T, r *rig) {
			h := lock(t, r.open(rlock.WithWatchdogTimeout(4*time.Second)).NewLock(name))
			for _, reply := range replies {
				odd := r.Proxy.Add(faultproxy.Rule{Match: renewals, Times: 1, Do: faultproxy.Replace, Reply: []byte(reply)})
				testbed.Receive(t, "a renewal", odd.Hit())
				until := h.ValidUntil()
				r.Becomes("the next renewal counts", func() bool { return h.ValidUntil().After(until.Add(10*time.Millisecond)) || h.Err() != nil })
				if err := h.Err(); err != nil {
					t.Fatalf("%q ended the hold: %v", reply, err)
				}
			}
			ctx, cancel := h.Context(context.Background())
			defer cancel()
			if ctx.Err() != nil {
				t.Error(context.Cause(ctx))
			}
			unlock(t, h)
		})
	})
}

func doesNothing(context.Context) error { return nil }
