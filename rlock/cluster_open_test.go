package rlock_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

// openAtOnce opens a URL and closes the client. An Open that waits for something ends with an error, because the
// command timeout is its limit.
func openAtOnce(t *testing.T, url string, opts ...rlock.Option) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	c, err := rlock.Open(ctx, url, append(opts, rlock.WithCommandTimeout(20*time.Second))...)
	if err == nil {
		c.Close()
	}
	return err
}

// withUser puts a user in front of the hosts of a URL.
func withUser(url, user string) string { return strings.Replace(url, "://", "://"+user+"@", 1) }

func TestOpenOfAClusterNeedsOneMaster(t *testing.T) {
	t.Parallel()
	var beside redistest.Parts
	defer beside.Wait()
	for name, trouble := range map[string]func(*redistest.Server){
		"the first is dead":      (*redistest.Server).Kill,
		"the first stands still": (*redistest.Server).Pause,
	} {
		beside.Run(t, name, func(t *testing.T) {
			s := topologytest.Start(t, 1, 1, 1)
			trouble(s.Servers[0]) // the master of slot 0
			ctx, cancel := context.WithTimeout(t.Context(), 3*soonEnough)
			defer cancel()
			c, err := rlock.Open(ctx, s.ClusterURL(), rlock.WithCommandTimeout(4*soonEnough)) // a call to that server would wait this long, and so may Close
			if err != nil {
				t.Fatal(err)
			}
			c.Close()
		})
	}
	beside.Run(t, "all are dead", func(t *testing.T) {
		s := topologytest.Start(t, 1, 1)
		for _, server := range s.Servers {
			server.Kill()
		}
		const timeout = time.Second
		began := time.Now()
		_, err := rlock.Open(t.Context(), s.ClusterURL(), rlock.WithCommandTimeout(timeout))
		if took := time.Since(began); err == nil || took < timeout/3 || !strings.Contains(err.Error(), "refused") {
			t.Errorf("after %v: %v", took, err)
		}
	})
}

// An error that the next attempt would get too is returned at once, even if another server is silent.
func TestOpenOfAClusterIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	s := topologytest.Start(t, 1, 1, 1)
	for i := range s.Servers {
		for _, acl := range [][]any{
			{"SETUSER", "blind", "on", ">b", "~*", "&*", "+@all", "-cluster"},
			{"SETUSER", "mute", "on", ">m", "~*", "&*", "-@all", "+cluster", "+client"},
			{"SETUSER", "default", "off"},
			{"SETUSER", "orders", "on", ">o", "~*", "&*", "+@all"},
		} {
			if _, err := s.Conn(i).Do("ACL", acl...); err != nil {
				t.Fatal(err)
			}
		}
	}
	check := func(t *testing.T) {
		t.Helper()
		if err := openAtOnce(t, withUser(s.ClusterURL(), "orders:o")); err != nil {
			t.Errorf("with the right password: %v", err)
		}
		for user, want := range map[string]string{
			"orders:wrong": "WRONGPASS", "nobody:x": "WRONGPASS", "": "NOAUTH", "blind:b": "NOPERM", "mute:m": "NOPERM",
		} {
			url := s.ClusterURL()
			if user != "" {
				url = withUser(url, user)
			}
			if err := openAtOnce(t, url); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("as %q: %v", user, err)
			} else if password := user[strings.Index(user, ":")+1:]; len(password) > 1 && strings.Contains(err.Error(), password) {
				t.Errorf("it tells the password: %v", err)
			}
		}
	}
	check(t)
	s.Servers[2].Pause()
	defer s.Servers[2].Resume()
	check(t)
}

func TestOpenOfAServerThatIsInNoClusterIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	if err := openAtOnce(t, "redis+cluster://"+redistest.Start(t).Addr()); !errors.Is(err, rlock.ErrInvalidOption) {
		t.Error(err)
	}
}

func TestOpenOfSentinelsIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	s := redistest.StartSentinels(t, redistest.SentinelPasswords{Nodes: "sesame", Sentinels: "mellon"})
	sentinels := func(password string) rlock.Option {
		return rlock.WithSentinelCredentials(func(context.Context) (string, string, error) { return "", password, nil })
	}
	check := func(what, user string, opts []rlock.Option, want string) {
		t.Helper()
		url := s.URL()
		if user != "" {
			url = withUser(url, user)
		}
		err := openAtOnce(t, url, opts...)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", what, err)
		}
	}
	check("both are right", ":sesame", []rlock.Option{sentinels("mellon")}, "")
	check("the master's is wrong", ":wrong", []rlock.Option{sentinels("mellon")}, "WRONGPASS")
	check("the master's is missing", "", []rlock.Option{sentinels("mellon")}, "NOAUTH")
	check("the Sentinels' is wrong", ":sesame", []rlock.Option{sentinels("wrong")}, "WRONGPASS")
	check("the Sentinels' is missing", ":sesame", nil, "NOAUTH")
	var mu sync.Mutex // guards asked
	asked := 0
	check("the Sentinels' is right the second time", ":sesame", []rlock.Option{rlock.WithSentinelCredentials(func(context.Context) (string, string, error) {
		mu.Lock()
		defer mu.Unlock()
		if asked++; asked <= len(s.Sentinels) {
			return "", "stale", nil
		}
		return "", "mellon", nil
	})}, "")
	s.Sentinels[0].Kill()
	check("one Sentinel is dead, and the password wrong", ":sesame", []rlock.Option{sentinels("wrong")}, "WRONGPASS")
	check("one Sentinel is dead", ":sesame", []rlock.Option{sentinels("mellon")}, "")
}
