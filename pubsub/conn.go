package pubsub

import (
	"sync/atomic"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// conn is one connection and what is under way on it.
type conn struct {
	hub *Hub
	rc  *redisconn.Owned

	write  chan struct{} // cap 1: the writer should look
	quit   chan struct{} // closed: the writer should end
	ended  chan error    // cap 2: how the reader and the writer ended
	redial chan struct{} // cap 1: the hub should dial anew

	half half // the reader's

	startedAt time.Time
	lastHeard atomic.Int64 // when the server last said something, since begun

	// Guarded by hub.mu.
	marked        []*channel // whose wishes may differ from what was sent
	unanswered    []command  // in the order sent
	progress      time.Time  // when the queue was last empty or shortened
	lookDue       bool       // some channel is to be asked for again
	pinged        bool       // a PING is in the queue
	closing       bool       // the final PING follows when nothing is marked
	finalPingSent bool       // the final PING is in the queue
}

func newConn(h *Hub, rc redis.Conn) *conn {
	return &conn{
		hub:       h,
		rc:        &redisconn.Owned{Conn: rc},
		write:     make(chan struct{}, 1),
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
	first := c.lastHeard.Swap(int64(time.Since(c.startedAt))) == 0
	if !first {
		return
	}
	h := c.hub
	h.mu.Lock()
	h.err = nil
	h.mu.Unlock()
	h.log.Connected()
}
