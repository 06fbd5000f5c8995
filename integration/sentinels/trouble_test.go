package sentinels_test

import (
	"context"
	"crypto/tls"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/rlock"
)

func TestLocksGoOnWithoutAnySentinel(t *testing.T) {
	t.Parallel()
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	c := open(t, set.URL(), rlock.WithWatchdogTimeout(3*time.Second))
	h := lock(t, c, "held")
	for _, s := range set.Sentinels {
		s.Kill()
	}
	untilRenewed(t, h)
	for range 2 {
		if err := lock(t, c, "other").Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if err := h.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
	_, err := rlock.Open(t.Context(), set.URL(), rlock.WithCommandTimeout(time.Second))
	if err == nil || !strings.Contains(err.Error(), "no Sentinel names the master") {
		t.Errorf("another client: %v", err)
	}
}

func TestOpenSaysWhatTheSentinelsRefuse(t *testing.T) {
	t.Parallel()
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{Nodes: "sesame", Sentinels: "mellon"})
	host := set.Addrs()
	says := func(password string) rlock.Option {
		return rlock.WithSentinelCredentials(func(context.Context) (string, string, error) { return "", password, nil })
	}
	for behaviour, row := range map[string]struct {
		url  string
		opts []rlock.Option
		says string
	}{
		"no password for the Sentinels":       {":sesame@" + host + "/" + redistest.MasterName, nil, "NOAUTH"},
		"a wrong password for the Sentinels":  {":sesame@" + host + "/" + redistest.MasterName, []rlock.Option{says("moria")}, "WRONGPASS"},
		"a wrong password for the master":     {":moria@" + host + "/" + redistest.MasterName, []rlock.Option{says("mellon")}, "WRONGPASS"},
		"no password for the master":          {host + "/" + redistest.MasterName, []rlock.Option{says("mellon")}, "NOAUTH"},
		"a name that no Sentinel knows":       {":sesame@" + host + "/invoices", []rlock.Option{says("mellon")}, "knows no master of that name"},
		"a database that the master lacks":    {":sesame@" + host + "/" + redistest.MasterName + "/999", []rlock.Option{says("mellon")}, "SELECT 999"},
		"a server that is no Sentinel":        {":sesame@" + set.Nodes[1].Addr() + "/" + redistest.MasterName, []rlock.Option{says("sesame")}, "unknown command"},
		"one of two answers, and that is all": {":sesame@127.0.0.1:1," + set.Sentinels[0].Addr() + "/" + redistest.MasterName, []rlock.Option{says("mellon")}, ""},
	} {
		t.Run(behaviour, func(t *testing.T) {
			c, err := rlock.Open(t.Context(), "redis+sentinel://"+row.url, append(row.opts, rlock.WithCommandTimeout(2*time.Second))...)
			if err == nil {
				defer c.Close()
			}
			if row.says == "" && err == nil {
				return
			}
			if err == nil || row.says == "" || !strings.Contains(err.Error(), row.says) {
				t.Fatalf("got %v", err)
			}
			for _, secret := range []string{"sesame", "mellon", "moria"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("it tells a password: %v", err)
				}
			}
		})
	}
}

// What docs/security.md has for an account at a Sentinel is enough: for questions, and for the news.
func TestAccountAtASentinelThatMayDoNoMoreThanItMust(t *testing.T) {
	t.Parallel()
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	for _, s := range set.Sentinels {
		if _, err := s.Dial(t).Do("ACL", "SETUSER", "worker", "reset", "resetchannels", "on", ">mellon", "&+switch-master", "+ping", "+sentinel", "+subscribe"); err != nil {
			t.Fatal(err)
		}
	}
	c := open(t, set.URL(), rlock.WithWatchdogTimeout(long), rlock.WithSentinelCredentials(func(context.Context) (string, string, error) {
		return "worker", "mellon", nil
	}))
	h := lock(t, c, "held")
	for _, s := range set.Sentinels {
		becomes(t, "subscribed", func() bool {
			list, err := redis.String(s.Dial(t).Do("CLIENT", "LIST"))
			for line := range strings.Lines(list) {
				if err == nil && strings.Contains(line, " user=worker ") && strings.Contains(line, " sub=1 ") {
					return true
				}
			}
			return false
		})
	}
	former := set.Master()
	set.Failover(set.Sentinels[0])
	next := set.AwaitMaster(former)
	untilRenewed(t, h)
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
	if err := lock(t, open(t, url, both...), "held").Unlock(t.Context()); err != nil {
		t.Error(err)
	}
	for behaviour, row := range map[string]struct {
		opts []rlock.Option
		says string
	}{
		"only the Sentinel is trusted": {[]rlock.Option{both[1], rlock.WithTLSConfig(&tls.Config{})}, "certificate signed by unknown authority"},
		"only the master is trusted":   {[]rlock.Option{both[0], rlock.WithSentinelTLSConfig(&tls.Config{})}, "certificate signed by unknown authority"},
		"neither is expected":          {nil, "no Sentinel names the master"},
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

func TestOptionsForSentinelsNeedTheirURL(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	none := func(context.Context) (string, string, error) { return "", "", nil }
	for _, opt := range []rlock.Option{rlock.WithSentinelCredentials(none), rlock.WithSentinelCredentials(nil), rlock.WithSentinelTLSConfig(nil)} {
		if _, err := rlock.Open(t.Context(), s.URL(), opt); !errors.Is(err, rlock.ErrInvalidOption) || !strings.Contains(err.Error(), "WithSentinel") {
			t.Errorf("got %v", err)
		}
	}
}
