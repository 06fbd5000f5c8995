package simulation

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rlock-go/redisson/rlocktest/simnet"
	"github.com/rlock-go/redisson/rlocktest/simredis"
)

// pair is two servers: real ones or the model's. Connections have names.
type pair interface {
	send(server int, conn string, args ...string)
	receive(server int, conn string) string // one reply or message; "EOF" behind the last
	stop(server int)                        // SIGSTOP
	cont(server int)
	addr(server int) (host, port string)
}

// facts is what a client can see of replication, a line each.
func facts(t *testing.T, p pair) string {
	var b strings.Builder
	do := func(server int, conn string, args ...string) string {
		p.send(server, conn, args...)
		return p.receive(server, conn)
	}
	fact := func(what, reply string) { fmt.Fprintf(&b, "%s: %q\n", what, reply) }
	state := func(server int, part string) func() bool {
		return func() bool { return strings.Contains(do(server, "admin", "INFO", "replication"), part) }
	}
	until := func(what string, done func() bool) {
		t.Helper()
		for range 3000 {
			if done() {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Fatalf("%s: not within half a minute", what)
	}
	follow := func(replica, master int) {
		host, port := p.addr(master)
		do(replica, "admin", "REPLICAOF", host, port)
		until("online", state(master, "state=online"))
		until("online", state(replica, "master_link_status:up"))
	}

	follow(1, 0)
	fact("WAIT for a write", do(0, "a", "SET", "k", "1")+do(0, "a", "WAIT", "1", "10000"))
	fact("more replicas than there are", do(0, "a", "WAIT", "2", "50"))
	p.stop(1)
	fact("WAIT while the replica stands still", do(0, "a", "SET", "k", "2")+do(0, "a", "WAIT", "1", "50"))
	fact("WAIT first on a connection", do(0, "b", "WAIT", "1", "50"))
	fact("WAIT behind a read", do(0, "b", "GET", "k")+do(0, "b", "WAIT", "1", "50"))
	fact("it counts as online", fmt.Sprint(state(0, "state=online")()))
	p.cont(1)
	fact("WAIT when it goes on", do(0, "b", "GET", "k")+do(0, "b", "WAIT", "1", "10000"))

	fact("min-replicas-to-write", do(0, "admin", "CONFIG", "SET", "min-replicas-to-write", "1")+do(0, "a", "SET", "k", "3"))
	fact("too many of them", do(0, "admin", "CONFIG", "SET", "min-replicas-to-write", "2")+do(0, "a", "SET", "k", "3"))
	do(0, "admin", "CONFIG", "SET", "min-replicas-to-write", "0")
	do(0, "a", "WAIT", "1", "10000")

	fact("a replica's reply to WAIT", do(1, "a", "WAIT", "0", "0"))
	fact("to a write", do(1, "a", "SET", "k", "x"))
	fact("to a script that writes", do(1, "a", "EVAL", "return redis.call('set', 'k', 'x')", "0"))
	fact("to one that reads", do(1, "a", "EVAL", "return redis.call('get', 'k')", "0"))
	fact("role", do(1, "a", "ROLE")[:14])

	do(1, "ear", "SUBSCRIBE", "chan")
	fact("PUBLISH reaches a replica's subscriber", do(0, "a", "PUBLISH", "chan", "m")+p.receive(1, "ear"))
	id := strings.Trim(do(1, "ear2", "CLIENT", "ID"), ":\r\n")
	do(1, "ear2", "SUBSCRIBE", "__redis__:invalidate")
	do(1, "a", "CLIENT", "TRACKING", "ON", "REDIRECT", id, "OPTIN", "NOLOOP")
	do(1, "a", "CLIENT", "CACHING", "YES")
	fact("a replica tells who tracks", do(1, "a", "GET", "k")+do(0, "a", "SET", "k", "4")+p.receive(1, "ear2"))
	do(0, "a", "SET", "short", "1", "PX", "20")
	until("expired", func() bool { return do(1, "a", "EXISTS", "short") == ":0\r\n" })

	p.send(0, "w", "WAIT", "2", "0")
	do(1, "admin", "REPLICAOF", "NO", "ONE")
	fact("a replica that was detached", do(1, "a", "SET", "k", "mine")+do(1, "a", "WAIT", "0", "0"))
	fact("its former master", do(0, "a", "SET", "k", "its")+do(0, "a", "GET", "k"))
	host, port := p.addr(1)
	do(0, "admin", "REPLICAOF", host, port)
	fact("WAIT of a demoted master", p.receive(0, "w")+p.receive(0, "w"))
	until("online", state(0, "master_link_status:up"))
	fact("it has taken the other's data", do(0, "a", "GET", "k"))
	fact("its other connections stay", do(0, "a", "SET", "k", "x"))
	return b.String()
}

// TestReplicationOfTheModelIsThatOfServers compares what a client sees of two servers.
func TestReplicationOfTheModelIsThatOfServers(t *testing.T) {
	want := facts(t, newRealPair(t))
	synctest.Test(t, func(t *testing.T) {
		if got := facts(t, newModelPair()); got != want {
			t.Errorf("the model shows\n%s\nthe servers\n%s", got, want)
		}
	})
	t.Log(want)
}

type realPair struct {
	t     *testing.T
	s     [2]*realServer
	conns map[string]*wire
}

func newRealPair(t *testing.T) *realPair {
	p := &realPair{t: t, conns: map[string]*wire{}}
	for i := range p.s {
		p.s[i] = startServer(t, "redis-server")
	}
	return p
}

func (p *realPair) conn(server int, name string) *wire {
	key := fmt.Sprint(server, name)
	if p.conns[key] == nil {
		p.conns[key] = p.s[server].dial(p.t)
	}
	return p.conns[key]
}

func (p *realPair) send(server int, conn string, args ...string) {
	if _, err := p.conn(server, conn).c.Write(encode(nil, args)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *realPair) receive(server int, conn string) string {
	b, err := p.conn(server, conn).receive(nil)
	if errors.Is(err, io.EOF) {
		return "EOF"
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return string(b)
}

func (p *realPair) stop(i int) { _ = p.s[i].proc.Signal(syscall.SIGSTOP) }
func (p *realPair) cont(i int) { _ = p.s[i].proc.Signal(syscall.SIGCONT) }

func (p *realPair) addr(i int) (host, port string) {
	host, port, _ = net.SplitHostPort(p.s[i].addr)
	return host, port
}

type modelPair struct {
	w     *simnet.World
	s     [2]*simredis.Server
	conns map[string]*modelConn
}

type modelConn struct {
	s   *simredis.Session
	got string
}

func newModelPair() *modelPair {
	p := &modelPair{w: simnet.New(1), conns: map[string]*modelConn{}}
	for i := range p.s {
		p.s[i] = simredis.New(p.w, fmt.Sprintf("10.0.0.%d:6379", i+1))
	}
	return p
}

func (p *modelPair) conn(server int, name string) *modelConn {
	key := fmt.Sprint(server, name)
	if p.conns[key] == nil {
		p.conns[key] = &modelConn{s: p.s[server].Session("10.1.0.1")}
	}
	return p.conns[key]
}

func (p *modelPair) send(server int, conn string, args ...string) {
	p.w.Mu.Lock()
	defer p.w.Mu.Unlock()
	c := p.conn(server, conn)
	c.got += string(c.s.Do(args...))
}

func (p *modelPair) receive(server int, conn string) string {
	c := p.conn(server, conn)
	for {
		p.w.Mu.Lock()
		c.got += string(c.s.Received())
		ended := c.s.Ended()
		p.w.Mu.Unlock()
		w := &wire{r: bufio.NewReader(strings.NewReader(c.got))}
		if b, err := w.receive(nil); err == nil {
			c.got = c.got[len(b):]
			return string(b)
		}
		if ended {
			return "EOF"
		}
		time.Sleep(time.Millisecond)
	}
}

func (p *modelPair) stop(i int) {
	p.w.Mu.Lock()
	defer p.w.Mu.Unlock()
	p.s[i].Paused = true
}

func (p *modelPair) cont(i int) {
	p.w.Mu.Lock()
	defer p.w.Mu.Unlock()
	p.s[i].Resume()
}

func (p *modelPair) addr(i int) (host, port string) {
	host, port, _ = net.SplitHostPort(p.s[i].Addr)
	return host, port
}
