package behaviour_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/rlock"
)

func TestWrongPassword(t *testing.T) {
	r := on(t, redisserver.ACL(t, redisserver.User{Name: "worker", Password: "right", Rules: []string{"~*", "&*", "+@all"}}))
	began := time.Now()
	_, err := rlock.Open(t.Context(), redisserver.URLAs(r.Server, redisserver.User{Name: "worker", Password: "guessed"}), rlock.WithCommandTimeout(10*time.Second))
	wants(t, err, nil, "open", "AUTH", "WRONGPASS")
	isServerError(t, err)
	if strings.Contains(err.Error(), "guessed") || errors.Is(err, rlock.ErrInvalidOption) {
		t.Error(err)
	}
	// Trying again would not mend it.
	between(t, "the refusal", time.Since(began), 0, 5*time.Second)
	t.Run("found out after Open", func(t *testing.T) {
		c := r.Open(redisserver.URLAs(r.Server, redisserver.User{Name: "worker", Password: "right"}), rlock.WithCommandTimeout(10*time.Second))
		r.Do("ACL", "SETUSER", "worker", "resetpass", ">other")
		r.Do("CLIENT", "KILL", "USER", "worker")
		// The first may be written before the end of the connection is seen, and then cannot be told from one that ran.
		_, err := c.NewLock("x").TryLock(t.Context())
		wants(t, err, nil, "acquire", "AUTH", "WRONGPASS")
		isServerError(t, err)
		began := time.Now()
		_, err = c.NewLock("y").TryLock(t.Context())
		wants(t, err, nil, "acquire", "AUTH", "WRONGPASS")
		isServerError(t, err)
		between(t, "the refusal", time.Since(began), 0, 5*time.Second)
		if errors.Is(err, rlock.ErrUncertain) {
			t.Error(err)
		}
		r.Do("ACL", "SETUSER", "worker", "resetpass", ">right")
		r.Unlock(r.Lock(c.NewLock("x")))
	})
	t.Run("that is missing", func(t *testing.T) {
		r, s := own(t, "--requirepass", "right")
		_, err := rlock.Open(t.Context(), "redis://"+s.Addr(), rlock.WithCommandTimeout(time.Second))
		wants(t, err, nil, "open", "NOAUTH")
		isServerError(t, err)
		r.Open((&url.URL{Scheme: "redis", Host: s.Addr(), User: url.UserPassword("", "right")}).String())
	})
}

func TestUnreachableServer(t *testing.T) {
	t.Parallel()
	r, s := own(t)
	const timeout = 2 * time.Second
	c := r.open(rlock.WithCommandTimeout(timeout))
	holder := r.Lock(c.NewLock("held"))
	s.Stop()
	t.Run("at Open", func(t *testing.T) {
		began := time.Now()
		_, err := rlock.Open(t.Context(), s.URL(), rlock.WithCommandTimeout(timeout))
		wants(t, err, syscall.ECONNREFUSED, "open", s.Addr())
		between(t, "giving up", time.Since(began), 0, timeout+2*time.Second)
	})
	for call, do := range map[string]func() error{
		"Lock":       func() error { _, err := c.NewLock("x").Lock(t.Context()); return err },
		"TryLock":    func() error { _, err := c.NewLock("x").TryLock(t.Context()); return err },
		"TryLockFor": func() error { _, err := c.NewLock("x").TryLockFor(t.Context(), time.Minute); return err },
		"IsLocked":   func() error { _, err := c.NewLock("x").IsLocked(t.Context()); return err },
	} {
		t.Run("at "+call, func(t *testing.T) {
			began := time.Now()
			err := do()
			wants(t, err, syscall.ECONNREFUSED, "x", s.Addr())
			if errors.Is(err, rlock.ErrLocked) {
				t.Error(err)
			}
			between(t, "giving up", time.Since(began), 0, 2*timeout+2*time.Second)
		})
	}
	t.Run("at a wait shorter than the command timeout is not ErrLocked", func(t *testing.T) {
		_, err := c.NewLock("x").TryLockFor(t.Context(), timeout/4)
		if err == nil || errors.Is(err, rlock.ErrLocked) {
			t.Error(err)
		}
	})
	t.Run("a hold lives while its lease does", func(t *testing.T) {
		if err := holder.Err(); err != nil {
			t.Error(err)
		}
	})
	s.Restart()
	r.Redial()
	r.Unlock(holder)
	r.Unlock(r.Lock(c.NewLock("x")))
}

