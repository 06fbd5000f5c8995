package topology_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/leakcheck"
	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/internal/topology"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

const timeout = 2 * time.Second

// listener records what it is told.
type listener chan string

func (l listener) Confirmed()             { l <- "confirmed" }
func (l listener) Message(payload []byte) { l <- "message " + string(payload) }
func (l listener) Refused(err error)      { l <- "refused" }
func (l listener) want(t *testing.T, want string) {
	t.Helper()
	select {
	case got := <-l:
		if got != want {
			t.Fatalf("told %q, want %q", got, want)
		}
	case <-time.After(10 * timeout):
		t.Fatalf("never told %q", want)
	}
}

// silent checks that there is nothing to hear, after what was published is through.
func (l listener) silent(t *testing.T) {
	t.Helper()
	select {
	case got := <-l:
		t.Fatalf("told %q", got)
	case <-time.After(50 * time.Millisecond):
	}
}

// twice has every channel on the nodes of two topologies of one server.
type twice struct {
	topology.Topology
	both []topology.Subscription
}

func (t twice) Subscriptions(uint16) []topology.Subscription { return t.both }

func open(t *testing.T, s *redistest.Server) topology.Topology {
	t.Helper()
	top, err := topology.Open(s.URL(), topology.Settings{Timeout: timeout, Clock: clock.System()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { top.Close(timeout) })
	return top
}

func TestWaiterOfSeveralSubscriptionsListensWhenAllAreConfirmed(t *testing.T) {
	t.Parallel()
	a, b := redistest.Start(t), redistest.Start(t)
	first, second := open(t, a), open(t, b)
	top := twice{first, append(first.Subscriptions(0), second.Subscriptions(0)...)}
	b.Pause()
	l := make(listener, 100)
	sub := topology.Subscribe(top, 0, "c", l)
	there := a.Dial(t)
	for end := time.Now().Add(10 * timeout); ; time.Sleep(time.Millisecond) {
		if n, err := redis.Int(there.Do("PUBLISH", "c", "early")); n == 1 && err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the one that answers is not subscribed to")
		}
	}
	l.silent(t)
	b.Resume()
	l.want(t, "confirmed")
	for _, s := range []*redistest.Server{a, b} {
		if n, err := redis.Int(s.Dial(t).Do("PUBLISH", "c", "x")); n != 1 || err != nil {
			t.Fatalf("%d heard, %v", n, err)
		}
		l.want(t, "message x")
	}
	// One of them is confirmed anew: what was published meanwhile is gone.
	if _, err := b.Dial(t).Do("CLIENT", "KILL", "TYPE", "pubsub"); err != nil {
		t.Fatal(err)
	}
	l.want(t, "confirmed")
	sub.Close()
	for _, s := range []*redistest.Server{a, b} {
		conn := s.Dial(t)
		for end := time.Now().Add(10 * timeout); ; time.Sleep(time.Millisecond) {
			if n, err := redis.Int(conn.Do("PUBLISH", "c", "late")); n == 0 && err == nil {
				break
			}
			if time.Now().After(end) {
				t.Fatal("it is left subscribed")
			}
		}
	}
	l.silent(t)
}

func TestOneServersURLsAreOpened(t *testing.T) {
	t.Parallel()
	for url, says := range map[string]string{
		"redis://h:1":                  "",
		"redis+cluster://h:1/0":        "one database",
		"redis+sentinel://h:1":         "master's name",
		"redis://u:p@h:1/not-a-number": "not a number",
		"http://h":                     "scheme",
	} {
		top, err := topology.Open(url, topology.Settings{Timeout: timeout, Clock: clock.System()})
		if says == "" {
			if err != nil || top.String() != "h:1" || !top.SpansSlots() || len(top.Nodes()) != 1 || top.Only() != top.Nodes()[0] {
				t.Errorf("%s: %v, %v", url, top, err)
			}
			top.Close(0)
			continue
		}
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "u:p") {
			t.Errorf("%s: %v", url, err)
		}
	}
}
