package redisconn

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
)

// dialPair is both ends of a TCP connection.
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

// cut is a connection that gives what it has in pieces.
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

// received is all that is received of b, the managed way or redigo's own, up to the
// first error that is not an answer.
func received(b []byte, piece int, managed bool) (all []any, err error) {
	nc := &cut{left: b, piece: piece}
	g := &guard{Conn: nc, stream: newStream(nc)}
	c := &Conn{ConnWithTimeout: redis.NewConn(g, 0, 0).(redis.ConnWithTimeout), guard: g}
	if managed {
		c.Manage()
	}
	for {
		var reply any
		ok := true
		if managed {
			reply, ok, err = c.Next()
		} else {
			reply, err = c.Receive()
		}
		if !ok && err == nil {
			err = c.Fill()
		}
		switch refused, is := errors.AsType[redis.Error](err); {
		case is:
			all = append(all, refused)
		case err != nil:
			return all, err
		case ok:
			all = append(all, reply)
		}
	}
}

func TestEachReplyIsReceivedOnce(t *testing.T) {
	long := strings.Repeat("x", 3*leastRoom)
	said := "$-1\r\n:1\r\n:123456789012345678\r\n:1234567890123456789\r\n:-2\r\n+OK\r\n-ERR no\r\n*2\r\n:1\r\n$-1\r\n" +
		"$5\r\na\r\nbc\r\n*-1\r\n$" + "12288\r\n" + long + "\r\n:0\r\n"
	want := []any{nil, int64(1), int64(123456789012345678), int64(1234567890123456789), int64(-2), "OK", redis.Error("ERR no"),
		[]any{int64(1), nil}, []byte("a\r\nbc"), nil, []byte(long), int64(0)}
	for _, piece := range []int{1, 2, 3, 7, 100, len(said)} {
		for _, managed := range []bool{false, true} {
			got, err := received([]byte(said), piece, managed)
			if !reflect.DeepEqual(got, want) || err != io.EOF {
				t.Errorf("managed %v, pieces of %d: %.200q, %v", managed, piece, got, err)
			}
		}
	}
}

func TestWhatIsLeftOfTheFirstWordsIsReceived(t *testing.T) {
	nc := &cut{left: []byte("+OK\r\n:1\r\n*1\r\n:2\r\n"), piece: 100}
	g := &guard{Conn: nc, stream: newStream(nc)}
	c := &Conn{ConnWithTimeout: redis.NewConn(g, 0, 0).(redis.ConnWithTimeout), guard: g}
	if reply, err := c.Receive(); err != nil || reply != "OK" {
		t.Fatal(reply, err)
	}
	c.Manage()
	for _, want := range []any{int64(1), []any{int64(2)}} {
		if reply, ok, err := c.Next(); !ok || err != nil || !reflect.DeepEqual(reply, want) {
			t.Fatalf("%v, %v, %v, want %v", reply, ok, err, want)
		}
	}
	if c.Reads() != 1 {
		t.Errorf("%d reads", c.Reads())
	}
}

// A server that says more than its lengths announce must not have what follows
// taken for a part of it, nor have its reader wait outside Fill.
func TestAManagedReplyEndsWhereItsLengthsSay(t *testing.T) {
	for _, said := range []string{"$1\r\nabc\n:1\r\n", "+OK\n:1\r\n", "$1\r\nabcd\r\n"} {
		if all, err := received([]byte(said), len(said), true); len(all) > 0 || err == nil || err == io.EOF {
			t.Errorf("%q: %v, %v", said, all, err)
		}
	}
}

func TestRoomForALongReplyIsNotKept(t *testing.T) {
	text := strings.Repeat("x", 5*mostRoom)
	said := "$327680\r\n" + text + "\r\n"
	near, far := dialPair(t)
	g := &guard{Conn: near, stream: newStream(near)}
	c := &Conn{ConnWithTimeout: redis.NewConn(g, 0, 0).(redis.ConnWithTimeout), guard: g}
	c.Manage()
	next := func() any {
		for {
			reply, ok, err := c.Next()
			if ok || err != nil {
				return reply
			}
			if err := c.Fill(); err != nil {
				return err
			}
		}
	}
	go far.Write([]byte(said))
	if reply, ok := next().([]byte); !ok || string(reply) != text {
		t.Fatalf("got %.100q", reply)
	}
	if cap(g.room) <= mostRoom {
		t.Fatalf("the reply came in room for %d bytes", cap(g.room))
	}
	far.Write([]byte(":1\r\n"))
	if reply := next(); reply != int64(1) || cap(g.room) > mostRoom {
		t.Errorf("%v, then %d bytes are kept", reply, cap(g.room))
	}
}

func TestADeadlineThatPassedIsMoved(t *testing.T) {
	near, far := dialPair(t)
	c := &Conn{guard: &guard{Conn: near, stream: newStream(near)}}
	if !c.Manage() {
		t.Error("it is the system's own")
	}
	c.SetReadDeadline(time.Now().Add(-time.Second))
	if err := c.Fill(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("past the deadline: %v", err)
	}
	c.SetReadDeadline(time.Now().Add(time.Minute))
	far.Write([]byte("$-1\r\n"))
	err := c.Fill()
	if reply, ok, nerr := c.Next(); err != nil || nerr != nil || !ok || reply != nil {
		t.Errorf("after it: %v, %v, %v, %v", reply, ok, err, nerr)
	}
}

// What redigo makes of a stream, it makes of it piece by piece as well, and so does
// Next.
func FuzzReceived(f *testing.F) {
	f.Add([]byte("*2\r\n$1\r\nx\r\n:1\r\n:12\r\n$-1\r\n"), 3)
	f.Add([]byte(":-0\r\n:1234567890123456789\r\n:\r\n"), 1)
	f.Add([]byte(":12345678901234567890\r\n$-1\r\n:1\n"), 5)
	f.Fuzz(func(t *testing.T, b []byte, piece int) {
		piece = max(1, piece%64)
		want, _ := received(bytes.Clone(b), len(b), false)
		got, _ := received(bytes.Clone(b), piece, true)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("redigo receives %v, pieces of %d are %v", want, piece, got)
		}
	})
}
