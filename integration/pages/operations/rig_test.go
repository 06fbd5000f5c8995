package operations_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/integration/kit/tool"
	"github.com/rlock-go/redisson/rlock"
)

// program is the path of the tool rlock.
var program string

func TestMain(m *testing.M) { tool.Main(m, &program, "16") }

const patience = testbed.Patience

// rig is a test with its own server.
type rig struct {
	*testbed.Rig
	server  *redisserver.LocalServer
	log     testbed.Log
	typed   map[string]string   // what to type in place of a command on the page: with this run's ids
	answers map[string][]string // the output of commands that the scenario ran itself
	lines   []string            // log lines for the page
	after   func()              // runs after the commands
	ids     []string            // of this run, each before its id on the page
}

func start(t *testing.T, args ...string) *rig {
	t.Helper()
	s := redisserver.Local(t, args...)
	r := &rig{Rig: testbed.New(t, s), server: s, typed: map[string]string{}, answers: map[string][]string{}}
	r.LoadScripts()
	return r
}

// saying returns the lines of the log with one of these words.
func (r *rig) saying(words ...string) (found []string) {
	for line := range strings.Lines(r.log.String()) {
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
	return r.Open(url, append(opts, r.logged())...)
}

// shown has the page show another id for a client.
func (r *rig) shown(c *rlock.Client, id string) { r.ids = append(r.ids, c.ID().String(), id) }

func (r *rig) logged() rlock.Option {
	return rlock.WithLogger(slog.New(slog.NewTextHandler(&r.log, &slog.HandlerOptions{Level: slog.LevelDebug})))
}

// enter waits for a lock in a new goroutine, and returns when the server has the waiter's subscription.
func (r *rig) enter(ctx context.Context, l *rlock.Lock) <-chan testbed.Entry {
	r.Helper()
	ended := testbed.Enter(ctx, l)
	r.Becomes("somebody listens", func() bool { return r.Subscribed(l.Name()) > 0 })
	return ended
}
