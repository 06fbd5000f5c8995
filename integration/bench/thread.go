package main

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"syscall"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/luasrc"
)

// thread is one that sends rlock's pairs, encoded beforehand, a round trip each, and nothing else: what a lone caller can
// reach with these commands. It is bound to its goroutine, which never waits for another.
type thread struct {
	addr  string
	polls bool // asks for a reply until it is there; else it sleeps in the kernel
}

// newThreads are of the two ways to wait for a reply. Which one is quicker depends on the machine.
func newThreads(addr string) []loader { return []loader{thread{addr, true}, thread{addr, false}} }

// load gives the time of a pair; of s it takes the length alone.
func (t thread) load(s spec) (l loaded, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	f, err := dialFile(t.addr)
	if err != nil {
		return l, err
	}
	defer f.Close()
	fd := int(f.Fd()) // blocking from here on
	if t.polls {
		err = syscall.SetNonblock(fd, true)
	} else {
		limit := syscall.NsecToTimeval(grace.Nanoseconds())
		err = syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &limit)
	}
	if err != nil {
		return l, err
	}
	const owner = "00000000-0000-4000-8000-000000000000:1"
	name := prefixFor("pairs", loneName) + "0"
	lock := encode("EVALSHA", luasrc.Lock(nil, name, owner, lease.Milliseconds()))
	unlock := encode("EVALSHA", luasrc.UnlockOnce(nil, name, codec.Channel(name), owner, lease.Milliseconds(), luasrc.Publish))
	start := time.Now()
	for ; l.took < s.length; l.took = time.Since(start) {
		for _, command := range [][]byte{lock, unlock} {
			if err := t.exchange(fd, command); err != nil {
				return l, err
			}
		}
		l.pairs++
	}
	l.grants = l.pairs
	return l, nil
}

func dialFile(addr string) (*os.File, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return conn.(*net.TCPConn).File()
}

// exchange sends a command and waits for its reply, which is one line.
func (t thread) exchange(fd int, command []byte) error {
	if n, err := syscall.Write(fd, command); n < len(command) {
		return fmt.Errorf("one thread: %d of %d bytes written: %w", n, len(command), err)
	}
	var reply [512]byte
	for waits := 0; ; waits++ {
		n, err := syscall.Read(fd, reply[:])
		switch {
		case err == syscall.EINTR:
		case err == syscall.EAGAIN && t.polls && waits < 1<<24: // many seconds
		case err != nil:
			return fmt.Errorf("one thread: %w", err)
		case n < 4 || reply[0] == '-' || reply[n-1] != '\n':
			return fmt.Errorf("one thread: answered %q", reply[:max(n, 0)])
		default:
			return nil
		}
	}
}

// close has nothing to do: each load has a connection of its own.
func (t thread) close() {}
