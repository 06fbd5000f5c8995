package security

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/rlock"
)

// suite is what an account must be able to do. Its methods return errors instead of failing the test, since half of the
// tests want one.
type suite struct {
	*rig
	proxy  *faultproxy.Proxy
	client *rlock.Client
	prefix string // of the lock names that the account is for
	fence  bool   // whether the account may CLIENT KILL
}

const (
	watchdog = 4 * time.Second
	enough   = 10 * time.Second // for calls that should succeed
)

func as(addr string, a account, path string) string {
	u := url.URL{Scheme: "redis", Host: addr, User: url.UserPassword(a.name, a.password), Path: path}
	return u.String()
}

var options = []rlock.Option{rlock.WithWatchdogTimeout(watchdog), rlock.WithCommandTimeout(timeout)}

// run does everything, in an order that finds missing rights early.
func (s *suite) run() error {
	for _, part := range []func(context.Context) error{s.holds, s.asks, s.wakes, s.renews, s.forces, s.hands, s.loses, s.tidy} {
		ctx, cancel := context.WithTimeout(s.Context(), enough)
		err := part(ctx)
		cancel()
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *suite) lock() *rlock.Lock { return s.client.NewLock(s.prefix + unique()) }

// holds locks, re-enters and unlocks, for the watchdog and with a lease.
func (s *suite) holds(ctx context.Context) error {
	l := s.lock()
	if err := l.Do(ctx, func(context.Context) error { return nil }); err != nil {
		return err
	}
	h, err := l.Lock(ctx, rlock.Lease(time.Minute))
	if err != nil {
		return err
	}
	inner, err := l.Lock(ctx, rlock.As(h.Owner()))
	if err != nil {
		return err
	}
	if n, err := redis.Int(s.Conn.Do("HGET", l.Name(), h.Owner().String())); err != nil || n != 2 {
		return fmt.Errorf("count %d, %w", n, err)
	}
	return errors.Join(h.Extend(ctx, 2*time.Minute), inner.Unlock(ctx), h.Unlock(ctx))
}

func (s *suite) asks(ctx context.Context) error {
	l := s.lock()
	h, err := l.TryLock(ctx, rlock.AtLeast(watchdog))
	if err != nil {
		return err
	}
	locked, e1 := l.IsLocked(ctx)
	held, e2 := l.IsHeldBy(ctx, h.Owner())
	count, e3 := l.HoldCount(ctx, h.Owner())
	ttl, e4 := l.RemainTTL(ctx)
	if err := errors.Join(e1, e2, e3, e4); err != nil {
		return err
	}
	if !locked || !held || count != 1 || ttl <= 0 {
		return fmt.Errorf("locked %v, held %v, count %d, ttl %v", locked, held, count, ttl)
	}
	return h.Unlock(ctx)
}

// wakes has two waiters woken by messages, one after the other. Their one subscription connection outlives the first.
func (s *suite) wakes(ctx context.Context) error {
	before := s.Connections()
	for range 2 {
		l := s.lock()
		if err := handOver(ctx, l, l, func() int { return s.Subscribed(l.Name()) }); err != nil {
			return err
		}
	}
	if n := s.Connections() - before; n > 1 {
		return fmt.Errorf("%d new connections for subscriptions", n)
	}
	return nil
}

// handOver has a waiter woken by the message of the lock's holder.
func handOver(ctx context.Context, from, to *rlock.Lock, listeners func() int) error {
	h, err := from.TryLock(ctx, rlock.Lease(time.Minute))
	if err != nil {
		return err
	}
	waiter := testbed.Enter(ctx, to)
	if err := within(ctx, "a subscription", func() bool { return listeners() == 1 }); err != nil {
		return errors.Join(err, (<-waiter).Err)
	}
	if err := h.Unlock(ctx); err != nil {
		return err
	}
	e := <-waiter
	if e.Err != nil {
		return e.Err
	}
	if err := e.Hold.Unlock(ctx); err != nil {
		return err
	}
	return within(ctx, "no subscription left", func() bool { return listeners() == 0 })
}

// fair has two owners wait and be woken, and a third give up behind them.
func (s *suite) fair(l *rlock.Lock) error {
	ctx, cancel := context.WithTimeout(s.Context(), enough)
	defer cancel()
	h, err := l.Lock(ctx, rlock.Lease(time.Minute))
	if err != nil {
		return err
	}
	waiters := []<-chan testbed.Entry{testbed.Enter(ctx, l), testbed.Enter(ctx, l)}
	queued := func(n int) func() bool {
		return func() bool {
			i, err := l.Info(ctx)
			return err == nil && i.Waiters == n
		}
	}
	if err := within(ctx, "two places in the queue", queued(2)); err != nil {
		cancel()
		return errors.Join(err, (<-waiters[0]).Err, (<-waiters[1]).Err)
	}
	crowd, disperse := context.WithCancel(ctx) // those who leave together are taken out by one script
	defer disperse()
	var left []<-chan testbed.Entry
	for range 8 {
		left = append(left, testbed.Enter(crowd, l))
	}
	if err := within(ctx, "ten places in the queue", queued(10)); err != nil {
		return err
	}
	disperse()
	for _, one := range left {
		if e := <-one; !errors.Is(e.Err, context.Canceled) {
			return fmt.Errorf("one of a crowd: %w", e.Err)
		}
	}
	if err := within(ctx, "the crowd to leave", queued(2)); err != nil {
		return err
	}
	if _, err := l.TryLockFor(ctx, 2*time.Second); !errors.Is(err, rlock.ErrLocked) {
		return fmt.Errorf("behind another: %w", err)
	}
	for range waiters {
		began := time.Now()
		if err := h.Unlock(ctx); err != nil {
			return err
		}
		var e testbed.Entry
		select {
		case e = <-waiters[0]:
		case e = <-waiters[1]:
		}
		if e.Err != nil {
			return e.Err
		}
		if took := time.Since(began); took > 2*time.Second {
			return fmt.Errorf("woken after %v", took)
		}
		h = e.Hold
	}
	if forced, err := l.ForceUnlock(ctx); err != nil || !forced {
		return fmt.Errorf("forced %v, %w", forced, err)
	}
	return nil
}

func (s *suite) renews(ctx context.Context) error {
	h, err := s.lock().TryLock(ctx)
	if err != nil {
		return err
	}
	select {
	case <-h.Done():
		return fmt.Errorf("the hold ended: %w", h.Err())
	case <-time.After(watchdog * 3 / 2):
	}
	return h.Unlock(ctx)
}

func (s *suite) forces(ctx context.Context) error {
	l := s.lock()
	h, err := l.TryLock(ctx)
	if err != nil {
		return err
	}
	if there, err := l.ForceUnlock(ctx); err != nil || !there {
		return fmt.Errorf("forced %v, %w", there, err)
	}
	if err := h.Unlock(ctx); !errors.Is(err, rlock.ErrLeaseLost) {
		return fmt.Errorf("a forced hold's unlock: %w", err)
	}
	return nil
}

// hands releases a lock that another process took.
func (s *suite) hands(ctx context.Context) error {
	l, o := s.lock(), s.client.NewOwner()
	if _, err := s.Conn.Do("HSET", l.Name(), o.String(), 1); err != nil {
		return err
	}
	return l.UnlockAs(ctx, o)
}

// loses has an acquire's reply lost: the client sends it again if it may CLIENT KILL, else undoes it repeatedly.
func (s *suite) loses(ctx context.Context) error {
	kills := s.kills()
	l := s.lock()
	lost := s.proxy.Add(faultproxy.Rule{Match: faultproxy.All(faultproxy.Script(luasrc.LockScript.SHA1), faultproxy.Key(l.Name())), Times: 1, Do: faultproxy.CutAfter})
	h, err := l.TryLockFor(ctx, enough)
	if err != nil {
		return err
	}
	if lost.Hits() != 1 {
		return errors.New("the reply was not lost")
	}
	if n, err := redis.Int(s.Conn.Do("HLEN", l.Name())); err != nil || n != 1 {
		return fmt.Errorf("%d owners, %w", n, err)
	}
	if s.fence != (s.kills() > kills) {
		return fmt.Errorf("CLIENT KILLs that worked: %d before, %d after", kills, s.kills())
	}
	if !s.fence {
		if err := within(ctx, "a repeated undo", func() bool { return s.undos(l.Name()) >= 2 }); err != nil {
			return err
		}
	}
	return h.Unlock(ctx)
}

// kills counts the CLIENT KILLs that the server granted.
func (s *suite) kills() (n int) {
	for _, e := range s.proxy.Record() {
		if _, granted := e.Reply.(int64); granted && faultproxy.Command("CLIENT", "KILL")(e.Cmd) {
			n++
		}
	}
	return n
}

// undos counts the unlocks of the owner that has the most.
func (s *suite) undos(name string) int {
	times := map[string]int{}
	for _, e := range s.proxy.Record() {
		switch n := len(e.Cmd); {
		case !faultproxy.Key(name)(e.Cmd):
		case testbed.Latched(e.Cmd) && n > 8:
			times[e.Cmd[8]]++
		case testbed.Own(e.Cmd) && n > 7:
			times[e.Cmd[7]]++
		}
	}
	most := 0
	for _, n := range times {
		most = max(most, n)
	}
	return most
}

// tidy waits until no key is left, except latches if the account may not CLIENT KILL.
func (s *suite) tidy(ctx context.Context) error {
	return within(ctx, "an empty server", func() bool {
		keys, err := redis.Strings(s.Conn.Do("KEYS", "*"))
		keys = slices.DeleteFunc(keys, func(k string) bool { return !s.fence && strings.Contains(k, "latch") })
		return err == nil && len(keys) == 0
	})
}

func within(ctx context.Context, what string, state func() bool) error {
	for !state() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("never: %s", what)
		case <-time.After(pollEvery):
		}
	}
	return nil
}

// denied lists what the server's ACL refused: reason and object.
func (r *rig) denied() []string {
	r.Helper()
	return deniedTo(r.T, "", []redis.Conn{r.Conn})
}
