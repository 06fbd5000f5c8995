package operations_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/rlock"
)

const (
	patience  = 20 * time.Second // for what comes at once if all is well
	pollEvery = 5 * time.Millisecond
)

// rig is a test with a server of its own.
type rig struct {
	*testing.T
	server  *redisserver.LocalServer
	conn    redis.Conn
	log     *journal
	typed   map[string]string   // what is typed instead of a command on the page: with this run's ids
	answers map[string][]string // what came of commands that the scenario ran itself
	lines   []string            // log lines for the page
	after   func()              // when the commands were run
	ids     []string            // of this run, each before the one that stands for it on the page
}

func start(t *testing.T, args ...string) *rig {
	t.Helper()
	r := &rig{T: t, server: redisserver.Local(t, args...), log: &journal{}, typed: map[string]string{}, answers: map[string][]string{}}
	r.conn = redisserver.Dial(t, r.server)
	for _, s := range luasrc.Scripts() {
		r.do("SCRIPT", "LOAD", s.Source)
	}
	return r
}

// journal is a log as text.
type journal struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(b)
}

// saying are the lines with one of these words.
func (j *journal) saying(words ...string) (found []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for line := range strings.Lines(j.text.String()) {
		for _, w := range words {
			if strings.Contains(line, w) {
				found = append(found, strings.TrimSpace(line))
				break
			}
		}
	}
	return found
}

func (r *rig) open(opts ...rlock.Option) *rlock.Client { return r.openURL(r.server.URL(), opts...) }

func (r *rig) openURL(url string, opts ...rlock.Option) *rlock.Client {
	r.Helper()
	c, err := rlock.Open(r.Context(), url, append(opts, r.logged())...)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { c.Close() })
	return c
}

// shown has the page show another id in the place of a client's.
func (r *rig) shown(c *rlock.Client, id string) { r.ids = append(r.ids, c.ID().String(), id) }

func (r *rig) logged() rlock.Option {
	return rlock.WithLogger(slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug})))
}

func (r *rig) do(command string, args ...any) any {
	r.Helper()
	reply, err := r.conn.Do(command, args...)
	if err != nil {
		r.Fatalf("%s: %v", command, err)
	}
	return reply
}

func (r *rig) hold(l *rlock.Lock, opts ...rlock.AcquireOption) *rlock.Hold {
	r.Helper()
	h, err := l.Lock(r.Context(), opts...)
	if err != nil {
		r.Fatal(err)
	}
	return h
}

func (r *rig) unlock(h *rlock.Hold) {
	r.Helper()
	if err := h.Unlock(r.Context()); err != nil {
		r.Fatal(err)
	}
}

// entry is how a wait ended.
type entry struct {
	hold *rlock.Hold
	err  error
}

// enter waits for a lock on a goroutine of its own, and returns when the server knows of it.
func (r *rig) enter(ctx context.Context, l *rlock.Lock) <-chan entry {
	r.Helper()
	ended := make(chan entry, 1)
	go func() {
		h, err := l.Lock(ctx)
		ended <- entry{h, err}
	}()
	r.becomes("somebody listens", func() bool {
		reply, err := redis.Values(r.do("PUBSUB", "NUMSUB", channel(l)), nil)
		return err == nil && len(reply) == 2 && reply[1].(int64) > 0
	})
	return ended
}

func channel(l *rlock.Lock) string { return "redisson_lock__channel:{" + l.Name() + "}" }

func (r *rig) entered(ch <-chan entry) *rlock.Hold {
	r.Helper()
	select {
	case e := <-ch:
		if e.err != nil {
			r.Fatal(e.err)
		}
		return e.hold
	case <-time.After(patience):
		r.Fatal("the wait never ended")
		return nil
	}
}

func (r *rig) becomes(what string, state func() bool) {
	r.Helper()
	for end := time.Now().Add(patience); !state(); {
		if time.Now().After(end) {
			r.Fatalf("never: %s", what)
		}
		<-time.After(pollEvery)
	}
}
