package redisconn

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gomodule/redigo/redis"
)

// pieces is a connection that records each write.
type pieces struct {
	net.Conn
	writes [][]byte
	err    error
}

func (p *pieces) Write(b []byte) (int, error) {
	if p.err != nil {
		return 0, p.err
	}
	p.writes = append(p.writes, bytes.Clone(b))
	return len(b), nil
}

func pushing(p *pieces) *Conn {
	return newConn(p, p, time.Minute, new(sync.Map), "")
}

// queue and push write everything.
func queue(c *Conn, command string, args []any) error {
	_, err := c.Queue(command, args, true)
	return err
}

func push(c *Conn) error {
	_, err := c.Push(true)
	return err
}

// appendedArg and argument are arguments that build their own text.
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
	if err := queue(pc, "HEXISTS", []any{appendedArg("owner:1")}); err != nil || !bytes.Contains(pc.unsent, []byte("\r\n$7\r\nowner:1\r\n")) {
		t.Errorf("an argument that writes itself became %q, %v", pc.unsent, err)
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
	if len(p.writes) != 3 { // three and a bit fit into 16 KiB
		t.Errorf("%d writes, want 3", len(p.writes))
	}
	for _, w := range p.writes {
		if len(w) > enough || !bytes.HasPrefix(w, []byte("*3\r\n")) {
			t.Errorf("a write of %d bytes that begins %.20q", len(w), w)
		}
	}
	p.writes = nil
	set(100_000)
	if err := push(c); err != nil || len(p.writes) != 1 {
		t.Errorf("%d writes for one large command, %v", len(p.writes), err)
	}
	if c.unsent != nil {
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

func TestAWriteThatTakesTooLongEndsTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer far.Close()
		c := newConn(channel{near}, channel{near}, time.Minute, new(sync.Map), "")
		for range 3 {
			go func() { _, _ = io.ReadAtLeast(far, make([]byte, 64), 14) }()
			if err := errors.Join(queue(c, "PING", nil), push(c)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour) // nothing is written, so nothing may end the connection
		}
		began := time.Now()
		if err := errors.Join(queue(c, "PING", nil), push(c)); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != time.Minute {
			t.Errorf("a write that nobody reads says %v after %v", err, time.Since(began))
		}
	})
}
