package topology_test

import (
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/testkit/leakcheck"
	"github.com/rlock-go/redisson/internal/topology"
	"github.com/rlock-go/redisson/pubsub"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

const timeout = 2 * time.Second

// listener records its calls.
type listener chan string

func (l listener) Confirmed()             { l <- "confirmed" }
func (l listener) Message(payload []byte) { l <- "message " + string(payload) }
func (l listener) Refused(err error)      { l <- "refused" }
func (l listener) Duplicate([]byte)       {} // of a message that it has already heard

// listen subscribes to channel, of slot, as a waiter does.
func (l listener) listen(t *testing.T, top topology.Topology, slot uint16, channel string) (end func()) {
	t.Helper()
	var subs []*pubsub.Subscription
	for _, s := range top.Subscriptions(slot) {
		subs = append(subs, s.Subscribe(channel, l))
		l.want(t, "confirmed")
	}
	return func() {
		for _, s := range subs {
			s.Close()
		}
	}
}

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

// silent checks that nothing is heard within 50 ms.
func (l listener) silent(t *testing.T) {
	t.Helper()
	select {
	case got := <-l:
		t.Fatalf("told %q", got)
	case <-time.After(50 * time.Millisecond):
	}
}

func TestOneServersURLsAreOpened(t *testing.T) {
	t.Parallel()
	for url, says := range map[string]string{
		"redis://h:1":                  "",
		"redis+cluster://h:1/0":        "are in database 0",
		"redis+sentinel://h:1":         "master's name",
		"redis://u:p@h:1/not-a-number": "not a number",
		"http://h":                     "scheme",
	} {
		top, err := topology.Open(url, topology.Settings{Timeout: timeout, Clock: clock.System()})
		if says == "" {
			if err != nil || top.String() != "h:1" || !top.SpansSlots() || len(top.Nodes()) != 1 {
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
