//go:build unix && !norawsyscall

package redisconn

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"syscall"
	"testing"
	"time"
)

func TestSocketCarriesWhatIsMoreThanTheKernelTakes(t *testing.T) {
	near, far := dialPair(t)
	sent := make([]byte, 32<<20)
	for i := range sent {
		sent[i] = byte(rand.Uint32())
	}
	go func() {
		time.Sleep(20 * time.Millisecond) // until the writer waits
		_, _ = io.Copy(far, far)
	}()
	back := make(chan []byte)
	s := newStream(near)
	go func() {
		got, err := io.ReadAll(io.LimitReader(waiting{s}, int64(len(sent))))
		if err != nil {
			t.Error(err)
		}
		back <- got
	}()
	if n, err := s.WriteSome(sent, true); n != len(sent) || err != nil {
		t.Fatalf("%d of %d written, %v", n, len(sent), err)
	}
	if got := <-back; !bytes.Equal(got, sent) {
		t.Errorf("%d bytes came back, others than the %d sent", len(got), len(sent))
	}
}

func TestSocketOfAFile(t *testing.T) {
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	near, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	s, p := newStream(near), make([]byte, 100)
	if _, err := s.WriteSome([]byte("PING\r\n"), true); err != nil {
		t.Fatal(err)
	}
	if n, err := far.Read(p); err != nil || string(p[:n]) != "PING\r\n" {
		t.Fatalf("%q, %v", p[:n], err)
	}
	far.Write([]byte("+PONG\r\n"))
	if n, err := s.ReadSome(p, true); err != nil || string(p[:n]) != "+PONG\r\n" {
		t.Fatalf("%q, %v", p[:n], err)
	}
	far.Close()
	if _, err := s.ReadSome(p, true); err != io.EOF {
		t.Errorf("closed over there: %v", err)
	}
	if n, err := s.WriteSome(p, true); n != 0 || !errors.Is(err, syscall.EPIPE) {
		t.Errorf("written to nobody: %d, %v", n, err)
	}
}

// A connection's end gives the same errors as with net.Conn.
func TestSocketTellsTheEndAsTheConnectionDoes(t *testing.T) {
	long := make([]byte, 16<<20)
	for what, end := range map[string]func(near, far *net.TCPConn){
		"closed here":       func(near, _ *net.TCPConn) { near.Close() },
		"closed over there": func(_, far *net.TCPConn) { far.CloseWrite() },
		"reset":             func(_, far *net.TCPConn) { far.SetLinger(0); far.Close() },
		"past its deadline": func(near, _ *net.TCPConn) { near.SetDeadline(time.Now().Add(-time.Second)) },
		"meets a deadline":  func(near, _ *net.TCPConn) { near.SetDeadline(time.Now().Add(20 * time.Millisecond)) },
		"closed meanwhile":  func(near, _ *net.TCPConn) { time.AfterFunc(20*time.Millisecond, func() { near.Close() }) },
		"reset meanwhile": func(_, far *net.TCPConn) {
			time.AfterFunc(20*time.Millisecond, func() { far.SetLinger(0); far.Close() })
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			says := func(rw func(near *net.TCPConn) io.ReadWriter) (read, write error) {
				near, far := dialPair(t)
				end(near, far)
				_, read = rw(near).Read(make([]byte, 100))
				near, far = dialPair(t)
				end(near, far)
				if what == "reset" {
					_, _ = near.Read(make([]byte, 1)) // until the reset has arrived
				}
				if what != "closed over there" { // only reads notice that
					_, write = rw(near).Write(long)
				}
				return read, write
			}
			read, write := says(func(near *net.TCPConn) io.ReadWriter { return near })
			sread, swrite := says(func(near *net.TCPConn) io.ReadWriter { return waiting{newStream(near)} })
			same := func(of string, want, got error) {
				for _, e := range []error{io.EOF, net.ErrClosed, os.ErrDeadlineExceeded, syscall.ECONNRESET, syscall.EPIPE} {
					if errors.Is(want, e) != errors.Is(got, e) {
						t.Errorf("%s: %v, want %v", of, got, want)
					}
				}
				ports := regexp.MustCompile(`:\d+`)
				if reads := ports.ReplaceAllString(fmt.Sprint(got), ""); reads != ports.ReplaceAllString(fmt.Sprint(want), "") {
					t.Errorf("%s reads %q, want %v", of, reads, want)
				}
			}
			same("read", read, sread)
			same("write", write, swrite)
		})
	}
}