// A server that stays read-only, with no master where its address leads.
func TestServerThatBecomesAReplicaForGood(t *testing.T) {
	t.Parallel()
	master := redisserver.Local(t)
	r, _ := own(t)
	c := r.open(rlock.WithCommandTimeout(time.Second))
	host, port, _ := strings.Cut(master.Addr(), ":")
	r.Do("REPLICAOF", host, port)
	for call, do := range map[string]func() error{
		"TryLock": func() error { _, err := c.NewLock("x").TryLock(t.Context()); return err },
		"Lock":    func() error { _, err := c.NewLock("x").Lock(t.Context()); return err },
		"ForceUnlock": func() error {
			_, err := c.NewLock("x").ForceUnlock(t.Context())
			return err
		},
	} {
		t.Run(call, func(t *testing.T) {
			wants(t, do(), nil, "x", "read-only: ROLE says slave of "+master.Addr())
		})
	}
}

func TestLoadingServer(t *testing.T) {
	t.Parallel()
	t.Run("whose loading ends is waited for", func(t *testing.T) {
		s := spoil(t)
		loading := s.proxy.Add(faultproxy.Rule{Match: faultproxy.Command("EVALSHA"), Times: 5, Do: faultproxy.Answer, Reply: []byte("-LOADING Redis is loading the dataset in memory\r\n")})
		s.Unlock(s.Lock(s.c.NewLock("x")))
		if loading.Hits() != 5 {
			t.Errorf("%d refusals", loading.Hits())
		}
	})
	t.Run("whose loading lasts is told of", func(t *testing.T) {
		s := spoil(t, rlock.WithCommandTimeout(2*time.Second))
		s.proxy.Add(faultproxy.Rule{Match: faultproxy.Command("EVALSHA"), Do: faultproxy.Answer, Reply: []byte("-LOADING Redis is loading the dataset in memory\r\n")})
		began := time.Now()
		_, err := s.c.NewLock("x").Lock(t.Context())
		wants(t, err, nil, "acquire", "x", "LOADING Redis is loading")
		isServerError(t, err)
		between(t, "giving up", time.Since(began), 400*time.Millisecond, 5*time.Second)
	})
	t.Run("that really loads", func(t *testing.T) {
		// A millisecond for each key, and clients are heard every kilobyte.
		r, s := own(t, "--key-load-delay", "1000", "--loading-process-events-interval-bytes", "1024")
		for range 1000 {
			r.Do("RPUSH", r.name(), strings.Repeat("x", 200))
		}
		hasty, patient := r.open(rlock.WithCommandTimeout(50*time.Millisecond)), r.open(rlock.WithCommandTimeout(patience))
		s.Stop()
		refused, entered := make(chan error, 1), r.enter(patient.NewLock("x"))
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		go func() {
			var err error
			for ctx.Err() == nil && (err == nil || !strings.Contains(err.Error(), "LOADING")) {
				_, err = hasty.NewLock("x").TryLock(ctx, rlock.Lease(time.Millisecond))
			}
			refused <- err
		}()
		s.Restart()
		err := testbed.Receive(r, "the word LOADING", refused)
		wants(t, err, nil, "LOADING")
		isServerError(t, err)
		e := r.Entered(entered)
		r.Unlock(e.Hold)
	})
}

