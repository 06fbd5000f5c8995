package redisconn

import (
	"context"
	"errors"
	"io"
	"sync"
	"syscall"
	"time"

	"github.com/gomodule/redigo/redis"
)

// Owned is a connection while one of this library's users has it: dialled for
// that user alone, or borrowed from a pool, which nobody borrows again.
type Owned struct {
	Conn redis.Conn // what it is; used by its user alone

	mu       sync.Mutex // guards released; held while a borrowed connection is broken off
	released bool
}

// interrupter is a connection that any goroutine may break off.
type interrupter interface{ Interrupt() }

// Dialled tells a connection that nobody had before and that can be
// interrupted. Any other may be dead when it comes, or have a history.
func (o *Owned) Dialled() bool {
	_, ok := o.Conn.(interrupter)
	return ok
}

// Interrupt makes reads and writes fail, those under way and all later ones.
// Any goroutine may call it, at any time.
func (o *Owned) Interrupt() {
	if i, ok := o.Conn.(interrupter); ok {
		i.Interrupt()
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.released {
		return // it may be somebody else's by now
	}
	// redigo closes the socket of a connection that is asked to receive with a
	// context whose deadline is over, before it reads anything. This is the one
	// way to end a borrowed connection from outside.
	ctx, cancel := context.WithDeadline(context.Background(), time.Unix(0, 0))
	defer cancel()
	_, _ = redis.ReceiveContext(o.Conn, ctx) // the error is the one just provoked
}

// Release interrupts the connection and closes it, so that its pool drops it: what is
// subscribed, tracked or unread on it ends with it. There is no error to
// return: nobody needs the connection now.
func (o *Owned) Release() {
	o.Interrupt()
	o.mu.Lock()
	o.released = true
	o.mu.Unlock()
	_ = o.Conn.Close()
}

// dead tells what the first use of a connection meets that was dead before.
func dead(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
