package security

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/rlock"
)

// start starts a server with the account, and returns a suite for it.
func start(t *testing.T, a account) *suite {
	t.Helper()
	r := on(t, redisserver.Local(t))
	r.grant(a)
	return &suite{rig: r, proxy: faultproxy.Start(t, r.Server.Addr()), prefix: "orders:", fence: true}
}

// by is a client of the account, through the proxy.
func (s *suite) by(a account) *rlock.Client { return s.Open(as(s.proxy.Addr(), a, ""), options...) }

// opened runs the suite for a client that Open makes.
func (s *suite) opened(a account, path string, opts ...rlock.Option) error {
	c, err := rlock.Open(s.Context(), as(s.proxy.Addr(), a, path), append(slices.Clone(options), opts...)...)
	if err != nil {
		return err
	}
	s.client = c
	defer c.Close()
	return s.run()
}

// borrowed runs it for a client over a pool.
func (s *suite) borrowed(a account) error {
	pool := &redis.Pool{MaxActive: 4, Wait: true, MaxIdle: 4, DialContext: func(ctx context.Context) (redis.Conn, error) {
		return redis.DialURLContext(ctx, as(s.proxy.Addr(), a, ""), redis.DialReadTimeout(5*time.Second), redis.DialWriteTimeout(5*time.Second))
	}}
	defer pool.Close()
	c, err := rlock.New(pool, options...)
	if err != nil {
		return err
	}
	s.client = c
	defer c.Close()
	return s.run()
}

func TestDocumentedAccountIsEnough(t *testing.T) {
	t.Parallel()
	d := readDocument(t)
	for how, run := range map[string]func(*suite) error{
		"opened": func(s *suite) error { return s.opened(d.fenced, "") },
		"a pool": func(s *suite) error { return s.borrowed(d.fenced) },
	} {
		t.Run(how, func(t *testing.T) {
			s := start(t, d.fenced)
			if err := run(s); err != nil {
				t.Error(err)
			}
			if denied := s.denied(); len(denied) != 0 {
				t.Errorf("denied: %q", denied)
			}
		})
	}
}

func TestDocumentedAccountWithoutClientKillLosesTheFenceOnly(t *testing.T) {
	t.Parallel()
	d := readDocument(t)
	s := start(t, d.unfenced)
	s.fence = false
	if err := s.opened(d.unfenced, ""); err != nil {
		t.Error(err)
	}
	for _, what := range s.denied() {
		if !strings.HasPrefix(what, "command client|") {
			t.Errorf("denied: %q", what)
		}
	}
}

func TestEveryRuleOfTheDocumentedAccountIsNeeded(t *testing.T) {
	t.Parallel()
	d := readDocument(t)
	for _, rule := range d.fenced.rules {
		if strings.HasPrefix(rule, "reset") {
			continue // TestDocumentedAccountGrantsNothingElse
		}
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			a := d.fenced.without(rule)
			s := start(t, a)
			if slices.Contains(telling, rule) {
				s.missesTelling(a, strings.TrimLeft(rule, "+&"))
				return
			}
			err := s.opened(a, "")
			if err == nil && (rule == "+role" || rule == "+client|setname" || rule == "+hrandfield") {
				// Nothing fails without these, as the page says: the ACL log must name them.
				err = errors.New(strings.Join(s.denied(), ", "))
				if !strings.HasSuffix(err.Error(), strings.TrimPrefix(rule, "+")) {
					t.Errorf("denied: %v", err)
				}
			}
			if err == nil {
				t.Error("nothing misses it")
			} else {
				t.Log(err)
			}
		})
	}
}

// telling are the rules by which a holder learns of its loss at once.
var telling = []string{"+client|info", "+client|list", "+client|tracking", "+client|caching", "&__redis__:invalidate"}

// missesTelling checks that the account is refused what it lacks, and that holding works.
func (s *suite) missesTelling(a account, what string) {
	h := s.Hold(s.by(a).NewLock("orders:told"), rlock.Lease(time.Minute))
	s.Becomes("a refusal of "+what, func() bool {
		return slices.ContainsFunc(s.denied(), func(d string) bool { return strings.HasSuffix(d, what) })
	})
	s.Unlock(h)
}

