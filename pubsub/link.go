package pubsub

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gomodule/redigo/redis"
)

// link is one connection and what is under way on it.
type link struct {
	hub  *Hub
	conn redis.Conn

	write chan struct{} // cap 1: the writer should look
	quit  chan struct{} // closed: the writer should end
	ended chan error    // cap 2: how the reader and the writer ended
	again chan struct{} // cap 1: the hub should dial anew

	begun time.Time
	heard atomic.Int64 // when the server last said something, since begun

	// Guarded by hub.mu.
	marked     []*channel // whose wishes may differ from what was sent
	unanswered []command  // in the order sent
	progress   time.Time  // when the queue was last empty or shortened
	pinged     bool       // a PING is in the queue
	leaving    bool       // the farewell follows when nothing is marked
	parting    bool       // the farewell is in the queue
}

var (
	errStalled = errors.New("pubsub: the server leaves a command unanswered")
	errClosed  = errors.New("pubsub: closed")
	errRedial  = errors.New("pubsub: asked to dial anew")
)

func newLink(h *Hub, conn redis.Conn) *link {
	return &link{
		hub:   h,
		conn:  conn,
		write: make(chan struct{}, 1),
		quit:  make(chan struct{}),
		ended: make(chan error, 2),
		again: make(chan struct{}, 1),
		begun: time.Now(),
	}
}

// serve subscribes what is wanted, serves the connection until it fails or the
// hub is closed, and closes it. The error says why it ended. redials is how
// often the hub had been asked to dial anew when this connection was dialled.
func (l *link) serve(redials int) error {
	var both sync.WaitGroup
	l.attach(redials)
	both.Go(func() { l.ended <- l.readAll() })
	both.Go(func() {
		if err := l.writeAll(); err != nil {
			l.ended <- err
		}
	})

	err := l.watch()
	if err != nil {
		interrupt(l.conn)
	}
	close(l.quit)
	both.Wait()
	l.detach()
	// Nobody else uses conn now, which is what closing a borrowed one needs: the
	// pool talks to the server on it. Its error is about a connection that has
	// been reported already or that is no longer needed.
	_ = l.conn.Close()
	return err
}

// watch returns when the connection is over: an error if it must be broken off,
// nil if both sides have said farewell.
func (l *link) watch() error {
	h := l.hub
	tick := time.NewTicker(h.o.Timeout / 2)
	defer tick.Stop()
	closing := h.life.Done()
	var overdue <-chan time.Time
	for {
		select {
		case err := <-l.ended:
			return err
		case <-h.wake:
			h.tellJoined()
		case <-l.again:
			return errRedial
		case <-closing:
			if _, ok := l.conn.(Interrupter); ok {
				return errClosed
			}
			closing = nil
			overdue = time.After(h.o.Timeout)
			l.part()
		case <-overdue:
			return errClosed
		case <-tick.C:
			if l.stalled() {
				return errStalled
			}
		}
	}
}

// attach makes l the hub's connection and marks all channels.
func (l *link) attach(redials int) {
	h := l.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	h.link = l
	if h.redials != redials {
		signal(l.again) // it was dialled before
	}
	for _, c := range h.channels {
		l.mark(c)
	}
}

// detach takes l from the hub, which forgets what it sent.
func (l *link) detach() {
	h := l.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	h.link = nil
	h.joined = nil // the next confirmation tells them
	for _, c := range h.channels {
		c.lost()
		h.settle(c)
	}
}

// part marks all channels, which nobody wants now that the hub is closed; the
// farewell follows.
func (l *link) part() {
	h := l.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.channels {
		l.mark(c)
	}
	l.leaving = true
	signal(l.write)
}

// stalled catches a server that talks but does not answer; one that is
// silent ends the reader.
func (l *link) stalled() bool {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	return len(l.unanswered) > 0 && time.Since(l.progress) > l.hub.o.Timeout
}

// stale: the connection was not dialled for the hub, and was dead when it came.
func (l *link) stale() bool {
	_, own := l.conn.(Interrupter)
	return !own && l.heard.Load() == 0
}

// silence is how long the server has said nothing.
func (l *link) silence() time.Duration {
	return time.Since(l.begun) - time.Duration(l.heard.Load())
}

// sawWord notes that the server lives.
func (l *link) sawWord() {
	first := l.heard.Swap(int64(time.Since(l.begun))) == 0
	if !first {
		return
	}
	h := l.hub
	h.mu.Lock()
	h.err = nil
	h.mu.Unlock()
	h.log.Connected()
}

// violation is an answer that no server gives: the connection can't be trusted.
func violation(format string, args ...any) error {
	return fmt.Errorf("pubsub: unexpected answer: "+format, args...)
}
