package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/rlock"
)

// numberTimeout is a command timeout of which a busy machine does not let several pass.
const numberTimeout = time.Second

var (
	takes   = faultproxy.Script(luasrc.SemaphoreAcquireScript.SHA1)
	undoes  = faultproxy.Script(luasrc.SemaphoreUndoScript.SHA1)
	changes = faultproxy.Script(luasrc.SemaphoreChangeScript.SHA1)
	downs   = faultproxy.Script(luasrc.CountDownScript.SHA1)
)

// numberFault is a call on a semaphore with 5 permits, or a latch with a count of 5, of which a command meets a fault.
type numberFault struct {
	name  string
	match faultproxy.Match
	call  func(ctx context.Context, s *rlock.Semaphore, l *rlock.CountDownLatch) (any, error)
	said  any    // what it answers
	left  string // what the server has then; "": no key
	also  faultproxy.Match
}

var numberFaults = []numberFault{
	{name: "acquire", match: takes, left: "3", call: func(ctx context.Context, s *rlock.Semaphore, _ *rlock.CountDownLatch) (any, error) {
		return nil, s.Acquire(ctx, 2)
	}},
	{name: "acquire and its undo", match: takes, also: undoes, left: "3", call: func(ctx context.Context, s *rlock.Semaphore, _ *rlock.CountDownLatch) (any, error) {
		return nil, s.Acquire(ctx, 2)
	}},
	{name: "acquire given up", match: takes, left: "5", said: true, call: func(ctx context.Context, s *rlock.Semaphore, _ *rlock.CountDownLatch) (any, error) {
		ctx, cancel := context.WithTimeout(ctx, numberTimeout/10)
		defer cancel()
		err := s.Acquire(ctx, 2)
		if err == nil {
			return true, s.Release(context.Background(), 2)
		}
		return errors.Is(err, context.DeadlineExceeded), nil
	}},
	{name: "release", match: changes, left: "7", call: func(ctx context.Context, s *rlock.Semaphore, _ *rlock.CountDownLatch) (any, error) {
		return nil, s.Release(ctx, 2)
	}},
	{name: "release if it exists", match: changes, left: "7", said: true, call: func(ctx context.Context, s *rlock.Semaphore, _ *rlock.CountDownLatch) (any, error) {
		return s.ReleaseIfExists(ctx, 2)
	}},
	{name: "set", match: changes, left: "5", said: false, call: func(ctx context.Context, s *rlock.Semaphore, _ *rlock.CountDownLatch) (any, error) {
		return s.TrySetPermits(ctx, 9)
	}},
	{name: "add", match: changes, left: "4", call: func(ctx context.Context, s *rlock.Semaphore, _ *rlock.CountDownLatch) (any, error) {
		return nil, s.AddPermits(ctx, -1)
	}},
	{name: "drain", match: changes, left: "0", said: 5, call: func(ctx context.Context, s *rlock.Semaphore, _ *rlock.CountDownLatch) (any, error) {
		return s.Drain(ctx)
	}},
	{name: "delete", match: changes, said: true, call: func(ctx context.Context, s *rlock.Semaphore, _ *rlock.CountDownLatch) (any, error) {
		return s.Delete(ctx)
	}},
	{name: "count down", match: downs, left: "4", call: func(ctx context.Context, _ *rlock.Semaphore, l *rlock.CountDownLatch) (any, error) {
		return nil, l.CountDown(ctx)
	}},
	{name: "set the count", match: downs, left: "5", said: false, call: func(ctx context.Context, _ *rlock.Semaphore, l *rlock.CountDownLatch) (any, error) {
		return l.TrySetCount(ctx, 9)
	}},
	{name: "delete the latch", match: downs, said: true, call: func(ctx context.Context, _ *rlock.Semaphore, l *rlock.CountDownLatch) (any, error) {
		return l.Delete(ctx)
	}},
}

// Each script's command meets each fault. Afterwards it has run once, and nothing but the number is left.
func TestFaultsOfNumbers(t *testing.T) {
	t.Parallel()
	for do, name := range map[faultproxy.Action]string{
		faultproxy.CutAfter: "executed, then cut", faultproxy.DropReply: "executed, then nothing",
		faultproxy.HoldReply: "a late reply", faultproxy.Withhold: "withheld and delivered",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := withScripts(t)
			c := p.Open(p.URL(), rlock.WithCommandTimeout(numberTimeout))
			for i, f := range numberFaults {
				f.meets(p, c, do, fmt.Sprint("number-", i))
			}
		})
	}
}