func TestDocumentedAccountGrantsNothingElse(t *testing.T) {
	d := readDocument(t)
	r := on(t, redisserver.Local(t))
	describe := func() string { return fmt.Sprintf("%q", r.Do("ACL", "GETUSER", d.fenced.name)) }
	r.grant(d.fenced)
	fresh := describe()
	// The worst case: an all-powerful account of that name, on a server whose new accounts hear all channels.
	r.Do("CONFIG", "SET", "acl-pubsub-default", "allchannels")
	r.Do("ACL", "SETUSER", d.fenced.name, "on", "nopass", "allkeys", "allchannels", "+@all")
	r.grant(d.fenced)
	if again := describe(); again != fresh {
		t.Errorf("granted over another account:\n%s\nwant\n%s", again, fresh)
	}
	for _, rule := range []string{"reset", "resetchannels"} {
		r.Do("ACL", "SETUSER", d.fenced.name, "on", "nopass", "allkeys", "allchannels", "+@all")
		if r.tryGrant(d.fenced.without(rule)) == nil && describe() == fresh {
			t.Errorf("%s is not needed", rule)
		}
	}
	r.grant(d.fenced)
	c := r.Open(as(r.Server.Addr(), d.fenced, ""), options...)
	_, err := c.NewLock("invoices").TryLock(t.Context())
	if err == nil || !strings.Contains(err.Error(), "NOPERM") {
		t.Errorf("a lock outside its prefix: %v", err)
	}
	if r.Number("DBSIZE") != 0 {
		t.Error("it left a key")
	}
	// Channels are checked by themselves: to read a key does not permit to subscribe to its channel.
	r.Do("ACL", "SETUSER", d.fenced.name, "~invoices", "~redisson_unlock_latch:{invoices}:*")
	r.Do("HSET", "invoices", "somebody", 1)
	_, err = c.NewLock("invoices").TryLockFor(t.Context(), patience)
	if err == nil || !strings.Contains(err.Error(), "NOPERM") || !strings.Contains(err.Error(), "channel") {
		t.Errorf("waiting outside its channels: %v", err)
	}
}

func TestDocumentedAdditions(t *testing.T) {
	t.Parallel()
	d := readDocument(t)
	// each runs with the addition, which must be enough, and without each of its rules, which must be missed.
	for i, row := range []struct {
		what string
		run  func(s *suite, a account) error
	}{
		{"a database number", func(s *suite, a account) error {
			s.Do("SELECT", 3)
			return s.opened(a, "/3")
		}},
		{"replicas", func(s *suite, a account) error {
			redisserver.Replica(s.T, s.Server.(*redisserver.LocalServer))
			err := s.opened(a, "", rlock.WithReplicaSync(true))
			acknowledged := 0
			for _, e := range s.proxy.Record() {
				if n, ok := e.Reply.(int64); ok && n == 1 && faultproxy.Command("WAIT")(e.Cmd) {
					acknowledged++
				}
			}
			if err == nil && acknowledged == 0 {
				err = fmt.Errorf("no WAIT was answered")
			}
			return err
		}},
		{"names with braces", func(s *suite, a account) error {
			s.prefix = "orders:{1}:"
			return s.opened(a, "")
		}},
		{"a lock that is taken again and again", func(s *suite, a account) error {
			return heats(s.Context(), s.by(a).NewLock("orders:hot"), func() bool { return len(s.denied()) > 0 || s.Calls()["PUBSUB|NUMSUB"] > 0 })
		}},
		{"who holds a lock", func(s *suite, a account) error {
			l := s.by(a).NewLock("orders:asked")
			return l.Do(s.Context(), func(context.Context) error {
				info, err := l.Info(s.Context())
				if err == nil && info.Waiters != 0 {
					err = fmt.Errorf("%d wait", info.Waiters)
				}
				return err
			})
		}},
		{"a fair lock", func(s *suite, a account) error {
			s.Do("ACL", "SETUSER", a.name, "+hlen", "+hgetall") // for the call of Info
			return s.fair(s.by(a).NewFairLock("orders:fair"))
		}},
		{"a read-write lock", func(s *suite, a account) error {
			return everyUseOfReadWrite(s.Context(), s.by(a).NewReadWriteLock("orders:shared"))
		}},
		{"a fenced lock", func(s *suite, a account) error {
			l := s.by(a).NewFencedLock("orders:fenced")
			return l.DoHold(s.Context(), func(_ context.Context, h *rlock.Hold) error {
				last, err := l.LastToken(s.Context())
				if err == nil && (last != 1 || h.Token() != 1) {
					err = fmt.Errorf("the token is %d, the last one %d", h.Token(), last)
				}
				return err
			})
		}},
		{"permits", func(s *suite, a account) error {
			return everyUseOfPermits(s.Context(), s.by(a).NewPermitSemaphore("orders:seats"))
		}},
		{"semaphores and latches", func(s *suite, a account) error {
			c := s.by(a)
			return errors.Join(everyUseOfSemaphores(s.Context(), c.NewSemaphore("orders:seats")), everyUseOfLatches(s.Context(), c.NewCountDownLatch("orders:ready")))
		}},
	} {
		addition := d.additions[i]
		t.Run(row.what, func(t *testing.T) {
			t.Parallel()
			s := start(t, d.fenced.with(addition...))
			if err := row.run(s, d.fenced.with(addition...)); err != nil {
				t.Error(err)
			}
			if denied := s.denied(); len(denied) != 0 {
				t.Errorf("denied: %q", denied)
			}
		})
		for _, rule := range addition {
			t.Run(row.what+" without "+rule, func(t *testing.T) {
				t.Parallel()
				a := d.fenced.with(addition...).without(rule)
				s := start(t, a)
				if err := row.run(s, a); err == nil && len(s.denied()) == 0 {
					t.Error("nothing misses it")
				}
			})
		}
	}
}

