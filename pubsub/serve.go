package pubsub

import (
	"errors"
	"sync"
	"time"
)

var (
	errStalled = errors.New("pubsub: the server leaves a command unanswered")
	errClosed  = errors.New("pubsub: closed")
	errRedial  = errors.New("pubsub: asked to dial anew")
)

// serve subscribes what is wanted, serves the connection until it fails or the
// hub is closed, which closing tells. The error says why it ended.
func (c *conn) serve(closing <-chan struct{}) error {
	var both sync.WaitGroup
	both.Go(func() { c.ended <- c.readAll() })
	both.Go(func() {
		if err := c.writeAll(); err != nil {
			c.ended <- err
		}
	})

	err := c.watch(closing)
	if err != nil {
		c.rc.Interrupt()
	}
	close(c.quit)
	both.Wait()
	return err
}

// watch returns when the connection is over. It returns an error if the
// connection must be broken off, and nil if reader and writer have finished.
func (c *conn) watch(closing <-chan struct{}) error {
	tick := time.NewTicker(c.o.Timeout / 2)
	defer tick.Stop()
	var overdue <-chan time.Time
	for {
		select {
		case err := <-c.ended:
			return err
		case <-c.tables.wake:
			c.wakers.tellJoined()
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
	t := c.tables
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, ch := range t.channels {
		t.mark(ch)
	}
	c.queue.closing = true
	signal(c.queue.write)
}

// stalled detects a server that sends something but does not answer. A silent
// server ends the reader.
func (c *conn) stalled() bool {
	c.tables.mu.Lock()
	defer c.tables.mu.Unlock()
	return len(c.queue.unanswered) > 0 && time.Since(c.queue.progress) > c.o.Timeout
}