// withScripts has a server that knows the scripts, so that what meets a fault runs.
func withScripts(t *testing.T) *testbed.Proxied {
	t.Helper()
	p := testbed.NewProxied(t, redisserver.Start(t))
	for _, s := range luasrc.Scripts() {
		testbed.Do(t, p.Conn, "SCRIPT", "LOAD", s.Source)
	}
	return p
}

func (f *numberFault) meets(p *testbed.Proxied, c *rlock.Client, do faultproxy.Action, name string) {
	p.Helper()
	testbed.Do(p.T, p.Conn, "SET", name, 5)
	rule := func(m faultproxy.Match) *faultproxy.Handle {
		return p.Proxy.Add(faultproxy.Rule{Match: faultproxy.All(m, faultproxy.Key(name)), Times: 1, Do: do, Delay: 3 * numberTimeout})
	}
	fault := rule(f.match)
	if f.also != nil {
		defer rule(f.also).Remove()
	}
	type answer struct {
		said any
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		said, err := f.call(p.Context(), c.NewSemaphore(name), c.NewCountDownLatch(name))
		done <- answer{said, err}
	}()
	p.Hit(fault)
	if do == faultproxy.Withhold {
		p.Proxy.CutAll()
	}
	a := testbed.Receive(p, f.name, done)
	// An acquire, unlike a change, ends when its server has been silent for a command timeout. Then it has nothing.
	left := f.left
	if errors.Is(a.err, rlock.ErrUncertain) && strings.HasPrefix(f.name, "acquire") && do != faultproxy.CutAfter {
		a.err, left = nil, "5"
	}
	if a.said != f.said || a.err != nil {
		p.Errorf("%s: %v, %v; want %v", f.name, a.said, a.err, f.said)
	}
	exact := func() bool {
		value, err := redis.String(p.Conn.Do("GET", name))
		keys, err2 := redis.Strings(p.Conn.Do("KEYS", "*{"+name+"}*"))
		return (err == nil || err == redis.ErrNil) && err2 == nil && value == left && len(keys) == 0
	}
	if !testbed.Eventually(exact) {
		keys, _ := redis.Strings(p.Conn.Do("KEYS", "*"))
		value, err := redis.String(p.Conn.Do("GET", name))
		p.Errorf("%s leaves %q, %v, of %q; want %q", f.name, value, err, keys, left)
	}
	if do == faultproxy.Withhold {
		if n := fault.Release(); n != 0 {
			p.Errorf("%s: what arrived late ran", f.name)
		}
		p.Stays("what arrived late has not run", 50*time.Millisecond, exact)
	}
	fault.Remove()
}

// Where no connection can be killed, an acquire that was given up arrives and takes permits. The undo is repeated each second,
// and gives them back.
func TestAcquireOfPermitsArrivesWhereNothingCanBeKilled(t *testing.T) {
	t.Parallel()
	p := withScripts(t)
	for _, args := range [][]any{{"SETUSER", noKill.Name, "on", ">" + noKill.Password}, slices.Concat([]any{"SETUSER", noKill.Name}, boxed(noKill.Rules))} {
		testbed.Do(t, p.Conn, "ACL", args...)
	}
	c := p.Open(strings.Replace(p.URL(), "://", "://"+noKill.Name+":"+noKill.Password+"@", 1), rlock.WithCommandTimeout(numberTimeout))
	const name = "unkilled"
	testbed.Do(t, p.Conn, "SET", name, 5)
	late := p.Proxy.Add(faultproxy.Rule{Match: faultproxy.All(takes, faultproxy.Key(name)), Times: 1, Do: faultproxy.Withhold})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.NewSemaphore(name).Acquire(ctx, 2) }()
	p.Hit(late)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	p.Proxy.CutAll()
	p.Becomes("the undo has run", func() bool { return p.Answered(undoes) > 0 })
	if late.Release() == 0 {
		t.Fatal("it does not arrive")
	}
	p.Becomes("it has taken them", func() bool {
		stats, err := redis.String(p.Conn.Do("INFO", "commandstats"))
		return err == nil && strings.Contains(stats, "cmdstat_decrby:calls=1")
	})
	p.Becomes("they are given back", func() bool {
		value, err := redis.String(p.Conn.Do("GET", name))
		keys, err2 := redis.Strings(p.Conn.Do("KEYS", "*{"+name+"}*"))
		return value == "5" && err == nil && err2 == nil && len(keys) == 0
	})
}

func boxed(texts []string) (args []any) {
	for _, text := range texts {
		args = append(args, text)
	}
	return args
}