// heats takes a lock again and again until the client counts its other waiters, which only a quick client does.
func heats(ctx context.Context, l *rlock.Lock, counted func() bool) error {
	for end := time.Now().Add(patience); !counted(); {
		if time.Now().After(end) {
			return errors.New("nobody was counted")
		}
		for range 30 {
			if err := l.Do(ctx, func(context.Context) error { return nil }); err != nil {
				return err
			}
		}
	}
	return nil
}

// everyUseOfReadWrite sends what a read-write lock can send.
func everyUseOfReadWrite(ctx context.Context, l *rlock.ReadWriteLock) error {
	write, err := l.WriteLock().Lock(ctx)
	if err != nil {
		return err
	}
	read, err := l.ReadLock().Lock(ctx, rlock.As(write.Owner()))
	if err != nil {
		return err
	}
	again, err := l.ReadLock().Lock(ctx, rlock.As(write.Owner()), rlock.Lease(time.Minute))
	if err != nil {
		return err
	}
	locked, err := l.ReadLock().IsLocked(ctx)
	if err == nil && !locked {
		err = errors.New("nobody reads")
	}
	err = errors.Join(err, again.Extend(ctx, time.Minute), again.Unlock(ctx), write.Unlock(ctx), read.Unlock(ctx))
	if err != nil {
		return err // the next Lock would wait for what is still held
	}
	for _, l := range []*rlock.Lock{l.ReadLock(), l.WriteLock()} {
		if _, err2 := l.Lock(ctx); err2 != nil {
			err = errors.Join(err, err2)
		}
		_, err2 := l.ForceUnlock(ctx)
		err = errors.Join(err, err2)
	}
	return err
}

func everyUseOfSemaphores(ctx context.Context, s *rlock.Semaphore) error {
	if _, err := s.TrySetPermits(ctx, 2, rlock.Expire(time.Hour)); err != nil {
		return err
	}
	err := s.Do(ctx, 2, func(ctx context.Context) error { return s.TryAcquireFor(ctx, 1, 2*time.Second) })
	if !errors.Is(err, rlock.ErrNoPermits) {
		return fmt.Errorf("a third of two: %w", err)
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if err := s.Acquire(gone, 1); !errors.Is(err, context.Canceled) {
		return fmt.Errorf("cancelled: %w", err)
	}
	_, err = s.ReleaseIfExists(ctx, 1)
	_, err2 := s.Drain(ctx)
	err = errors.Join(err, err2, s.AddPermits(ctx, 1))
	_, err2 = s.Available(ctx)
	_, err3 := s.Delete(ctx)
	return errors.Join(err, err2, err3)
}

func everyUseOfLatches(ctx context.Context, l *rlock.CountDownLatch) error {
	_, err := l.TrySetCount(ctx, 1)
	if err2 := l.AwaitFor(ctx, 200*time.Millisecond); !errors.Is(err2, rlock.ErrNotOpen) {
		return errors.Join(err, fmt.Errorf("a latch with a count: %w", err2))
	}
	_, err2 := l.Count(ctx)
	if err = errors.Join(err, err2, l.CountDown(ctx)); err != nil {
		return err
	}
	err = l.Await(ctx)
	_, err2 = l.Delete(ctx)
	return errors.Join(err, err2)
}

func everyUseOfPermits(ctx context.Context, s *rlock.PermitSemaphore) error {
	if _, err := s.TrySetPermits(ctx, 2); err != nil {
		return err
	}
	two, err := s.Acquire(ctx, 2)
	if err != nil {
		return err
	}
	if _, err := s.TryAcquireFor(ctx, 1, 2*time.Second); !errors.Is(err, rlock.ErrNoPermits) {
		return fmt.Errorf("a third of two: %w", err)
	}
	err = errors.Join(two.Release(ctx), s.AddPermits(ctx, 1), s.SetPermits(ctx, 2))
	one, err2 := s.Acquire(ctx, 1, rlock.Lease(time.Minute))
	if err = errors.Join(err, err2); err != nil {
		return err
	}
	_, err = s.LeaseOf(ctx, one.IDs()[0])
	_, err2 = s.Total(ctx)
	err = errors.Join(err, err2, one.Extend(ctx, time.Minute))
	_, err2 = s.Delete(ctx)
	return errors.Join(err, err2)
}
