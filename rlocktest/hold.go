package rlocktest

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/rlock"
)

// NewHold returns a Hold of a lock with this name, and a function that ends it
// with ErrLeaseLost, ErrClosed or ErrReleased; any other error fails the test.
// On a hold that is over, end does nothing. There is no server and no network, so it works in
// a bubble of testing/synctest too. Otherwise the Hold is what Lock returns: it
// lasts until end is called, and then its Unlock returns what it returns after a
// real loss. opts are those of Lock. The end of the test closes its client.
func NewHold(t testing.TB, name string, opts ...rlock.AcquireOption) (hold *rlock.Hold, end func(error)) {
	t.Helper()
	ctx := context.Background()
	client, err := rlock.Open(ctx, "redis://nowhere", rlock.WithDialer(new(nowhere).dial))
	if err != nil {
		t.Fatalf("rlocktest: %v", err)
	}
	t.Cleanup(func() { client.Close() })
	lock := client.NewLock(name)
	hold, err = lock.Lock(ctx, opts...)
	if err != nil {
		t.Fatalf("rlocktest: %v", err)
	}
	return hold, func(with error) {
		t.Helper()
		var err error
		switch over := hold.Err() != nil; {
		case !slices.ContainsFunc(ends, func(one error) bool { return errors.Is(with, one) }):
			err = errors.New("a Hold ends with ErrLeaseLost, ErrClosed or ErrReleased")
		case over:
		case errors.Is(with, rlock.ErrLeaseLost):
			_, err = lock.ForceUnlock(ctx)
		case errors.Is(with, rlock.ErrClosed):
			err = client.Close()
		default:
			err = hold.Unlock(ctx)
		}
		if err != nil {
			t.Fatalf("rlocktest: end the hold with %v: %v", with, err)
		}
	}
}

var ends = []error{rlock.ErrLeaseLost, rlock.ErrClosed, rlock.ErrReleased}

// nowhere is a server with one lock, which has no name and at most one owner.
type nowhere struct {
	mu   sync.Mutex // guards held
	held bool
}

// dial makes a connection within the process.
func (n *nowhere) dial(context.Context, string, string) (net.Conn, error) {
	near, far := net.Pipe()
	go n.serve(far)
	return near, nil
}

// serve answers until the other end is closed. It reads commands as replies,
// which have the same form.
func (n *nowhere) serve(far net.Conn) {
	defer far.Close()
	commands := redis.NewConn(far, 0, 0)
	for {
		words, err := redis.Strings(commands.Receive())
		if err != nil {
			return
		}
		if _, err := far.Write([]byte(n.answer(words))); err != nil {
			return
		}
	}
}

// answer returns a server's reply.
func (n *nowhere) answer(words []string) string {
	switch words[0] {
	case "PING":
		return "+PONG\r\n"
	case "TYPE":
		return "+hash\r\n"
	case "EVALSHA":
		return n.run(words[1])
	}
	return "-ERR unknown command\r\n"
}

// run returns the reply of a script, which it knows by its SHA-1.
func (n *nowhere) run(sha1 string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	was := n.held
	n.held = sha1 == luasrc.LockScript.SHA1 || sha1 == luasrc.RenewScript.SHA1 && was
	switch {
	case sha1 == luasrc.LockScript.SHA1:
		return "$-1\r\n" // granted
	case sha1 == luasrc.RenewScript.SHA1 && was:
		return "*1\r\n:1\r\n"
	case sha1 == luasrc.RenewScript.SHA1:
		return "*1\r\n:0\r\n"
	case was:
		return ":1\r\n" // released
	}
	return "$-1\r\n" // was not held
}
