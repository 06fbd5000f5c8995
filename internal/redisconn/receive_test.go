package redisconn

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
)

// dialPair returns both ends of a TCP connection.
func dialPair(t *testing.T) (near, far *net.TCPConn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	nc, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	fc, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close(); fc.Close() })
	return nc.(*net.TCPConn), fc.(*net.TCPConn)
}

// cut is a connection that delivers its bytes in pieces.
type cut struct {
	net.Conn
	left  []byte
	piece int
}

func (c *cut) Read(p []byte) (int, error) {
	if len(c.left) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.left[:min(c.piece, len(c.left))])
	c.left = c.left[n:]
	return n, nil
}

func (c *cut) SetReadDeadline(time.Time) error { return nil }
func (c *cut) Close() error                    { return nil }

// receiving is a connection that delivers b in pieces.
func receiving(b []byte, piece int) *Conn {
	nc := &cut{left: b, piece: piece}
	return newConn(nc, nc, 0, new(sync.Map), "")
}

// all returns what is received before the first error that is no reply.
func all(receive func() (any, error)) ([]any, error) {
	all := []any{}
	for {
		reply, err := receive()
		if refused, is := errors.AsType[redis.Error](err); is {
			reply, err = refused, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, reply)
	}
}

func TestEachReplyIsReceivedOnce(t *testing.T) {
	long := strings.Repeat("x", 3*leastRoom)
	said := "$-1\r\n:1\r\n:123456789012345678\r\n:1234567890123456789\r\n:-2\r\n+OK\r\n-ERR no\r\n*2\r\n:1\r\n$-1\r\n" +
		"$5\r\na\r\nbc\r\n*-1\r\n$" + "12288\r\n" + long + "\r\n:0\r\n"
	want := []any{nil, int64(1), int64(123456789012345678), int64(1234567890123456789), int64(-2), "OK", redis.Error("ERR no"),
		[]any{int64(1), nil}, []byte("a\r\nbc"), nil, []byte(long), int64(0)}
	for _, piece := range []int{1, 2, 3, 7, 100, len(said)} {
		got, err := all(receiving([]byte(said), piece).Receive)
		if !reflect.DeepEqual(got, want) || err != io.EOF {
			t.Errorf("pieces of %d: %.200q, %v", piece, got, err)
		}
	}
}

func TestWhatIsLeftOfTheFirstWordsIsReceived(t *testing.T) {
	c := receiving([]byte("+OK\r\n:1\r\n*1\r\n:2\r\n"), 100)
	if reply, err := c.Receive(); err != nil || reply != "OK" {
		t.Fatal(reply, err)
	}
	for _, want := range []any{int64(1), []any{int64(2)}} {
		if reply, ok, err := c.Next(); !ok || err != nil || !reflect.DeepEqual(reply, want) {
			t.Fatalf("%v, %v, %v, want %v", reply, ok, err, want)
		}
	}
	if c.Reads() != 1 {
		t.Errorf("%d reads", c.Reads())
	}
}

// If a server sends more than its lengths announce, the rest must not count as part of the reply.
func TestAReplyEndsWhereItsLengthsSay(t *testing.T) {
	for _, said := range []string{"$1\r\nabc\n:1\r\n", "+OK\n:1\r\n", "$1\r\nabcd\r\n"} {
		if got, err := all(receiving([]byte(said), len(said)).Receive); len(got) > 0 || err == nil || err == io.EOF {
			t.Errorf("%q: %v, %v", said, got, err)
		}
	}
}

func TestRoomForALongReplyIsNotKept(t *testing.T) {
	text := strings.Repeat("x", 5*mostRoom)
	said := "$327680\r\n" + text + "\r\n"
	near, far := dialPair(t)
	c := newConn(near, near, 0, new(sync.Map), "")
	next := func() any {
		reply, _ := c.Receive()
		return reply
	}
	go far.Write([]byte(said))
	if reply, ok := next().([]byte); !ok || string(reply) != text {
		t.Fatalf("got %.100q", reply)
	}
	if cap(c.room) <= mostRoom {
		t.Fatalf("the reply came in room for %d bytes", cap(c.room))
	}
	far.Write([]byte(":1\r\n"))
	if reply := next(); reply != int64(1) || cap(c.room) > mostRoom {
		t.Errorf("%v, then %d bytes are kept", reply, cap(c.room))
	}
}

func TestADeadlineThatPassedIsMoved(t *testing.T) {
	near, far := dialPair(t)
	c := newConn(near, near, 0, new(sync.Map), "")
	c.SetReadDeadline(time.Now().Add(-time.Second))
	if _, err := c.Fill(true); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("past the deadline: %v", err)
	}
	c.SetReadDeadline(time.Now().Add(time.Minute))
	far.Write([]byte("$-1\r\n"))
	_, err := c.Fill(true)
	if reply, ok, nerr := c.Next(); err != nil || nerr != nil || !ok || reply != nil {
		t.Errorf("after it: %v, %v, %v, %v", reply, ok, err, nerr)
	}
}

// In whatever pieces a stream comes, its replies are redigo's, unless they are refused.
func FuzzReceived(f *testing.F) {
	f.Add([]byte("*2\r\n$1\r\nx\r\n:1\r\n:12\r\n$-1\r\n"), 3)
	f.Add([]byte(":-0\r\n:1234567890123456789\r\n:\r\n"), 1)
	f.Add([]byte("$9223372036854775807\r\n"), 1)
	f.Add([]byte(":12\r\n$-1\r\n:1\n"), 5)
	f.Add([]byte("*1\r\n-ERR\r\n+a\rb\r\n*-1\r\n$00\r\n\r\n"), 2)
	f.Fuzz(func(t *testing.T, b []byte, piece int) {
		piece = max(1, piece%64)
		got, err := all(receiving(bytes.Clone(b), piece).Receive)
		whole, wholeErr := all(receiving(bytes.Clone(b), len(b)).Receive)
		if !reflect.DeepEqual(got, whole) || (err == io.EOF) != (wholeErr == io.EOF) {
			t.Fatalf("pieces of %d are %q, %v; the whole is %q, %v", piece, got, err, whole, wholeErr)
		}
		if err != io.EOF {
			return
		}
		nc := &cut{left: b, piece: len(b)}
		want, err := all(redis.NewConn(nc, 0, 0).Receive)
		if err != io.EOF && len(want) < len(got) {
			got = got[:len(want)] // redigo refuses a plus before a number
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("redigo receives %q, pieces of %d are %q", want, piece, got)
		}
	})
}
