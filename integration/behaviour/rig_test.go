package behaviour_test

import (
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

const patience = testbed.Patience

// rig is a test with a server and a connection of its own to it.
type rig struct{ *testbed.Rig }

// start takes the server that the environment chooses. It may have other users.
func start(t *testing.T) *rig {
	t.Helper()
	return on(t, redisserver.Start(t))
}

// own starts a server that nobody else uses. If the environment chooses several servers and there are no args, it
// returns those instead, and nil.
func own(t *testing.T, args ...string) (*rig, *redisserver.LocalServer) {
	t.Helper()
	if redisserver.ChoosesSeveral() && len(args) == 0 {
		return start(t), nil
	}
	s := redisserver.Local(t, args...)
	return on(t, s), s
}

func on(t *testing.T, s redisserver.Server) *rig {
	t.Helper()
	return &rig{testbed.New(t, s)}
}

func (r *rig) open(opts ...rlock.Option) *rlock.Client {
	r.Helper()
	return r.Open(r.Server.URL(), opts...)
}

// name is a lock name that nobody else uses.
func (r *rig) name() string { return "behaviour/" + r.Name() + "/" + rand.Text()[:10] }

func (r *rig) enter(l *rlock.Lock, opts ...rlock.AcquireOption) <-chan testbed.Entry {
	return testbed.Enter(r.Context(), l, opts...)
}

func (r *rig) outside(ch <-chan testbed.Entry) {
	r.Helper()
	select {
	case e := <-ch:
		r.Fatalf("the wait ended early: %v", e.Err)
	default:
	}
}

// wants checks that err is not nil, wraps target (unless that is nil) and contains all texts.
func wants(t testing.TB, err, target error, texts ...string) {
	t.Helper()
	if err == nil || target != nil && !errors.Is(err, target) {
		t.Errorf("error %v, want %v", err, target)
		return
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("error %q does not say %q", err, text)
		}
	}
}

// notBefore checks that d is at least least. How long a call takes at most is for tests in virtual time.
func notBefore(t testing.TB, what string, d, least time.Duration) {
	t.Helper()
	if d < least {
		t.Errorf("%s took %v, want at least %v", what, d, least)
	}
}

// part runs a subtest with its own rig on the same server.
func (r *rig) part(behaviour string, test func(r *rig)) {
	r.Helper()
	r.Run(behaviour, func(t *testing.T) { test(on(t, r.Server)) })
}

// spoilt is a client behind a proxy that can change its replies.
type spoilt struct {
	*rig
	proxy *faultproxy.Proxy
	c     *rlock.Client
}

func spoil(t *testing.T, opts ...rlock.Option) *spoilt {
	t.Helper()
	r := on(t, redisserver.Local(t))
	p := faultproxy.Start(t, r.Server.Addr())
	return &spoilt{r, p, r.Open("redis://"+p.Addr(), opts...)}
}

// isServerError checks that an error wraps the server's reply, a redis.Error.
func isServerError(t testing.TB, err error) {
	t.Helper()
	if _, is := errors.AsType[redis.Error](err); !is {
		t.Errorf("no redis.Error in %v", err)
	}
}

func TestMain(m *testing.M) { testbed.Main(m, "24") }
