package faults

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// A hosted service has one address for its master. When the address moves to another server, open connections stay with
// the old server, unless it has ended, and the client gets no notice.

// departure is what happens to the old master after its replica was promoted and before the address moves.
type departure struct {
	leaves  func(r *round, old *redisserver.LocalServer, direct redis.Conn, promoted string)
	returns func(r *round, old *redisserver.LocalServer) // makes it able to take a REPLICAOF
}

// demoted lives on and follows the new master. In every second round it refuses what was sent meanwhile. Otherwise that
// gets no reply, and connections with nothing in flight, such as those of the subscriptions, stay open.
var demoted = departure{
	leaves: func(r *round, _ *redisserver.LocalServer, direct redis.Conn, promoted string) {
		host, port, _ := net.SplitHostPort(promoted)
		testbed.Do(r.T, direct, "REPLICAOF", host, port)
		if r.variant(2) == 0 {
			testbed.Do(r.T, direct, "CLIENT", "UNPAUSE")
		}
	},
	returns: func(*round, *redisserver.LocalServer) {},
}

// killed dies, which closes its connections.
var killed = departure{
	leaves:  func(_ *round, old *redisserver.LocalServer, _ redis.Conn, _ string) { old.Kill() },
	returns: func(_ *round, old *redisserver.LocalServer) { old.Restart() },
}

// paused keeps its connections and does not reply.
var paused = departure{
	leaves:  func(_ *round, old *redisserver.LocalServer, _ redis.Conn, _ string) { old.Pause() },
	returns: func(_ *round, old *redisserver.LocalServer) { old.Resume() },
}

// unmoved stays a master that takes writes.
var unmoved = departure{
	leaves: func(r *round, _ *redisserver.LocalServer, direct redis.Conn, _ string) {
		testbed.Do(r.T, direct, "CLIENT", "UNPAUSE")
	},
	returns: func(*round, *redisserver.LocalServer) {},
}

// promote makes the replica the master, with all keys except lacks, as if these had not reached it. meanwhile sends
// commands while the old master's writes are paused; d decides what happens to them. The address does not move yet.
func (r *round) promote(d departure, lacks []string, meanwhile func()) {
	r.Helper()
	old, next := r.server, r.replica
	direct := r.direct
	testbed.Do(r.T, direct, "CLIENT", "PAUSE", time.Minute.Milliseconds(), "WRITE")
	meanwhile()
	r.direct = testbed.Dial(r.T, next)
	testbed.BecomesWithin(r.T, soon, "the replica has caught up", func() bool {
		return info(r, direct, "master_repl_offset") == info(r, r.direct, "slave_repl_offset") && info(r, r.direct, "master_link_status") == "up"
	})
	testbed.Do(r.T, r.direct, "REPLICAOF", "NO", "ONE")
	for _, name := range lacks {
		if n := testbed.Do(r.T, r.direct, "DEL", name); n != int64(1) {
			r.Fatalf("%s did not reach the replica", name)
		}
	}
	d.leaves(r, old, direct, next.Addr())
	direct.Close()
	r.site.server, r.site.replica = next, old
}

func info(r *round, c redis.Conn, field string) string {
	r.Helper()
	text, _ := redis.String(testbed.Do(r.T, c, "INFO", "replication"), nil)
	_, rest, _ := strings.Cut(text, "\n"+field+":")
	value, _, _ := strings.Cut(rest, "\r")
	return value
}

// follow makes the old master the replica of the new one, for the next round, and checks that no client is left there.
func (r *round) follow(d departure) {
	r.Helper()
	d.returns(r, r.replica)
	c := testbed.Dial(r.T, r.replica)
	defer c.Close()
	host, port, _ := net.SplitHostPort(r.server.Addr())
	testbed.Do(r.T, c, "REPLICAOF", host, port)
	testbed.Do(r.T, c, "CLIENT", "UNPAUSE")
	if !testbed.Within(soon, func() bool { return len(testbed.Clients(r.T, c)) == 0 }) {
		r.violates("connections stay with the old master:\n%s", strings.Join(testbed.Clients(r.T, c), "\n"))
	}
	testbed.Do(r.T, r.direct, "CONFIG", "SET", "repl-diskless-sync-delay", 0)
	testbed.BecomesWithin(r.T, 3*soon, "the old master follows", func() bool { return info(r, c, "master_link_status") == "up" })
}

