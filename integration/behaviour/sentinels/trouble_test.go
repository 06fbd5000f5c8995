package sentinels_test

import (
	"context"
	"crypto/tls"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

func TestLocksGoOnWithoutAnySentinel(t *testing.T) {
	t.Parallel()
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	c := testbed.Open(t, set.URL(), rlock.WithWatchdogTimeout(3*time.Second))
	h := lock(t, c.NewLock("held"))
	for _, s := range set.Sentinels {
		s.Kill()
	}
	untilRenewed(t, h, h.ValidUntil())
	for range 2 {
		unlock(t, lock(t, c.NewLock("other")))
	}
	unlock(t, h)
	_, err := rlock.Open(t.Context(), set.URL(), rlock.WithCommandTimeout(time.Second))
	if err == nil || !strings.Contains(err.Error(), "no Sentinel names the master") {
		t.Errorf("another client: %v", err)
	}
}

// TestAccountAtASentinelThatMayDoNoMoreThanItMust shows that the rights in docs/security.md are enough for a Sentinel's
// account to query and to hear news. An account that may not hear of replicas still hears of masters.
func TestAccountAtASentinelThatMayDoNoMoreThanItMust(t *testing.T) {
	t.Parallel()
	t.Run("all news", func(t *testing.T) { hears(t, " sub=4 ", "&+switch-master", "&+slave", "&+selected-slave", "&+monitor") })
	t.Run("of masters", func(t *testing.T) { hears(t, " sub=1 ", "&+switch-master") })
}

func hears(t *testing.T, subscriptions string, channels ...any) {
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	for _, s := range set.Sentinels {
		rules := append([]any{"SETUSER", "worker", "reset", "resetchannels", "on", ">mellon", "+ping", "+sentinel", "+subscribe"}, channels...)
		testbed.Do(t, s.Dial(t), "ACL", rules...)
	}
	c := testbed.Open(t, set.URL(), rlock.WithWatchdogTimeout(long), rlock.WithSentinelCredentials(func(context.Context) (string, string, error) {
		return "worker", "mellon", nil
	}))
	h := lock(t, c.NewLock("held"))
	for _, s := range set.Sentinels {
		testbed.BecomesWithin(t, farOff, "subscribed", func() bool {
			list, err := redis.String(s.Dial(t).Do("CLIENT", "LIST"))
			for line := range strings.Lines(list) {
				if err == nil && strings.Contains(line, " user=worker ") && strings.Contains(line, subscriptions) {
					return true
				}
			}
			return false
		})
	}
	former, before := set.Master(), h.ValidUntil()
	set.Failover(set.Sentinels[0])
	next := set.AwaitMaster(former)
	untilRenewed(t, h, before)
	if h.Err() == nil && !holds(t, next, h) {
		t.Error("the master does not have it")
	}
}

func TestSentinelsAndMasterSpeakTLS(t *testing.T) {
	t.Parallel()
	master := redisserver.TLS(t, false)
	url := "redis+sentinel://" + redisserver.TLSSentinel(t, master) + "/" + redistest.MasterName
	trusts := &tls.Config{RootCAs: master.Authority.Pool()}
	both := []rlock.Option{rlock.WithTLSConfig(trusts), rlock.WithSentinelTLSConfig(trusts)}
	unlock(t, lock(t, testbed.Open(t, url, both...).NewLock("held")))
	for behaviour, row := range map[string]struct {
		opts []rlock.Option
		says string
	}{
		"only the Sentinel is trusted": {[]rlock.Option{both[1], rlock.WithTLSConfig(&tls.Config{})}, "put it into RootCAs of WithTLSConfig"},
		"only the master is trusted":   {[]rlock.Option{both[0], rlock.WithSentinelTLSConfig(&tls.Config{})}, "put it into RootCAs of WithSentinelTLSConfig"},
		"neither is expected":          {nil, "try WithSentinelTLSConfig"},
		"only the Sentinel has TLS":    {both[1:], "try WithTLSConfig"},
	} {
		c, err := rlock.Open(t.Context(), url, append(row.opts, rlock.WithCommandTimeout(2*time.Second))...)
		if err == nil {
			c.Close()
		}
		if err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v", behaviour, err)
		}
	}
}
