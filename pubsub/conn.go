package pubsub

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// conn is one connection and the commands in flight on it.
type conn struct {
	*Hub // its hub
	rc   *redisconn.Owned

	queue queue
	quit  chan struct{} // closed to end the writer
	ended chan error    // cap 2: how the reader and the writer ended; the first is the cause

	// Used by the reader.
	sharded shardedMessage
	worked  bool // a reply without an error was received

	startedAt time.Time
	lastHeard atomic.Int64 // when the server last said something, since begun
}

// serve subscribes the wanted channels and serves the connection until it fails or
// the hub is closed. The error says why it ended.
func (c *conn) serve() error {
	defer context.AfterFunc(c.life, c.rc.Interrupt)()
	var writer sync.WaitGroup
	writer.Go(func() {
		c.ended <- c.writeAll()
		c.rc.Interrupt()
	})
	c.ended <- c.readAll()
	close(c.quit)
	c.rc.Interrupt()
	writer.Wait()
	return <-c.ended
}
