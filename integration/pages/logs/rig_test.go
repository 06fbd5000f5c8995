package logs_test

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

func TestMain(m *testing.M) { testbed.Main(m, "8") }

const (
	// secret needs escaping in a URL and in quotes.
	secret = `s3cr3t"p@ss/w:rd`

	timeout  = 2 * time.Second // of one command
	watchdog = 9 * time.Second
	patience = testbed.Patience
)

// rig is a scenario: a client that logs everything, and a proxy between it and a server.
type rig struct {
	*testbed.Proxied
	seen   *capture
	client *rlock.Client
}

// start makes a client that connects as a user; user is empty for the default user.
func start(t *testing.T, s redisserver.Server, user string, opts ...rlock.Option) *rig {
	t.Helper()
	r := &rig{Proxied: testbed.NewProxied(t, s), seen: newCapture()}
	u := url.URL{Scheme: "redis", Host: r.Proxy.Addr(), User: url.UserPassword(user, secret)}
	opts = append(opts, rlock.WithLogger(slog.New(r.seen)), rlock.WithCommandTimeout(timeout), rlock.WithWatchdogTimeout(watchdog))
	r.client = r.Open(u.String(), opts...)
	return r
}

func (r *rig) lock() *rlock.Lock { return r.client.NewLock("logs/" + rand.Text()[:10]) }

// becomes waits for a state, and shows what was logged if it never comes.
func (r *rig) becomes(what string, state func() bool) {
	r.Helper()
	if testbed.Within(testbed.Patience, state) {
		return
	}
	var events []string
	for _, l := range r.seen.lines() {
		events = append(events, fmt.Sprint(l.message, " ", l.attrs))
	}
	r.Fatalf("never: %s; logged:\n%s", what, strings.Join(slices.Compact(events), "\n"))
}

// logged waits for a line with this message whose attributes have these values, given as name, value and so on.
func (r *rig) logged(message string, want ...string) line {
	r.Helper()
	var found line
	r.becomes(message, func() bool {
	lines:
		for _, l := range r.seen.lines() {
			if l.message != message {
				continue
			}
			for i := 0; i < len(want); i += 2 {
				if v, ok := l.attrs[want[i]]; !ok || v.String() != want[i+1] {
					continue lines
				}
			}
			found = l
			return true
		}
		return false
	})
	return found
}

// tried waits until at least n lock scripts were sent.
func (r *rig) tried(n int) {
	r.Helper()
	r.becomes("the waiter has tried again", func() bool { return r.Sent(testbed.Acquires) >= n })
}

// onLock adds a fault for acquires, onUnlock one for unlocks.
func (r *rig) onLock(do faultproxy.Action, times int) *faultproxy.Handle {
	return r.Proxy.Add(faultproxy.Rule{Match: testbed.Acquires, Do: do, Times: times})
}

func (r *rig) onUnlock(do faultproxy.Action) *faultproxy.Handle {
	return r.Proxy.Add(faultproxy.Rule{Match: testbed.Unlocks, Do: do})
}

// refusing answers commands of a script with an error.
func (r *rig) refusing(which faultproxy.Match, refusal string) *faultproxy.Handle {
	return r.Proxy.Add(faultproxy.Rule{Match: which, Do: faultproxy.Answer, Reply: []byte("-" + refusal + "\r\n")})
}
