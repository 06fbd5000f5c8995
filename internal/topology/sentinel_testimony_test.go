package topology_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/topology"
)

// late dials, and gives one Sentinel's next subscriber an outdated message.
type late struct {
	addr    string
	message atomic.Pointer[string]
}

func (l *late) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err == nil && addr == l.addr {
		conn = &lateConn{Conn: conn, late: l}
	}
	return conn, err
}

type lateConn struct {
	net.Conn
	late  *late
	extra []byte // read next
}

func (c *lateConn) Read(b []byte) (int, error) {
	if len(c.extra) > 0 {
		n := copy(b, c.extra)
		c.extra = c.extra[n:]
		return n, nil
	}
	n, err := c.Conn.Read(b)
	if bytes.Contains(b[:n], []byte("subscribe\r\n")) {
		if m := c.late.message.Swap(nil); m != nil {
			c.extra = fmt.Appendf(nil, "*3\r\n$7\r\nmessage\r\n$14\r\n+switch-master\r\n$%d\r\n%s\r\n", len(*m), *m)
		}
	}
	return n, err
}

// The message still ends the connections, as nobody knows yet that it is wrong.
func TestWordThatMostSentinelsTakeBackCostsOneConnection(t *testing.T) {
	t.Parallel()
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	master, other, teller := set.Nodes[0], set.Nodes[1], set.Sentinels[2]
	l := &late{addr: teller.Addr()}
	var log logged
	top := openSet(t, set.URL(), func(s *topology.Settings) {
		s.ConnectionName, s.Dialer, s.Log = "follows", l.dial, eventlog.New(slog.New(slog.NewTextHandler(&log, nil)), "client")
	})
	if got := port(t, top); got != master.Port() {
		t.Fatalf("it is at %d, and the master at %d", got, master.Port())
	}
	message := fmt.Sprintf("%s 127.0.0.1 %d 127.0.0.1 %d", redistest.MasterName, master.Port(), other.Port())
	l.message.Store(&message)
	becomes(t, "the connections are ended", func() bool {
		_, err := teller.Dial(t).Do("CLIENT", "KILL", "TYPE", "pubsub")
		return err == nil && log.count("master changed") == 1
	})
	// All Sentinels name the master. It is not avoided for topology.LeftFor, which is longer than this waits.
	becomes(t, "at the master again", func() bool { return port(t, top) == master.Port() })
}

// Its address was that of a Sentinel that the others have not forgotten. It watches another master of the same name.
func TestSentinelOfAnotherSetAtALearnedAddressIsNotBelieved(t *testing.T) {
	t.Parallel()
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	other := redistest.Start(t)
	stranger := redistest.StartSentinel(t, "", fmt.Sprintf("sentinel monitor %s 127.0.0.1 %d 2", redistest.MasterName, other.Port()), "sentinel config-epoch "+redistest.MasterName+" 9")
	var replaced atomic.Bool
	var asked atomic.Int64
	given, learned, _ := strings.Cut(set.Addrs(), ",")
	top := openSet(t, "redis+sentinel://"+given+"/"+redistest.MasterName, func(s *topology.Settings) {
		s.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if replaced.Load() && strings.HasSuffix(learned, addr) {
				addr = stranger.Addr()
				asked.Add(1)
			}
			return new(net.Dialer).DialContext(ctx, network, addr)
		}
	})
	if got := port(t, top); got != set.Master().Port() {
		t.Fatalf("it is at %d, and the master at %d", got, set.Master().Port())
	}
	becomes(t, "it knows all", func() bool { return top.Sentinels() == 3 })
	replaced.Store(true)
	for n := range int64(3) { // the question of one look has been answered when the next one asks
		top.Look()
		becomes(t, "the stranger is asked", func() bool { return asked.Load() > n })
	}
	if got := port(t, top); got != set.Master().Port() {
		t.Errorf("it is at %d, and the master at %d", got, set.Master().Port())
	}
	if n := top.Sentinels(); n != 3 {
		t.Errorf("it knows %d Sentinels", n)
	}
}
