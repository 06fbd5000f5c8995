package pubsub

import (
	"errors"
	"fmt"
	"sync"
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

var (
	errStalled = errors.New("pubsub: the server leaves a command unanswered")
	errClosed  = errors.New("pubsub: closed")
	errRedial  = errors.New("pubsub: asked to dial anew")
)

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

// serve subscribes what is wanted, serves the connection until it fails or the
// hub is closed, and closes it. The error says why it ended. redials is how
// often the hub had been asked to dial anew when this connection was dialled.
func (c *conn) serve(redials int) error {
	var both sync.WaitGroup
	c.attach(redials)
	both.Go(func() { c.ended <- c.readAll() })
	both.Go(func() {
		if err := c.writeAll(); err != nil {
			c.ended <- err
		}
	})

	err := c.watch()
	if err != nil {
		c.rc.Interrupt()
	}
	close(c.quit)
	both.Wait()
	c.detach()
	// Nobody else uses conn now, which is what closing a borrowed one needs: the
	// pool talks to the server on it. Its error is about a connection that has
	// been reported already or that is no longer needed.
	c.rc.Release()
	return err
}

// watch returns when the connection is over. It returns an error if the
// connection must be broken off, and nil if reader and writer have finished.
func (c *conn) watch() error {
	h := c.hub
	tick := time.NewTicker(h.o.Timeout / 2)
	defer tick.Stop()
	closing := h.life.Done()
	var overdue <-chan time.Time
	for {
		select {
		case err := <-c.ended:
			return err
		case <-h.wake:
			h.tellJoined()
		case <-c.redial:
			return errRedial
		case <-closing:
			if c.rc.Dialled() {
				return errClosed
			}
			closing = nil
			overdue = time.After(h.o.Timeout)
			c.unsubscribeAll()
		case <-overdue:
			return errClosed
		case <-tick.C:
			if c.stalled() {
				return errStalled
			}
			c.lookAgain()
		}
	}
}

// attach makes l the hub's connection and marks all channels.
func (c *conn) attach(redials int) {
	h := c.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	h.conn = c
	if h.redials != redials {
		signal(c.redial) // it was dialled before
	}
	for _, ch := range h.channels {
		c.mark(ch)
	}
}

// detach removes c from the hub, which forgets what it sent.
func (c *conn) detach() {
	h := c.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	h.conn = nil
	h.joined = nil // the next confirmation tells them
	for _, ch := range h.channels {
		ch.lost()
		h.reconcile(ch)
	}
}

// unsubscribeAll marks all channels, which nobody wants now that the hub is
// closed. The final PING follows.
func (c *conn) unsubscribeAll() {
	h := c.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, ch := range h.channels {
		c.mark(ch)
	}
	c.closing = true
	signal(c.write)
}

// stalled detects a server that sends something but does not answer. A silent
// server ends the reader.
func (c *conn) stalled() bool {
	c.hub.mu.Lock()
	defer c.hub.mu.Unlock()
	return len(c.unanswered) > 0 && time.Since(c.progress) > c.hub.o.Timeout
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

// violation is an answer that no server gives. The connection can't be trusted.
func violation(format string, args ...any) error {
	return fmt.Errorf("pubsub: unexpected answer: "+format, args...)
}
