package redisconn

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
)

// pieces is a connection that notes each write.
type pieces struct {
	net.Conn
	writes [][]byte
	err    error
	until  time.Time
}

func (p *pieces) SetWriteDeadline(t time.Time) error {
	p.until = t
	return nil
}

func (p *pieces) Write(b []byte) (int, error) {
	if p.err != nil {
		return 0, p.err
	}
	p.writes = append(p.writes, bytes.Clone(b))
	return len(b), nil
}

func pushing(p *pieces) *Conn {
	return &Conn{guard: &guard{Conn: p, stream: newStream(p), timeout: time.Minute, made: time.Now()}}
}

// queue and push write all.
func queue(c *Conn, command string, args []any) error {
	_, err := c.Queue(command, args, true)
	return err
}

func push(c *Conn) error {
	_, err := c.Push(true)
	return err
}

// word and argument are arguments that make themselves.
type (
	appendedArg string
	argument    string
)

func (a appendedArg) AppendArg(b []byte) []byte { return append(b, a...) }
func (a argument) RedisArg() any                { return string(a) }

func TestPushedCommandsAreWhatRedigoSends(t *testing.T) {
	commands := [][]any{
		{"PING"},
		{"SET", "key", []byte("a\r\nb\x00"), "PX", int64(-30_000)},
		{"EVALSHA", strings.Repeat("f", 40), 1, "", argument("owner:1"), 1.5, uint8(7)},
		{"DEL", strings.Repeat("x", 20_000)},
	}
	sent := &pieces{}
	c := redis.NewConn(sent, 0, 0)
	p := &pieces{}
	pc := pushing(p)
	for _, args := range commands {
		if err := c.Send(args[0].(string), args[1:]...); err != nil {
			t.Fatal(err)
		}
		if err := queue(pc, args[0].(string), args[1:]); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(c.Flush(), push(pc)); err != nil {
		t.Fatal(err)
	}
	want, got := bytes.Join(sent.writes, nil), bytes.Join(p.writes, nil)
	if !bytes.Equal(want, got) {
		t.Errorf("redigo sends\n%.300q\nthis pushes\n%.300q", want, got)
	}
	pc = pushing(&pieces{})
	if err := queue(pc, "HEXISTS", []any{appendedArg("owner:1")}); err != nil || !bytes.Contains(pc.guard.unsent, []byte("\r\n$7\r\nowner:1\r\n")) {
		t.Errorf("an argument that writes itself became %q, %v", pc.guard.unsent, err)
	}
}

func TestQueuedCommandsLeaveTogether(t *testing.T) {
	p := &pieces{}
	c := pushing(p)
	set := func(n int) {
		if err := queue(c, "SET", []any{"key", strings.Repeat("v", n)}); err != nil {
			t.Fatal(err)
		}
	}
	for range 9 {
		set(4096)
	}
	if err := push(c); err != nil {
		t.Fatal(err)
	}
	if len(p.writes) != 3 { // three and a bit to 16 KiB
		t.Errorf("%d writes, want 3", len(p.writes))
	}
	for _, w := range p.writes {
		if len(w) > enough || !bytes.HasPrefix(w, []byte("*3\r\n")) {
			t.Errorf("a write of %d bytes that begins %.20q", len(w), w)
		}
	}
	if left := time.Until(p.until); left <= 0 || left > time.Minute {
		t.Errorf("%v left for the write", left)
	}
	p.writes = nil
	set(100_000)
	if err := push(c); err != nil || len(p.writes) != 1 {
		t.Errorf("%d writes for one large command, %v", len(p.writes), err)
	}
	if c.guard.unsent != nil {
		t.Error("the room for one large command is kept for ever")
	}
	if err := push(c); err != nil || len(p.writes) != 1 {
		t.Errorf("nothing to push: %d writes, %v", len(p.writes), err)
	}
}

func TestPushTellsOfAWriteThatFailed(t *testing.T) {
	c := pushing(&pieces{err: io.ErrClosedPipe})
	if err := queue(c, "PING", nil); err != nil {
		t.Fatal(err)
	}
	if err := push(c); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v", err)
	}
}

func TestTheDeadlineOfWritesIsMovedBeforeItPasses(t *testing.T) {
	p := &pieces{}
	c := pushing(p)
	pushed := func() (until time.Time) {
		t.Helper()
		if err := errors.Join(queue(c, "PING", nil), push(c)); err != nil {
			t.Fatal(err)
		}
		return p.until
	}
	first := pushed()
	if pushed().After(first) {
		t.Error("moved at once")
	}
	c.guard.made = c.guard.made.Add(-16 * time.Second) // that much later
	if left := time.Until(pushed()); left < 59*time.Second || left > time.Minute {
		t.Errorf("a write has %v", left)
	}
}
