package pubsub

import (
	"context"
	"sync"
	"time"

	"github.com/rlock-go/redisson/internal/background"
	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/redisconn"
)

// Hub subscribes for many over one connection. All its methods may be called
// concurrently. Make it with [New]; it has no goroutine and no connection until
// the first Subscribe.
type Hub struct {
	dial DialFunc
	o    Options
	log  *eventlog.Conn

	life context.Context // ended by Close
	end  context.CancelFunc

	start   sync.Once      // of the hub's goroutine
	running sync.WaitGroup // that goroutine
	wake    chan struct{}  // cap 1: it should look at what follows
	redial  chan struct{}  // cap 1: it should dial anew

	// calls is held so that the goroutines that call Wakers keep the order Confirmed,
	// Message, Refused. It is taken before mu.
	calls sync.Mutex

	// mu guards all below and everything that says so. It is never held during
	// I/O or a Waker's method.
	mu       sync.Mutex
	channels map[key]*channel // those wanted, or that the server may have
	joined   []*Subscription  // came to a confirmed channel, not yet told
	conn     *conn            // the connection there is
}

// New returns a hub. It does nothing until the first Subscribe.
func New(dial DialFunc, o Options) *Hub {
	life, end := context.WithCancel(context.Background())
	o = o.withDefaults()
	return &Hub{
		dial:     dial,
		o:        o,
		log:      eventlog.NewConn(o.Logger, o.Name, "channels", o.Reconnected),
		life:     life,
		end:      end,
		wake:     make(chan struct{}, 1),
		redial:   make(chan struct{}, 1),
		channels: map[key]*channel{},
	}
}

// Subscribe asks for channel on behalf of w and returns at once. If there is
// no connection, it is made in the background. Confirmed follows from another
// goroutine, also if the channel is already confirmed for others. No method of
// w is called from inside Subscribe, so the caller may hold a lock that they
// take. Wakers of one channel are called in the order in which they
// subscribed.
//
// The result must be closed when w is done, even after Refused. On a closed
// hub nothing is ever called.
func (h *Hub) Subscribe(channel string, w Waker) *Subscription {
	return h.subscribe(key{name: channel}, w)
}

// SubscribeSharded is Subscribe for a sharded channel (SSUBSCRIBE, Redis 7 and
// newer), which the server must serve: see Options.SlotLost. It hears what is
// published by SPUBLISH only, as Subscribe hears PUBLISH only.
func (h *Hub) SubscribeSharded(channel string, w Waker) *Subscription {
	return h.subscribe(key{channel, true}, w)
}

func (h *Hub) subscribe(k key, w Waker) *Subscription {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := &Subscription{w: w, hub: h}
	if h.closed() {
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
		background.Signal(h.wake)
	}
	return s
}

// Close ends all subscriptions and the connection. It returns when every
// goroutine of the hub has ended and the connection is closed, or back in its pool
// with nothing subscribed: at once, or after a round trip if it was borrowed, or
// after about Options.Timeout if the server is silent. No Waker is called
// afterwards. It is idempotent, each call waits, and the error is always nil. It must
// not be called by a Waker or with a lock held that a Waker takes.
func (h *Hub) Close() error {
	h.mu.Lock()
	h.end()
	h.mu.Unlock()
	h.running.Wait()
	h.log.Close()
	return nil
}

// closed tells whether Close was called. It does not change while mu is held.
func (h *Hub) closed() bool { return h.life.Err() != nil }

// Redial gives up the connection, or the attempt to make one, because its
// server is no longer the one to listen to. It makes another connection if
// somebody waits. Every waiter is called Confirmed again. It returns at once.
func (h *Hub) Redial() { background.Signal(h.redial) }

// Channels counts the channels that somebody wants or that the server may
// still have for this hub. It is 0 when nobody waits and every UNSUBSCRIBE was
// answered, and after Close.
func (h *Hub) Channels() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.channels)
}

// run is the hub's goroutine: it connects while somebody waits.
func (h *Hub) run() {
	b := redisconn.Backoff{First: min(50*time.Millisecond, h.o.MaxRetry), Last: h.o.MaxRetry}
	var notBefore time.Time
	for h.life.Err() == nil {
		select {
		case <-time.After(time.Until(notBefore)):
		case <-h.redial: // to another server, which has not failed
			b.Reset()
		case <-h.life.Done():
			continue
		}
		if h.Channels() == 0 {
			select {
			case <-h.wake:
			case <-h.life.Done():
			}
			continue
		}
		c, err := h.connect()
		if c != nil && time.Since(c.startedAt) >= h.o.MaxRetry {
			// It worked for a while, whatever ended it.
			b.Reset()
		}
		// One that a pool lent may have been dead already.
		stale := c != nil && !c.rc.Dialled() && c.lastHeard.Load() == 0
		if !stale || !b.Stale() {
			notBefore = time.Now().Add(b.Next())
		}
		if err != nil {
			h.note(err, c != nil)
		}
	}
	h.mu.Lock()
	clear(h.channels)
	h.mu.Unlock()
}

// connect dials and serves the connection until it ends, and closes it. The error says
// why it ended. Without a connection the dialling failed.
func (h *Hub) connect() (*conn, error) {
	h.log.Missed()
	select {
	case <-h.redial: // which was about what there was before
	default:
	}
	ctx, cancel := context.WithTimeout(h.life, h.o.Timeout)
	rc, err := h.dial(ctx)
	cancel()
	if err != nil {
		if h.o.Permanent(err) {
			h.refuseUnconfirmed(err)
		}
		return nil, err
	}
	c := &conn{
		Hub:       h,
		rc:        &redisconn.Owned{Conn: rc},
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
	h.conn, h.joined = nil, nil // the next confirmation tells them
	for _, ch := range h.channels {
		ch.lost()
		h.reconcile(ch)
	}
	h.mu.Unlock()
	// Nobody else uses conn now, which is what closing a borrowed one needs: the
	// pool talks to the server on it. Its error is about a connection that has
	// been reported already or that is no longer needed.
	c.rc.Release()
	return c, err
}

// note tells why there is no connection.
func (h *Hub) note(err error, was bool) {
	n := h.Channels()
	switch {
	case h.closed():
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
