package redistest

import (
	"bufio"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
)

// markTimeout bounds the wait for a marker to come round.
const markTimeout = 10 * time.Second

// Line is one command as MONITOR shows it.
type Line struct {
	// DB is the number of the database that was selected.
	DB int
	// From is the client's address, or "lua" for a call from inside a script.
	From string
	// Args is the command's name, in the case it was given, and its arguments.
	Args []string
}

// Lua tells whether the command was called from inside a script.
func (l Line) Lua() bool { return l.From == "lua" }

// String is the command and its arguments with a blank between them.
func (l Line) String() string { return strings.Join(l.Args, " ") }

// Monitor taps a server's MONITOR. A Monitor ends with its server's process.
// It is used by one goroutine.
type Monitor struct {
	t     testing.TB
	mark  redis.Conn
	lines chan string
	marks int

	// mu guards err, which the reading goroutine leaves behind.
	mu  sync.Mutex
	err error
}

// Monitor starts to record what the server executes. It ends with t.
func (s *Server) Monitor(t testing.TB) *Monitor {
	t.Helper()
	m := &Monitor{t: t, mark: s.Dial(t), lines: make(chan string, 1024)}
	tap, err := net.DialTimeout("tcp", s.Addr(), 5*time.Second)
	if err != nil {
		t.Fatalf("redistest: monitor: %v", err)
	}
	r := bufio.NewReader(tap)
	if s.pass != "" {
		m.handshake(tap, r, fmt.Sprintf("*2\r\n$4\r\nAUTH\r\n$%d\r\n%s\r\n", len(s.pass), s.pass))
	}
	m.handshake(tap, r, "*1\r\n$7\r\nMONITOR\r\n")
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { m.read(r, stop) })
	t.Cleanup(func() {
		close(stop)
		tap.Close()
		wg.Wait()
	})
	return m
}

// Take returns the commands executed since Monitor or the last Take, in their
// order. Everything whose reply was received before the call is among them.
func (m *Monitor) Take() []Line {
	m.t.Helper()
	m.marks++
	marker := fmt.Sprintf("redistest-marker-%p-%d", m, m.marks)
	if _, err := m.mark.Do("ECHO", marker); err != nil {
		m.t.Fatalf("redistest: monitor's marker: %v", err)
	}
	late := time.NewTimer(markTimeout)
	defer late.Stop()
	var got []Line
	for {
		select {
		case text, ok := <-m.lines:
			if !ok {
				m.t.Fatalf("redistest: monitor ended: %v", m.ended())
			}
			line, err := parseLine(text)
			if err != nil {
				m.t.Fatalf("redistest: %v", err)
			}
			if len(line.Args) == 2 && line.Args[1] == marker {
				return got
			}
			got = append(got, line)
		case <-late.C:
			m.t.Fatalf("redistest: monitor did not show its marker within %v", markTimeout)
		}
	}
}

// TakeLua is Take without what clients sent: the calls inside scripts.
func (m *Monitor) TakeLua() []Line {
	m.t.Helper()
	var got []Line
	for _, l := range m.Take() {
		if l.Lua() {
			got = append(got, l)
		}
	}
	return got
}

func (m *Monitor) handshake(tap net.Conn, r *bufio.Reader, command string) {
	m.t.Helper()
	_ = tap.SetDeadline(time.Now().Add(markTimeout))
	if _, err := tap.Write([]byte(command)); err != nil {
		m.t.Fatalf("redistest: monitor: %v", err)
	}
	if reply, err := r.ReadString('\n'); err != nil || reply != "+OK\r\n" {
		m.t.Fatalf("redistest: monitor: %q, %v", reply, err)
	}
	_ = tap.SetDeadline(time.Time{})
}

func (m *Monitor) read(r *bufio.Reader, stop <-chan struct{}) {
	defer close(m.lines)
	for {
		text, err := r.ReadString('\n')
		if err != nil {
			m.mu.Lock()
			m.err = err
			m.mu.Unlock()
			return
		}
		select {
		case m.lines <- text:
		case <-stop:
			return
		}
	}
}

func (m *Monitor) ended() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.err
}

// parseLine reads `+1700000000.000001 [0 127.0.0.1:1234] "get" "a\x00b"`.
func parseLine(text string) (Line, error) {
	bad := func() (Line, error) { return Line{}, fmt.Errorf("not a MONITOR line: %q", text) }
	_, rest, ok := strings.Cut(strings.TrimRight(text, "\r\n"), " [")
	if !ok || !strings.HasPrefix(text, "+") {
		return bad()
	}
	source, rest, ok := strings.Cut(rest, "]")
	if !ok {
		return bad()
	}
	db, from, ok := strings.Cut(source, " ")
	if !ok {
		return bad()
	}
	line := Line{From: from}
	var err error
	if line.DB, err = strconv.Atoi(db); err != nil {
		return bad()
	}
	for rest != "" {
		// Redis quotes as Go does, as far as it quotes: \n \r \t \a \b \" \\ \xHH.
		// Bytes from 0x80 on come as \xHH too.
		quoted, err := strconv.QuotedPrefix(strings.TrimPrefix(rest, " "))
		if err != nil {
			return bad()
		}
		arg, err := strconv.Unquote(quoted)
		if err != nil {
			return bad()
		}
		line.Args = append(line.Args, arg)
		rest = strings.TrimPrefix(rest, " ")[len(quoted):]
	}
	return line, nil
}
