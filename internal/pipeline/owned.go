package pipeline

import (
	"context"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"
)

// owned is a connection while the pipeline has it.
type owned struct {
	rc        redis.Conn
	releaseMu sync.Mutex // guards gone; held while a borrowed connection is broken off
	released  bool
}

// interrupter is a connection that any goroutine may break off.
type interrupter interface{ Interrupt() }

// interrupt makes reads and writes fail. Any goroutine may call it, at any
// time.
func (o *owned) interrupt() {
	if i, ok := o.rc.(interrupter); ok {
		i.Interrupt()
		return
	}
	o.releaseMu.Lock()
	defer o.releaseMu.Unlock()
	if o.released {
		return // it may be somebody else's by now
	}
	// redigo closes the socket of a connection that is asked to receive when
	// the time for it is over.
	ctx, cancel := context.WithDeadline(context.Background(), time.Unix(0, 0))
	defer cancel()
	_, _ = redis.ReceiveContext(o.rc, ctx) // the error is the one just provoked
}

// close closes the connection, or gives it back.
func (o *owned) close() {
	o.releaseMu.Lock()
	o.released = true
	o.releaseMu.Unlock()
	_ = o.rc.Close()
}
