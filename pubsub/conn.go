package pubsub

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rlock-go/redisson/internal/background"
	"github.com/rlock-go/redisson/internal/redisconn"
)

// conn is one connection and what is under way on it.
type conn struct {
	*Hub // whose it is
	rc   *redisconn.Owned

	queue queue
	quit  chan struct{} // closed: the writer should end
	ended chan error    // cap 2: how the reader and the writer ended

	half half // the reader's

	startedAt time.Time
	lastHeard atomic.Int64 // when the server last said something, since begun
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

var (
	errStalled = errors.New("pubsub: the server leaves a command unanswered")
	errClosed  = errors.New("pubsub: closed")
	errRedial  = errors.New("pubsub: asked to dial anew")
)

// serve subscribes what is wanted, serves the connection until it fails or the
// hub is closed. The error says why it ended.
func (c *conn) serve() error {
	var both sync.WaitGroup
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
	return err
}

// watch returns when the connection is over. It returns an error if the
// connection must be broken off, and nil if reader and writer have finished.
func (c *conn) watch() error {
	tick := time.NewTicker(c.o.Timeout / 2)
	defer tick.Stop()
	closing := c.life.Done()
	var overdue <-chan time.Time
	for {
		select {
		case err := <-c.ended:
			return err
		case <-c.wake:
			c.tellJoined()
		case <-c.redial:
			return errRedial
		case <-closing:
			if c.rc.Dialled() {
				return errClosed
			}
			closing = nil
			overdue = time.After(c.o.Timeout)
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

// unsubscribeAll marks all channels, which nobody wants now that the hub is
// closed. The final PING follows.
func (c *conn) unsubscribeAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, ch := range c.channels {
		c.mark(ch)
	}
	c.queue.closing = true
	background.Signal(c.queue.write)
}

// stalled detects a server that sends something but does not answer. A silent
// server ends the reader.
func (c *conn) stalled() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.queue.unanswered) > 0 && time.Since(c.queue.progress) > c.o.Timeout
}
