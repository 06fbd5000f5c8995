package topology

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/pipeline"
	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/pubsub"
)

var errNoName = errors.New("it names no connection")

// invalidations is the channel on which a server reports changes of keys that the
// pipelines have read to the hub, see package pipeline. Each connection gets its own
// reports there.
const invalidations = "__redis__:invalidate"

// Tracker gets the changes of keys that a node's connections have read. Its methods must
// not block, and are called with no lock held.
type Tracker interface {
	Tracked(n *Node, changed bool) // changes are reported from now on; changed: all keys may have changed
	Changed(key []byte)            // this key has changed
	Untracked(n *Node, why error)  // changes are not reported until Tracked, which may never come
}

// tracking receives a node's reports of changes. It is the hub's Waker.
type tracking struct {
	n *Node

	mu       sync.Mutex        // guards what follows
	dialled  pipeline.Listener // the hub's last connection
	unnamed  error             // why that is not known
	tracker  Tracker           // nil: not tracking
	sub      *pubsub.Subscription
	works    bool          // changes are reported, as far as is known
	unknown  time.Time     // since when the server does not know the hub's connection; zero: it does, or Untracked was called
	patience time.Duration // how long the hub may take to reconnect
}

// named is dial for the hub: it also asks for the connection's id and address.
func (t *tracking) named(dial func(context.Context) (redis.Conn, error)) func(context.Context) (redis.Conn, error) {
	return func(ctx context.Context) (redis.Conn, error) {
		conn, err := dial(ctx)
		if err != nil {
			return nil, err
		}
		info, err := redis.String(redisconn.Do(ctx, conn, "CLIENT", "INFO"))
		t.mu.Lock()
		defer t.mu.Unlock()
		t.dialled = pipeline.ParseListener(info)
		t.unnamed = fmt.Errorf("the server did not answer CLIENT INFO: %w", cmp.Or(err, errNoName))
		return conn, nil
	}
}

// Track makes by the node's Tracker, unless it has one, and tells whether changes are
// reported already. It calls Untracked if the server has not known the hub's connection
// for longer than the hub may take to reconnect.
func (n *Node) Track(by Tracker) bool {
	t := &n.tracking
	t.mu.Lock()
	if t.sub == nil {
		t.tracker, t.sub = by, n.Hub.Subscribe(invalidations, t)
	}
	works, stays := t.works, !t.unknown.IsZero() && time.Since(t.unknown) > t.patience
	if stays {
		t.unknown = time.Time{}
	}
	t.mu.Unlock()
	if stays {
		by.Untracked(n, pipeline.ErrNoListener)
	}
	return works
}

// Untrack removes the Tracker.
func (n *Node) Untrack() {
	t := &n.tracking
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sub != nil {
		t.sub.Close()
		t.tracker, t.sub, t.works, t.unknown = nil, nil, false, time.Time{}
		for _, p := range n.pipes {
			p.SetListener(pipeline.Listener{})
		}
	}
}

// fails records that changes are not reported, as a pipeline or the hub has found. After
// pipeline.ErrNoListener it is still open whether the hub will reconnect, or a proxy
// leads it to another server for good: Track finds out. Other errors go to Untracked.
func (t *tracking) fails(why error) {
	passes := errors.Is(why, pipeline.ErrNoListener)
	t.mu.Lock()
	by := t.tracker
	t.works = false
	if passes && t.unknown.IsZero() {
		t.unknown = time.Now()
	}
	t.mu.Unlock()
	if by != nil && !passes {
		by.Untracked(t.n, why)
	}
}

// Confirmed makes the hub's new connection the one that gets the reports.
func (t *tracking) Confirmed() {
	t.mu.Lock()
	t.unknown = time.Time{}
	by, known, why := t.tracker, t.dialled != pipeline.Listener{}, t.unnamed
	if t.works = by != nil && known; t.works {
		for _, p := range t.n.pipes {
			p.SetListener(t.dialled)
		}
	}
	t.mu.Unlock()
	switch {
	case by == nil:
	case known:
		by.Tracked(t.n, false)
	default:
		by.Untracked(t.n, why)
	}
}

// Message passes a key on; nil: all.
func (t *tracking) Message(key []byte) {
	t.mu.Lock()
	by := t.tracker
	t.mu.Unlock()
	switch {
	case by == nil:
	case key == nil:
		by.Tracked(t.n, true)
	default:
		by.Changed(key)
	}
}

// Refused records that the hub will get no reports.
func (t *tracking) Refused(err error) { t.fails(err) }
