package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

const (
	sentinel = "sentinel"
	cluster  = "cluster"
)

// byTopology returns the rows of lost, late and cut commands. Their faults are made as for a single server: a lane's
// faulted client dials the proxy where the set names the master.
func byTopology(topology string) []scenario {
	rows := slices.Concat(acquireFaults, unlockFaults, connectionFaults)
	for i := range rows {
		rows[i].topology = topology
		if rows[i].times == 1000 {
			rows[i].times = 400
		}
	}
	return rows
}

// TestFaultsByTopology plays rows on a master with a replica and a Sentinel, where each change waits for the replica and
// releases have a separate connection, and on a cluster of one server.
func TestFaultsByTopology(t *testing.T) {
	machine.watch(t)
	small := rand.IntN(5)
	for _, topology := range []string{sentinel, cluster} {
		t.Run(topology, func(t *testing.T) {
			var rows []*row
			began := time.Now()
			all := byTopology(topology)
			// A small run has one row in five.
			for i := range all {
				if s := all[i]; full() || (i+small)%5 == 0 {
					t.Run(s.fault+", "+s.by, func(t *testing.T) { rows = append(rows, s.run(t)) })
				}
			}
			for _, w := range rows {
				if strings.HasPrefix(w.fault, "reply to ") && w.ran != w.cases {
					t.Errorf("%s: %d of %d faults met a command that ran", w.fault, w.ran, w.cases)
				}
			}
			fmt.Printf("%s:\n%s\nThe run took %.0f s.\n", topology, table(rows), time.Since(began).Seconds())
		})
	}
}

func serverArgs(topology string) []string {
	if topology == cluster {
		return []string{"--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf"}
	}
	return nil
}

// form sets up the topology by which the row's clients find the server.
func (s *site) form(t *testing.T) {
	t.Helper()
	switch s.row.topology {
	case sentinel:
		s.replica = redisserver.Replica(t, s.server)
		host, port, err := net.SplitHostPort(s.server.Addr())
		testbed.Must(t, err)
		c := s.dial(t)
		defer c.Close()
		testbed.Do(t, c, "CLIENT", "KILL", "TYPE", "normal") // the connections that set up the replication
		// At first a replica acknowledges only once a second.
		testbed.Do(t, c, "SET", "first", "word")
		if n := testbed.Do(t, c, "WAIT", 1, soon.Milliseconds()); n != int64(1) {
			t.Fatalf("the replica acknowledges nothing: %v", n)
		}
		testbed.Do(t, c, "DEL", "first")
		// The Sentinel never counts a server as down: no row is about that.
		s.watcher = redistest.StartSentinel(t, "", fmt.Sprintf("sentinel monitor %s %s %s 1", redistest.MasterName, host, port),
			fmt.Sprintf("sentinel down-after-milliseconds %s 600000", redistest.MasterName))
	case cluster:
		c := s.dial(t)
		defer c.Close()
		testbed.Do(t, c, "CLUSTER", "ADDSLOTSRANGE", 0, 16383)
		testbed.BecomesWithin(t, soon, "there is a cluster", func() bool {
			info, err := redis.String(c.Do("CLUSTER", "INFO"))
			return err == nil && strings.Contains(info, "cluster_state:ok")
		})
	}
}

// place returns the URL and the options for a client that reaches the server at addr.
func (l *lane) place(addr string) (url.URL, []rlock.Option) {
	options := []rlock.Option{rlock.WithCommandTimeout(l.row.timeout)}
	detour := rlock.WithDialer(func(ctx context.Context, network, to string) (net.Conn, error) {
		if to == l.server.Addr() {
			to = addr
		}
		return (&net.Dialer{}).DialContext(ctx, network, to)
	})
	switch l.row.topology {
	case sentinel:
		return url.URL{Scheme: "redis+sentinel", Host: l.watcher.Addr(), Path: "/" + redistest.MasterName}, append(options, detour)
	case cluster:
		return url.URL{Scheme: "redis+cluster", Host: l.server.Addr()}, append(options, detour)
	}
	return url.URL{Scheme: "redis", Host: addr}, options
}

func without(lines []string, text string) []string {
	return slices.DeleteFunc(lines, func(line string) bool { return strings.Contains(line, text) })
}
