package pipeline

import (
	"context"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"
)

// owned is a connection as long as it is the pipeline's.
type owned struct {
	conn   redis.Conn
	giving sync.Mutex // guards gone; held while a borrowed connection is broken off
	gone   bool
}

// interrupter is a connection that any goroutine may break off.
type interrupter interface{ Interrupt() }

// interrupt has whoever reads or writes go on with an error. Any goroutine may
// call it, at any time.
func (o *owned) interrupt() {
	if i, ok := o.conn.(interrupter); ok {
		i.Interrupt()
		return
	}
	o.giving.Lock()
	defer o.giving.Unlock()
	if o.gone {
		return // it may be somebody else's by now
	}
	// redigo closes the socket of a connection that is asked to receive when
	// the time for it is over.
	ctx, cancel := context.WithDeadline(context.Background(), time.Unix(0, 0))
	defer cancel()
	_, _ = redis.ReceiveContext(o.conn, ctx) // the error is the one just provoked
}

// close closes the connection, or gives it back.
func (o *owned) close() {
	o.giving.Lock()
	o.gone = true
	o.giving.Unlock()
	_ = o.conn.Close()
}
