package simulation

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/rlocktest/simnet"
	"github.com/rlock-go/redisson/rlocktest/simredis"
)

// The connections of each side.
const (
	teller  = iota // tracks the keys that it reads
	another        // changes them
	ear            // listens
	conns
)

// answer is a server's reply to a command, as it was sent, between two times of its clock in microseconds.
type answer struct {
	reply         []byte
	before, after int64
}

// realServer is a process.
type realServer struct {
	addr    string
	version string
	proc    *os.Process
	conns   [conns]*wire
}

type wire struct {
	c net.Conn
	r *bufio.Reader
}

func startServer(t *testing.T, program string) *realServer {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &realServer{addr: l.Addr().String()}
	l.Close()
	_, port, _ := net.SplitHostPort(s.addr)
	out, err := exec.Command(program, "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	_, s.version, _ = strings.Cut(string(out), "v=")
	s.version, _, _ = strings.Cut(s.version, " ")
	args := []string{"--port", port, "--save", "", "--bind", "127.0.0.1", "--dir", t.TempDir(), "--repl-diskless-sync-delay", "0"}
	if !s.old() {
		args = append(args, "--enable-protected-configs", "yes")
	}
	cmd := exec.Command(program, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	s.proc = cmd.Process
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if c, err := net.Dial("tcp", s.addr); err == nil {
			c.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s does not listen", program)
		}
	}
	for i := range s.conns {
		s.conns[i] = s.dial(t)
	}
	return s
}

// old tells whether it is of before 7.0: no sharded channels, no subcommands in ACL rules, other texts of errors.
func (s *realServer) old() bool { return strings.HasPrefix(s.version, "6.") }

func (s *realServer) dial(t *testing.T) *wire {
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &wire{c, bufio.NewReaderSize(c, 1<<16)}
}

func encode(b []byte, args []string) []byte {
	b = fmt.Appendf(b, "*%d\r\n", len(args))
	for _, a := range args {
		b = strconv.AppendInt(append(b, '$'), int64(len(a)), 10)
		b = append(append(append(b, "\r\n"...), a...), "\r\n"...)
	}
	return b
}

// receive reads one reply, as it was sent.
func (w *wire) receive(b []byte) ([]byte, error) {
	if w.c != nil {
		_ = w.c.SetReadDeadline(time.Now().Add(10 * time.Second)) // a server that does not answer fails the test
	}
	line, err := w.r.ReadSlice('\n')
	if err != nil {
		return b, err
	}
	b = append(b, line...)
	n, _ := strconv.Atoi(string(line[1 : len(line)-2]))
	switch line[0] {
	case '$':
		if n >= 0 {
			at := len(b)
			b = append(b, make([]byte, n+2)...)
			_, err = io.ReadFull(w.r, b[at:])
		}
	case '*':
		for ; n > 0 && err == nil; n-- {
			b, err = w.receive(b)
		}
	}
	return b, err
}

// do sends commands at once, each between two questions for the time.
func (w *wire) do(t *testing.T, cmds [][]string) []answer {
	var b []byte
	clock := encode(nil, []string{"TIME"})
	for i, c := range cmds {
		if !caches(cmds, i-1) { // the permission to track is for the very next command
			b = append(b, clock...)
		}
		if b = encode(b, c); !caches(cmds, i) {
			b = append(b, clock...)
		}
	}
	if _, err := w.c.Write(b); err != nil {
		t.Fatal(err)
	}
	next := func() []byte {
		reply, err := w.receive(nil)
		if err != nil {
			t.Fatalf("%v behind %.200q", err, cmds)
		}
		return reply
	}
	all := make([]answer, len(cmds))
	for i := range cmds {
		if caches(cmds, i-1) {
			all[i].before = all[i-1].before
		} else {
			all[i].before = micros(next())
		}
		if all[i].reply = next(); caches(cmds, i) {
			all[i].after = all[i].before
		} else {
			all[i].after = micros(next())
		}
	}
	return all
}

// caches tells whether a command asks that the next one's keys are tracked.
func caches(cmds [][]string, i int) bool {
	return i >= 0 && i < len(cmds)-1 && len(cmds[i]) == 3 && cmds[i][1] == "CACHING"
}

func micros(reply []byte) int64 {
	parts := bytes.Split(reply, []byte("\r\n"))
	if len(parts) < 5 {
		return 0 // refused
	}
	s, _ := strconv.ParseInt(string(parts[2]), 10, 64)
	us, _ := strconv.ParseInt(string(parts[4]), 10, 64)
	return s*1e6 + us
}

// barrier ends what a listening connection has heard. It is sent on that connection.
var barrier = []string{"UNSUBSCRIBE", "nobody"}

// heard returns the messages that have come.
func (w *wire) heard(t *testing.T) (all []string) {
	if _, err := w.c.Write(encode(nil, barrier)); err != nil {
		t.Fatal(err)
	}
	for {
		b, err := w.receive(nil)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), "\r\nunsubscribe\r\n") {
			return all
		}
		all = append(all, string(b))
	}
}

// ask is one command without times.
func (w *wire) ask(t *testing.T, args ...string) string {
	if _, err := w.c.Write(encode(nil, args)); err != nil {
		t.Fatal(err)
	}
	b, err := w.receive(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// model is the same without a process.
type model struct {
	w     *simnet.World
	s     *simredis.Server
	now   int64 // microseconds
	conns [conns]*simredis.Session
}

func newModel(version string) *model {
	m := &model{w: simnet.New(1)}
	m.w.Mu.Lock()
	defer m.w.Mu.Unlock()
	m.s = simredis.New(m.w, "10.0.0.1:6379")
	m.s.Version = version
	m.s.Clock = func() time.Time { return time.UnixMicro(m.now) }
	for i := range m.conns {
		m.conns[i] = m.s.Session("10.1.0.1")
	}
	return m
}

func (m *model) do(conn int, at int64, args []string) []byte {
	m.w.Mu.Lock()
	defer m.w.Mu.Unlock()
	if at > 0 {
		m.now = at
	}
	return m.conns[conn].Do(args...)
}

func (m *model) heard() (all []string) {
	b := m.do(ear, 0, barrier)
	w := &wire{r: bufio.NewReader(bytes.NewReader(b))}
	for {
		one, err := w.receive(nil)
		if err != nil || strings.Contains(string(one), "\r\nunsubscribe\r\n") {
			return all
		}
		all = append(all, string(one))
	}
}

// id is that of a connection on either side.
func id(reply string) string { return strings.Trim(reply, ":\r\n") }

// sortInvalidations sorts the invalidations among messages: keys that expire by themselves do so in any order.
func sortInvalidations(all []string) []string {
	var keys, rest []string
	for _, m := range all {
		if strings.Contains(m, "__redis__:invalidate") {
			keys = append(keys, m)
		} else {
			rest = append(rest, m)
		}
	}
	slices.Sort(keys)
	return append(rest, keys...)
}

// session is a new connection.
func (m *model) session() *simredis.Session {
	m.w.Mu.Lock()
	defer m.w.Mu.Unlock()
	return m.s.Session("10.1.0.2")
}

func (m *model) on(s *simredis.Session, args []string) string {
	m.w.Mu.Lock()
	defer m.w.Mu.Unlock()
	return string(s.Do(args...))
}

func (m *model) received(s *simredis.Session) string {
	m.w.Mu.Lock()
	defer m.w.Mu.Unlock()
	return string(s.Received())
}
