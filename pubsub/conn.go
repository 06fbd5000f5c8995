package pubsub

import (
	"sync/atomic"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/redisconn"
)

// conn is one connection and what is under way on it.
type conn struct {
	rc     *redisconn.Owned
	tables *tables
	wakers *dispatcher
	o      Options
	log    *eventlog.Conn

	queue  queue
	quit   chan struct{} // closed: the writer should end
	ended  chan error    // cap 2: how the reader and the writer ended
	redial chan struct{} // cap 1: the hub should dial anew

	half half // the reader's

	startedAt time.Time
	lastHeard atomic.Int64 // when the server last said something, since begun

	// Guarded by tables.mu.
	lookDue bool // some channel is to be asked for again
	pinged  bool // a PING is in the queue
}

func newConn(rc redis.Conn, t *tables, wakers *dispatcher, o Options, log *eventlog.Conn) *conn {
	return &conn{
		rc:     &redisconn.Owned{Conn: rc},
		tables: t, wakers: wakers, o: o, log: log,
		queue:     queue{write: make(chan struct{}, 1)},
		quit:      make(chan struct{}),
		ended:     make(chan error, 2),
		redial:    make(chan struct{}, 1),
		startedAt: time.Now(),
	}
}

// stale tells that the connection was not dialled for the hub and was dead
// already.
func (c *conn) stale() bool {
	return !c.rc.Dialled() && c.lastHeard.Load() == 0
}

// silence is how long the server has sent nothing.
func (c *conn) silence() time.Duration {
	return time.Since(c.startedAt) - time.Duration(c.lastHeard.Load())
}

// serverAnswered records that the server sent something.
func (c *conn) serverAnswered() {
	if first := c.lastHeard.Swap(int64(time.Since(c.startedAt))) == 0; first {
		c.log.Connected(redisconn.Place(c.rc.Conn))
	}
}
