package monitor

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
)

// deadline bounds the wait for a marker.
const deadline = 10 * time.Second

// Stream is a running MONITOR. It is used by one goroutine, the test's own.
type Stream struct {
	t     testing.TB
	conn  redis.Conn // receives MONITOR's lines
	mark  redis.Conn // sends the markers: a connection in MONITOR takes no more commands
	marks int

	mu    sync.Mutex // guards everything below
	lines []Line
	more  chan struct{} // closed and renewed when lines grows or err is set
	err   error
}

// Tap starts MONITOR on the server at a host:port or a redis:// or rediss:// URL; options are for its two connections.
// The stream has every command from Tap's return on. It ends with the test. If the server ends it earlier, the test fails
// when it waits for a marker.
func Tap(t testing.TB, server string, options ...redis.DialOption) *Stream {
	t.Helper()
	s := &Stream{t: t, more: make(chan struct{})}
	s.conn, s.mark = dial(t, server, options), dial(t, server, options)
	if ready, err := s.conn.Do("MONITOR"); err != nil || ready != "OK" {
		t.Fatalf("monitor: MONITOR answered %v, %v", ready, err)
	}
	var reader sync.WaitGroup
	reader.Go(s.read)
	t.Cleanup(func() {
		s.conn.Close()
		reader.Wait()
	})
	return s
}

// Mark sends a marker, and returns the lines before it, since Tap or the last marker: all commands answered so far.
// Markers themselves are never returned.
func (s *Stream) Mark() []Line {
	s.t.Helper()
	s.marks++
	marker := fmt.Sprintf("monitor-mark-%p-%d", s, s.marks)
	if _, err := s.mark.Do("ECHO", marker); err != nil {
		s.t.Fatalf("monitor: sending a marker: %v", err)
	}
	return s.Until(marker)
}

// Until waits for an ECHO of marker by any client, and returns the lines before it, since Tap or the last marker. It
// fails the test if the marker does not come within 10 s.
func (s *Stream) Until(marker string) []Line {
	s.t.Helper()
	return s.UntilMatch("a marker "+marker, func(l Line) bool {
		return l.Is("ECHO") && len(l.Args) == 2 && l.Args[1] == marker
	})
}

// UntilMatch is Until for a line that match accepts; what describes it in the failure.
func (s *Stream) UntilMatch(what string, match func(Line) bool) []Line {
	s.t.Helper()
	late := time.NewTimer(deadline)
	defer late.Stop()
	searched := 0
	for {
		s.mu.Lock()
		for ; searched < len(s.lines); searched++ {
			if match(s.lines[searched]) {
				before := s.lines[:searched:searched]
				s.lines = s.lines[searched+1:]
				s.mu.Unlock()
				return before
			}
		}
		more, err, seen := s.more, s.err, s.lines
		s.mu.Unlock()
		if err != nil {
			s.t.Fatalf("monitor: ended before %s: %v; seen: %v", what, err, seen)
		}
		select {
		case <-more:
		case <-late.C:
			s.t.Fatalf("monitor: no %s within %v; seen: %v", what, deadline, seen)
		}
	}
}

func (s *Stream) read() {
	for {
		text, err := redis.String(s.conn.Receive())
		var line Line
		if err == nil {
			line, err = Parse(text)
		}
		s.mu.Lock()
		if err != nil {
			s.err = err
		} else {
			s.lines = append(s.lines, line)
		}
		close(s.more)
		s.more = make(chan struct{})
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func dial(t testing.TB, server string, options []redis.DialOption) redis.Conn {
	t.Helper()
	if !strings.Contains(server, "://") {
		server = "redis://" + server
	}
	conn, err := redis.DialURL(server, append([]redis.DialOption{redis.DialConnectTimeout(deadline)}, options...)...)
	if err != nil {
		t.Fatalf("monitor: %v", err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}
