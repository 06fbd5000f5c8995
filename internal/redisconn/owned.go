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

// Owned is a connection while a pipeline or a hub uses it. It was dialled for that
// user, or borrowed from a pool, which drops it afterwards.
type Owned struct {
	Conn redis.Conn // the connection; used by its owner only

	mu       sync.Mutex // guards released; held while a borrowed connection is interrupted
	released bool
}

// interrupter is a connection that any goroutine may interrupt.
type interrupter interface{ Interrupt() }

// Dialled tells whether the connection is new and can be interrupted directly. Any
// other may be dead when it comes, or was used before.
func (o *Owned) Dialled() bool {
	_, ok := o.Conn.(interrupter)
	return ok
}

// Interrupt makes reads and writes fail, those in progress and all later ones.
// Any goroutine may call it, at any time, even after Release.
func (o *Owned) Interrupt() {
	if i, ok := o.Conn.(interrupter); ok {
		i.Interrupt()
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.released {
		return // it may have another user by now
	}
	// If redigo is asked to receive with a context whose deadline has passed, it
	// closes the socket without reading anything. This is the only way to end a
	// borrowed connection from outside.
	ctx, cancel := context.WithDeadline(context.Background(), time.Unix(0, 0))
	defer cancel()
	_, _ = redis.ReceiveContext(o.Conn, ctx) // the error is provoked here
}

// Release interrupts the connection and closes it, so that its pool drops it. Its
// subscriptions, tracking and unread replies end with it. Close's error is ignored,
// because the connection is no longer needed.
func (o *Owned) Release() {
	o.Interrupt()
	o.mu.Lock()
	o.released = true
	o.mu.Unlock()
	_ = o.Conn.Close()
}

// dead tells whether err is what the first use of a dead connection meets.
func dead(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
