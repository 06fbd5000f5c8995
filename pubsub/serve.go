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
