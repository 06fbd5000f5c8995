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

// thread is a loader that sends rlock's pairs, encoded in advance, a round trip each, and nothing else. It shows what a
// lone caller can reach with these commands. It is bound to its goroutine, never waits for another goroutine, and
// sleeps in the kernel for each reply. It uses only the length of a load.
func thread(addr string) loader {
	return func(s spec) (loaded, error) { return lonePairs(addr, s.length) }
}

func lonePairs(addr string, length time.Duration) (l loaded, err error) {
	defer caught(&err)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	f := must(dialFile(addr))
	defer f.Close()
	fd := int(f.Fd()) // Fd sets it to blocking
	limit := syscall.NsecToTimeval(grace.Nanoseconds())
	check(syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &limit))
	const owner = "00000000-0000-4000-8000-000000000000:1"
	name := prefixFor("pairs", loneName) + "0"
	lock := encode("EVALSHA", luasrc.Lock(nil, name, owner, lease.Milliseconds()))
	unlock := encode("EVALSHA", luasrc.UnlockTo(nil, name, codec.Channel(name), owner, lease.Milliseconds(), luasrc.Left{}, luasrc.Publish))
	start := time.Now()
	for ; l.took < length; l.took = time.Since(start) {
		for _, command := range [][]byte{lock, unlock} {
			check(exchange(fd, command))
		}
		l.pairs++
	}
	l.grants = l.pairs
	return l, nil
}

func dialFile(addr string) (_ *os.File, err error) {
	defer caught(&err)
	conn := must(net.Dial("tcp", addr))
	defer conn.Close()
	return conn.(*net.TCPConn).File()
}

// exchange sends a command and waits for its one-line reply.
func exchange(fd int, command []byte) error {
	if n, err := syscall.Write(fd, command); n < len(command) {
		return fmt.Errorf("one thread: %d of %d bytes written: %w", n, len(command), err)
	}
	var reply [512]byte
	for {
		n, err := syscall.Read(fd, reply[:])
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return fmt.Errorf("one thread: %w", err)
		case n < 4 || reply[0] == '-' || reply[n-1] != '\n':
			return fmt.Errorf("one thread: answered %q", reply[:max(n, 0)])
		default:
			return nil
		}
	}
}
