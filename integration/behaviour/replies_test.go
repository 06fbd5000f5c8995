package behaviour_test

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// lockSHA is the lock script's, the same that Redisson sends.
const lockSHA = "149c5a8bf18676fd99e9e6e24923bd64d9b62f94"

// spoilt is a client behind a proxy that can spoil its replies.
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

func TestUnexpectedReplies(t *testing.T) {
	s := spoil(t)
	ctx := t.Context()
	s.Unlock(s.Lock(s.c.NewLock("warm"))) // the scripts are loaded
	said := []struct {
		behaviour, reply string
		says             []string
	}{
		{"a status", "+FINE\r\n", []string{"FINE"}},
		{"a text", "$5\r\nhello\r\n", []string{"hello"}},
		{"an array", "*1\r\n:7\r\n", []string{"array of length 1"}},
		{"a number that means nothing", ":-7\r\n", []string{"-7"}},
		{"an error", "-ODD it is odd\r\n", []string{"ODD it is odd"}},
	}
	isLock := faultproxy.Script(lockSHA)
	unlocks := func(cmd []string) bool { return faultproxy.Command("EVALSHA")(cmd) && !isLock(cmd) }
	for _, row := range said {
		t.Run("to an acquire: "+row.behaviour, func(t *testing.T) {
			s := &spoilt{on(t, s.Server), s.proxy, s.c}
			l := s.c.NewLock(s.name())
			fault := s.proxy.Add(faultproxy.Rule{Match: isLock, Times: 1, Do: faultproxy.Replace, Reply: []byte(row.reply)})
			_, err := l.TryLock(ctx)
			fault.Remove()
			wants(t, err, nil, append(row.says, "acquire", l.Name())...)
			// What it took is given back.
			s.Becomes("the key is gone", func() bool { return s.Number("EXISTS", l.Name()) == 0 })
			s.Unlock(s.Lock(l))
		})
		t.Run("to an acquire of a key that is another's: "+row.behaviour, func(t *testing.T) {
			s := &spoilt{on(t, s.Server), s.proxy, s.c}
			l := s.c.NewLock(s.name())
			s.Do("HSET", l.Name(), s.c.NewOwner(), 2)
			before := s.contents(l.Name())
			fault := s.proxy.Add(faultproxy.Rule{Match: isLock, Times: 1, Do: faultproxy.Replace, Reply: []byte(row.reply)})
			_, err := l.TryLock(ctx)
			fault.Remove()
			wants(t, err, nil, append(row.says, "acquire", l.Name())...)
			s.Unlock(s.Lock(s.c.NewLock(s.name())))
			if after := s.contents(l.Name()); after != before {
				t.Errorf("%s became %s", before, after)
			}
		})
		t.Run("to an unlock: "+row.behaviour, func(t *testing.T) {
			s := &spoilt{on(t, s.Server), s.proxy, s.c}
			h := s.Lock(s.c.NewLock(s.name()))
			fault := s.proxy.Add(faultproxy.Rule{Match: unlocks, Times: 1, Do: faultproxy.Replace, Reply: []byte(row.reply)})
			err := h.Unlock(ctx)
			fault.Remove()
			wants(t, err, nil, append(row.says, "release", h.Name())...)
			wants(t, h.Err(), rlock.ErrReleased)
			s.Unlock(s.Lock(s.c.NewLock(h.Name())))
		})
		for command, ask := range map[string]func(l *rlock.Lock) error{
			"EXISTS":  func(l *rlock.Lock) error { _, err := l.IsLocked(ctx); return err },
			"HEXISTS": func(l *rlock.Lock) error { _, err := l.IsHeldBy(ctx, s.c.NewOwner()); return err },
			"PTTL":    func(l *rlock.Lock) error { _, err := l.RemainTTL(ctx); return err },
			"HGET":    func(l *rlock.Lock) error { _, err := l.HoldCount(ctx, s.c.NewOwner()); return err },
		} {
			t.Run("to "+command+": "+row.behaviour, func(t *testing.T) {
				l := s.c.NewLock(s.name())
				fault := s.proxy.Add(faultproxy.Rule{Match: faultproxy.Command(command), Times: 1, Do: faultproxy.Answer, Reply: []byte(row.reply)})
				err := ask(l)
				fault.Remove()
				wants(t, err, nil, append(row.says, "ask about", l.Name())...)
			})
		}
		t.Run("to a forced unlock: "+row.behaviour, func(t *testing.T) {
			l := s.c.NewLock(s.name())
			fault := s.proxy.Add(faultproxy.Rule{Match: unlocks, Times: 1, Do: faultproxy.Answer, Reply: []byte(row.reply)})
			_, err := l.ForceUnlock(ctx)
			fault.Remove()
			wants(t, err, nil, append(row.says, "force", l.Name())...)
		})
	}
}

func TestUnexpectedRenewalReplies(t *testing.T) {
	t.Parallel()
	const timeout = 4500 * time.Millisecond
	s := spoil(t, rlock.WithWatchdogTimeout(timeout))
	h := s.Lock(s.c.NewLock(s.name()))
	renews := func(cmd []string) bool { return faultproxy.Command("EVALSHA")(cmd) }
	for behaviour, reply := range map[string]string{
		"too many":  "*2\r\n:1\r\n:1\r\n",
		"none":      "*0\r\n",
		"a number":  ":0\r\n",
		"a nothing": "$-1\r\n",
		"a two":     "*1\r\n:2\r\n",
		"an error":  "-ERR out of order\r\n",
	} {
		// Such an answer is no word on who holds the lock: it is tried again while trust lasts.
		fault := s.proxy.Add(faultproxy.Rule{Match: renews, Times: 1, Do: faultproxy.Replace, Reply: []byte(reply)})
		testbed.Receive(s.rig, "a renewal answered with "+behaviour, fault.Hit())
		stood := h.ValidUntil()
		s.Becomes("a good renewal after "+behaviour, func() bool { return h.ValidUntil().After(stood.Add(timeout / 10)) })
		if err := h.Err(); err != nil {
			t.Fatalf("%s: %v", behaviour, err)
		}
	}
	s.Unlock(h)
}
