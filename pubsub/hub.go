package pubsub

import (
	"context"
	"sync"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/redisconn"
)

// Hub subscribes for many waiters over one connection. All its methods may be
// called concurrently. Make it with [New]; it has no goroutine and no connection
// until the first Subscribe.
type Hub struct {
	link *redisconn.Link
	o    Options
	log  *eventlog.Conn

	life context.Context // ended by Close
	end  context.CancelFunc

	start   sync.Once      // starts the hub's goroutine
	running sync.WaitGroup // counts that goroutine
	wake    chan struct{}  // cap 1: wakes that goroutine, or the connection's writer, after Subscribe

	// calls is held while Wakers are called, to keep the order Confirmed, Message,
	// Refused. It is locked before mu.
	calls sync.Mutex

	// mu guards all below, and every field whose comment says so. It is never held
	// during I/O or a Waker's method.
	mu       sync.Mutex
	channels map[key]*channel // those with waiters, or that may still be subscribed
	joined   []*Subscription  // joined a confirmed channel; Confirmed is still to be called
	conn     *conn            // the current connection; may be nil
}

// New returns a hub. It does nothing until the first Subscribe.
func New(dial DialFunc, o Options) *Hub {
	life, end := context.WithCancel(context.Background())
	o = o.withDefaults()
	return &Hub{
		link:     redisconn.NewLink(dial, o.Timeout, redisconn.Backoff{First: min(50*time.Millisecond, o.MaxRetry), Last: o.MaxRetry}),
		o:        o,
		log:      eventlog.NewConn(o.Logger, o.Name, "channels", o.Reconnected),
		life:     life,
		end:      end,
		wake:     make(chan struct{}, 1),
		channels: map[key]*channel{},
	}
}

// Subscribe asks for channel on behalf of w and returns at once. If there is
// no connection, one is made in the background. Another goroutine then calls
// Confirmed, even if the channel is already confirmed for others. Subscribe calls
// no method of w itself, so its caller may hold a lock that these methods take.
// Wakers of one channel are called in the order in which they subscribed.
//
// The caller must close the result when w is done, even after Refused. On a closed
// hub no method of w is ever called.
func (h *Hub) Subscribe(channel string, w Waker) *Subscription {
	return h.subscribe(key{name: channel}, w)
}

// SubscribeSharded is Subscribe for a sharded channel (SSUBSCRIBE, Redis 7 and
// newer), which the server must serve: see Options.SlotLost. It receives only what
// SPUBLISH publishes, as Subscribe receives only what PUBLISH does.
func (h *Hub) SubscribeSharded(channel string, w Waker) *Subscription {
	return h.subscribe(key{channel, true}, w)
}

func (h *Hub) subscribe(k key, w Waker) *Subscription {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := &Subscription{w: w, hub: h}
	if h.life.Err() != nil {
		s.state.Store(closed)
		return s
	}
	if s.ch = h.channels[k]; s.ch == nil {
		s.ch = &channel{key: k}
		h.channels[k] = s.ch
	}
	s.ch.subs = append(s.ch.subs, s)
	s.ch.live++
	h.reconcile(s.ch)
	h.start.Do(func() { h.running.Go(h.run) })
	if s.ch.confirmed {
		h.joined = append(h.joined, s)
	}
	if s.ch.confirmed || h.conn == nil {
		clock.Signal(h.wake)
	}
	return s
}

// Close ends all subscriptions and the connection. It returns when every goroutine of
// the hub has ended and the connection is closed. No Waker is called afterwards. Close is
// idempotent, every call waits, and the error is always nil. It must not be called by a
// Waker, or with a lock held that a Waker takes.
func (h *Hub) Close() error {
	h.mu.Lock()
	h.end()
	h.mu.Unlock()
	h.running.Wait()
	h.log.Close()
	return nil
}

// closed tells whether Close was called. It does not change while mu is held.

// Redial replaces the connection, or the one that is being made, because its server
// is no longer the right one. If the hub pauses before it dials, it dials at once. If
// there are waiters, Confirmed is called again for each of them. Redial returns at once.
func (h *Hub) Redial() { clock.Signal(h.link.Retried) }

// Channels counts the channels that have waiters or may still be subscribed for this
// hub. It is 0 when there are no waiters and every UNSUBSCRIBE was answered, and
// after Close.
func (h *Hub) Channels() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.channels)
}

// run is the hub's goroutine: it connects while there are channels.
func (h *Hub) run() {
	for h.link.Await(h.life) {
		if h.Channels() == 0 {
			select {
			case <-h.wake:
			case <-h.life.Done():
			}
			continue
		}
		c, err := h.connect()
		h.note(err, c != nil)
		if c == nil {
			continue
		}
		if time.Since(c.startedAt) >= h.o.MaxRetry {
			h.link.Worked() // it lasted, whatever ended it
		}
		// A pool's connection may have been dead before.
		h.link.Failed(!c.rc.Dialled() && c.lastHeard.Load() == 0)
	}
	h.mu.Lock()
	clear(h.channels)
	h.mu.Unlock()
}

// connect dials, serves the connection until it ends, and closes it. The error says why
// it ended. If connect returns no connection, dialling failed.
func (h *Hub) connect() (*conn, error) {
	h.log.Missed()
	rc, _, err := h.link.Open(h.life, func(*redisconn.Owned) error { return nil })
	if err != nil {
		if h.o.Permanent(err) {
			h.refuseUnconfirmed(err)
		}
		return nil, err
	}
	c := &conn{
		Hub:       h,
		rc:        rc,
		queue:     queue{write: make(chan struct{}, 1)},
		quit:      make(chan struct{}),
		ended:     make(chan error, 2),
		startedAt: time.Now(),
	}
	h.mu.Lock()
	h.conn = c
	for _, ch := range h.channels {
		h.mark(ch)
	}
	h.mu.Unlock()
	err = c.serve()
	h.mu.Lock()
	h.conn, h.joined = nil, nil // confirm calls Confirmed for joined on the next connection
	var lost []*Subscription
	for _, ch := range h.channels {
		if ch.confirmed {
			lost = append(lost, ch.subs...)
		}
		ch.lost()
		h.reconcile(ch)
	}
	h.mu.Unlock()
	h.tellLost(lost)
	c.rc.Release()
	return c, err
}

// note logs and reports why there is no connection; was says whether there was one.
func (h *Hub) note(err error, was bool) {
	n := h.Channels()
	switch {
	case h.life.Err() != nil:
		return
	case !was:
		h.log.Failed(err)
	case n == 0:
		h.log.Idle(err)
	default:
		h.log.Missed()
		h.log.Lost(err, n)
	}
	if h.o.Trouble != nil && (!was || n > 0) {
		h.o.Trouble(err)
	}
}