func TestOutOfMemory(t *testing.T) {
	r, _ := own(t)
	c := r.open()
	held := r.Lock(c.NewLock("held"))
	full := func(on bool) {
		limit := "0"
		if on {
			limit = "1"
		}
		r.Do("CONFIG", "SET", "maxmemory", limit, "maxmemory-policy", "noeviction")
	}
	full(true)
	_, err := c.NewLock("x").TryLock(t.Context())
	wants(t, err, nil, "acquire", "x", "OOM")
	isServerError(t, err)
	t.Run("is waited out by who was told that the lock is taken", func(t *testing.T) {
		full(false)
		waiter := r.enter(c.NewLock("held"))
		r.Listeners("held", 1)
		full(true)
		r.Do("DEL", "held")
		r.Do("PUBLISH", testbed.Channel("held"), "0")
		r.Do("PING")
		r.outside(waiter)
		full(false)
		r.Unlock(r.Entered(waiter).Hold)
		wants(t, held.Unlock(t.Context()), rlock.ErrNotHeld)
	})
	t.Run("is waited out by an unlock", func(t *testing.T) {
		h := r.Lock(c.NewLock("y"))
		full(true)
		done := make(chan error, 1)
		before := r.Calls()["EVALSHA"]
		go func() { done <- h.Unlock(t.Context()) }()
		r.Becomes("it is tried again", func() bool { return r.Calls()["EVALSHA"] >= before+2 })
		full(false)
		if err := testbed.Receive(r, "the unlock", done); err != nil {
			t.Error(err)
		}
		if r.Number("EXISTS", "y") != 0 {
			t.Error("still locked")
		}
	})
}

func TestForbiddenChannel(t *testing.T) {
	user := redisserver.User{Name: "mute", Password: "p", Rules: []string{"~*", "resetchannels", "+@all"}}
	r := on(t, redisserver.ACL(t, user))
	c := r.Open(redisserver.URLAs(r.Server, user))
	h := r.Lock(r.open().NewLock("x"))
	began := time.Now()
	_, err := c.NewLock("x").Lock(t.Context())
	wants(t, err, nil, "acquire", `"x"`, "subscribe to", testbed.Channel("x"), "NOPERM")
	isServerError(t, err)
	between(t, "the refusal", time.Since(began), 0, 5*time.Second)
	r.Unlock(h)
	t.Run("an unlock says so too", func(t *testing.T) {
		h := r.Lock(c.NewLock("x"))
		err := h.Unlock(t.Context())
		// Inside a script Redis 7.0 says it in other words than NOPERM.
		wants(t, err, nil, "release", `"x"`, "released, but", "channel")
		isServerError(t, err)
		if r.Number("EXISTS", "x") != 0 {
			t.Error("still locked")
		}
	})
}

func TestForbiddenKey(t *testing.T) {
	user := redisserver.User{Name: "narrow", Password: "p", Rules: []string{"~allowed*", "~redisson_*", "&*", "+@all"}}
	r := on(t, redisserver.ACL(t, user))
	c := r.Open(redisserver.URLAs(r.Server, user))
	r.Unlock(r.Lock(c.NewLock("allowed")))
	for call, do := range map[string]func(l *rlock.Lock) error{
		"acquire":   func(l *rlock.Lock) error { _, err := l.Lock(t.Context()); return err },
		"release":   func(l *rlock.Lock) error { return l.UnlockAs(t.Context(), c.NewOwner()) },
		"force":     func(l *rlock.Lock) error { _, err := l.ForceUnlock(t.Context()); return err },
		"ask about": func(l *rlock.Lock) error { _, err := l.IsLocked(t.Context()); return err },
	} {
		t.Run(call, func(t *testing.T) {
			err := do(c.NewLock("forbidden"))
			wants(t, err, nil, call, "forbidden", "NOPERM")
			if words := isServerError(t, err); !strings.HasPrefix(string(words), "NOPERM") {
				t.Error(words)
			}
		})
	}
	if keys, err := redis.Strings(r.Do("KEYS", "forbidden*"), nil); err != nil || len(keys) != 0 {
		t.Errorf("%v, %v", keys, err)
	}
}
