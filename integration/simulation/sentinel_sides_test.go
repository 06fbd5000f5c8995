package simulation

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlocktest/simnet"
	"github.com/rlock-go/redisson/rlocktest/simredis"
)

// modelSet is of the model, in a bubble.
type modelSet struct {
	w    *simnet.World
	set  *simredis.Set
	ears [3]*simredis.Session
	asks [3]*simredis.Session
}

func newModelSet() *modelSet {
	m := &modelSet{w: simnet.New(1)}
	m.w.Mu.Lock()
	defer m.w.Mu.Unlock()
	m.set = simredis.NewSet(m.w, 1, 3)
	m.set.Servers[0].Session("10.1.0.1").Do("SET", "some", "thing")
	for i, s := range m.set.Sentinels {
		m.ears[i], m.asks[i] = s.Session("10.1.0.1"), s.Session("10.1.0.1")
		m.ears[i].Do(append([]string{"SUBSCRIBE"}, shown...)...)
		m.asks[i].Do("SENTINEL", "SET", "mymaster", "down-after-milliseconds", "1000")
	}
	return m
}

func (m *modelSet) under(f func() []byte) string {
	m.w.Mu.Lock()
	defer m.w.Mu.Unlock()
	return string(f())
}

func (m *modelSet) ask(i int, args ...string) string {
	return m.under(func() []byte { return m.asks[i].Do(args...) })
}

func (m *modelSet) heard(i int) (all []string) {
	return split(m.under(func() []byte { return m.ears[i].Do("UNSUBSCRIBE", "nobody") }))
}

// split separates replies, but for the last one.
func split(b string) (all []string) {
	w := &wire{r: bufio.NewReader(bytes.NewReader([]byte(b)))}
	for {
		one, err := w.receive(nil)
		if err != nil {
			return all[:max(0, len(all)-1)]
		}
		all = append(all, string(one))
	}
}

func (m *modelSet) order(i int, args ...string) string {
	return m.under(func() []byte {
		if !m.set.Servers[i].Running() {
			return nil
		}
		return m.set.Servers[i].Session("10.1.0.1").Do(args...)
	})
}

func (m *modelSet) kill(i int)  { m.under(func() []byte { m.set.Servers[i].Kill(false); return nil }) }
func (m *modelSet) start(i int) { m.under(func() []byte { m.set.Servers[i].Start(true); return nil }) }

func (m *modelSet) addr(i int) string { return m.set.Servers[i].Addr }

func (m *modelSet) named(text string) string { return named(text, m.addr(0), m.addr(1)) }

func named(text string, addrs ...string) string {
	for i, a := range addrs {
		name := string(rune('A' + i))
		text = strings.ReplaceAll(strings.ReplaceAll(text, a, name), strings.Replace(a, ":", " ", 1), name)
	}
	return text
}

// realSet is of processes.
type realSet struct {
	t     *testing.T
	addrs []string // of the servers, then of the Sentinels
	procs []*exec.Cmd
	conns map[string]*wire
	ears  [3]*wire
	dir   string
}

func newRealSet(t *testing.T) *realSet {
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Fatal(err)
	}
	s := &realSet{t: t, conns: map[string]*wire{}, dir: t.TempDir()}
	for range 5 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close() // all are taken at once, so that all differ
		s.addrs = append(s.addrs, l.Addr().String())
		_ = l.(*net.TCPListener).Close()
	}
	s.procs = make([]*exec.Cmd, len(s.addrs))
	t.Cleanup(func() {
		for _, p := range s.procs {
			_ = p.Process.Kill()
			_ = p.Wait()
		}
	})
	for i := range s.addrs {
		s.start(i)
	}
	s.order(0, "SET", "some", "thing")
	host, port, _ := strings.Cut(s.addrs[0], ":")
	s.order(1, "REPLICAOF", host, port)
	for i := range s.ears {
		monitored(s, i)
		s.ears[i] = s.dial(s.addrs[2+i])
		for _, channel := range shown {
			s.ears[i].ask(t, "SUBSCRIBE", channel)
		}
	}
	return s
}

func (s *realSet) addr(i int) string { return s.addrs[i] }

func (s *realSet) start(i int) {
	_, port, _ := strings.Cut(s.addrs[i], ":")
	conf := filepath.Join(s.dir, strconv.Itoa(i)+".conf")
	if err := os.WriteFile(conf, fmt.Appendf(nil, "port %s\nbind 127.0.0.1\ndir %s\n", port, s.dir), 0o666); err != nil {
		s.t.Fatal(err)
	}
	args := []string{conf}
	if i > 1 {
		args = append(args, "--sentinel")
	} else {
		args = append(args, "--save", "", "--repl-diskless-sync-delay", "0")
	}
	s.procs[i] = exec.Command("redis-server", args...)
	if err := s.procs[i].Start(); err != nil {
		s.t.Fatal(err)
	}
	s.dial(s.addrs[i]).c.Close()
}

func (s *realSet) dial(addr string) *wire {
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			s.t.Cleanup(func() { c.Close() })
			return &wire{c, bufio.NewReaderSize(c, 1<<16)}
		}
		if time.Now().After(deadline) {
			s.t.Fatal(err)
		}
	}
}

func (s *realSet) kill(i int) {
	_ = s.procs[i].Process.Kill()
	_ = s.procs[i].Wait()
}

func (s *realSet) ask(i int, args ...string) string {
	addr := s.addrs[2+i]
	if s.conns[addr] == nil {
		s.conns[addr] = s.dial(addr)
	}
	return s.conns[addr].ask(s.t, args...)
}

func (s *realSet) heard(i int) []string { return s.ears[i].heard(s.t) }

// order asks a server on a connection of its own: the Sentinels end those of others.
func (s *realSet) order(i int, args ...string) string {
	c, err := net.Dial("tcp", s.addrs[i])
	if err != nil {
		return ""
	}
	defer c.Close()
	if _, err := c.Write(encode(nil, args)); err != nil {
		return ""
	}
	b, _ := (&wire{c, bufio.NewReader(c)}).receive(nil)
	return string(b)
}

func (s *realSet) named(text string) string { return named(text, s.addrs[0], s.addrs[1]) }