// movesTo promotes the replica, moves the address to it, and returns the time of the move.
func (r *round) movesTo(d departure, lacks []string, meanwhile func()) time.Time {
	r.Helper()
	look := r.auditor.rests()
	defer func() { look(r.server.URL()) }() // even if this fails, so that the auditor can end
	r.promote(d, lacks, meanwhile)
	r.proxy.Move(r.server.Addr())
	return time.Now()
}

// nameIt gives the lane's address a name, and starts a second proxy at the address to which the name will move.
func (l *lane) nameIt(addr string) string {
	l.Helper()
	_, port, _ := net.SplitHostPort(addr)
	l.second = faultproxy.StartAt(l.T, net.JoinHostPort("127.0.0.2", port), l.replica.Addr())
	l.host = fmt.Sprintf("lane-%d.moves.test", l.number)
	names.set(l.host, "127.0.0.1")
	return net.JoinHostPort(l.host, port)
}

func (l *lane) afresh() {
	l.Helper()
	_, port, _ := net.SplitHostPort(l.proxy.Addr())
	for _, c := range []**rlock.Client{&l.client, &l.rival} {
		(*c).Close()
		*c = l.open(net.JoinHostPort(l.host, port), true)
	}
}

// nameServer answers this process's DNS queries for the test's names, so that a name can get another address while a
// client uses it. Its answers must not be cached.
type nameServer struct {
	conn net.PacketConn
	done sync.WaitGroup

	mu    sync.Mutex // guards names
	names map[string]netip.Addr
}

var names nameServer

// serve replaces the process's resolver until the test ends.
func (s *nameServer) serve(t *testing.T) {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	testbed.Must(t, err)
	s.conn, s.names = conn, map[string]netip.Addr{}
	s.done.Go(func() {
		b := make([]byte, 512)
		for {
			n, from, err := conn.ReadFrom(b)
			if err != nil {
				return
			}
			if answer := s.answer(b[:n]); answer != nil {
				_, _ = conn.WriteTo(answer, from) // a resolver without an answer asks again
			}
		}
	})
	usual := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "udp4", conn.LocalAddr().String())
	}}
	t.Cleanup(func() {
		net.DefaultResolver = usual
		conn.Close()
		s.done.Wait()
	})
}

func (s *nameServer) set(name, address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names[name] = netip.MustParseAddr(address)
}

// answer returns the reply to one question (RFC 1035, section 4). Names that were not set do not exist.
func (s *nameServer) answer(question []byte) []byte {
	const header, typeA, classIN = 12, 1, 1
	if len(question) < header || binary.BigEndian.Uint16(question[4:]) != 1 {
		return nil
	}
	var labels []string
	at := header
	for at < len(question) && question[at] != 0 {
		end := at + 1 + int(question[at])
		if end > len(question) {
			return nil
		}
		labels = append(labels, string(question[at+1:end]))
		at = end
	}
	if at += 1 + 4; at > len(question) {
		return nil
	}
	s.mu.Lock()
	address, known := s.names[strings.ToLower(strings.Join(labels, "."))]
	s.mu.Unlock()
	flags := uint16(0x8580) // an authoritative response, recursion available
	if !known {
		flags |= 3 // no such name
	}
	asksA := binary.BigEndian.Uint16(question[at-4:]) == typeA
	answers := uint16(0)
	if known && asksA {
		answers = 1
	}
	b := append([]byte(nil), question[:2]...)
	for _, n := range []uint16{flags, 1, answers, 0, 0} {
		b = binary.BigEndian.AppendUint16(b, n)
	}
	b = append(b, question[header:at]...)
	if answers == 1 {
		b = binary.BigEndian.AppendUint16(b, 0xc000|header) // the name, as in the question
		b = binary.BigEndian.AppendUint16(b, typeA)
		b = binary.BigEndian.AppendUint16(b, classIN)
		b = binary.BigEndian.AppendUint32(b, 0) // TTL in seconds
		b = binary.BigEndian.AppendUint16(b, 4)
		a4 := address.As4()
		b = append(b, a4[:]...)
	}
	return b
}