func TestWhatHasComeIsTakenWithoutWaiting(t *testing.T) {
	near, far := dialPair(t)
	s, p := newStream(near), make([]byte, 100)
	near.SetReadDeadline(time.Now().Add(-time.Second)) // which applies only to calls that wait
	if n, err := s.ReadSome(p, false); n != 0 || err != nil {
		t.Fatalf("nothing has come: %d, %v", n, err)
	}
	far.Write([]byte("+OK\r\n"))
	if n, err := untilRead(s, p); err != nil || string(p[:n]) != "+OK\r\n" {
		t.Fatalf("%q, %v", p[:n], err)
	}
	far.SetLinger(0)
	far.Close()
	_, err := untilRead(s, p)
	if _, ok := errors.AsType[*net.OpError](err); !ok || !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("reset: %v", err)
	}
	near, far = dialPair(t)
	far.Close()
	if _, err := untilRead(newStream(near), p); err != io.EOF {
		t.Errorf("closed over there: %v", err)
	}
	near.Close()
	if _, err := newStream(near).ReadSome(p, false); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed here: %v", err)
	}
}

// waiting is a stream as a reader and a writer that wait.
type waiting struct{ stream }

func (w waiting) Read(p []byte) (int, error)  { return w.ReadSome(p, true) }
func (w waiting) Write(p []byte) (int, error) { return w.WriteSome(p, true) }

// untilRead tries until something has arrived.
func untilRead(s stream, p []byte) (n int, err error) {
	for end := time.Now().Add(10 * time.Second); n == 0 && err == nil && time.Now().Before(end); {
		n, err = s.ReadSome(p, false)
	}
	return n, err
}

// Two writes at once would be mixed up, and so would two reads.
func TestASocketHasOneReaderAndOneWriter(t *testing.T) {
	near, far := dialPair(t)
	near.SetDeadline(time.Now().Add(10 * time.Second))
	s, p := newStream(near).(*socket), make([]byte, 16<<20)
	ended := make(chan error, 2)
	go func() { _, err := s.ReadSome(make([]byte, 100), true); ended <- err }()
	go func() { _, err := s.WriteSome(p, true); ended <- err }()
	for !s.reading.Load() || !s.writing.Load() {
		runtime.Gosched()
	}
	for _, wait := range []bool{false, true} {
		if n, err := s.ReadSome(p, wait); n != 0 || !errors.Is(err, errTwoReads) {
			t.Errorf("a read beside another: %d, %v", n, err)
		}
		if n, err := s.WriteSome(p, wait); n != 0 || !errors.Is(err, errTwoWrites) {
			t.Errorf("a write beside another: %d, %v", n, err)
		}
	}
	go io.Copy(io.Discard, far)
	far.Write([]byte(":1\r\n"))
	for range cap(ended) {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if _, err := s.WriteSome([]byte("x"), false); err != nil {
		t.Errorf("after them: %v", err)
	}
}

// A custom dialer may have made the socket blocking. A blocking call would keep the processor
// from all goroutines.
func TestSocketNeverWaitsInTheKernel(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8)) // with two, both would be kept
	near, far := dialPair(t)
	raw, err := near.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	err = raw.Control(func(fd uintptr) { err = syscall.SetNonblock(int(fd), false) })
	if err != nil {
		t.Fatal(err)
	}
	type answer struct {
		n   int
		err error
	}
	reads, writes := make(chan answer, 1), make(chan answer, 1)
	room, long := make([]byte, 100), make([]byte, 1<<20)
	go func() {
		raw.Read(func(fd uintptr) bool {
			n, err := receive(fd, room)
			reads <- answer{n, err}
			return true
		})
	}()
	go func() {
		raw.Write(func(fd uintptr) bool {
			for {
				if n, err := send(fd, long); err != 0 {
					writes <- answer{n, err}
					return true
				}
			}
		})
	}()
	for what, c := range map[string]chan answer{"read": reads, "write": writes} {
		select {
		case a := <-c:
			if !errors.Is(a.err, syscall.EAGAIN) {
				t.Errorf("%s: %d, %v", what, a.n, a.err)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("a %s waits", what)
			far.Close()
		}
	}
}
