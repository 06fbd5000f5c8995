package topology

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/pipeline"
	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/pubsub"
)

// invalidations is where a server tells the hub of changes of what the pipelines have
// read, see package pipeline. Each connection hears of its own there.
const invalidations = "__redis__:invalidate"

// Tracker is told of changes of what was read on a node's connections. Its methods must
// not block, and are called with no lock held.
type Tracker interface {
	Told(n *Node, changed bool) // of changes from now on, or all keys have changed
	Changed(key []byte)         // one key has
	Untold(n *Node, why error)  // changes are not told, until Told, which may never come
}

// tracking is how a node's hub hears of changes. It is the hub's Waker.
type tracking struct {
	n *Node

	mu       sync.Mutex        // guards what follows
	dialled  pipeline.Listener // the hub's last connection
	tracker  Tracker           // nil: nobody wants to know
	sub      *pubsub.Subscription
	works    bool          // as far as is known
	unknown  time.Time     // since when the server does not know the hub's connection; zero: that is not so, or was said
	patience time.Duration // with the hub, which may be about to have another one
}

// named is dial for the hub: it asks the server for its name of the connection.
func (t *tracking) named(dial func(context.Context) (redis.Conn, error)) func(context.Context) (redis.Conn, error) {
	return func(ctx context.Context) (redis.Conn, error) {
		conn, err := dial(ctx)
		if err != nil {
			return nil, err
		}
		info, _ := redis.String(redisconn.Do(ctx, conn, "CLIENT", "INFO"))
		t.mu.Lock()
		defer t.mu.Unlock()
		t.dialled = pipeline.ParseListener(info)
		return conn, nil
	}
}

// Track has t told of changes from now on, or soon: it reports whether the node tells.
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
		by.Untold(n, pipeline.ErrNoListener)
	}
	return works
}

// Untrack has nobody told.
func (n *Node) Untrack() {
	t := &n.tracking
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sub != nil {
		t.sub.Close()
		t.tracker, t.sub, t.works, t.unknown = nil, nil, false, time.Time{}
		t.setListener(pipeline.Listener{})
	}
}

func (t *tracking) setListener(l pipeline.Listener) {
	for _, p := range t.n.pipes {
		p.SetListener(l)
	}
}

// fails takes a pipeline's word, or the hub's, that changes are not told. Where the
// listener is another server's, the hub is about to have another connection, or a proxy
// leads it elsewhere for good: see Track.
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
		by.Untold(t.n, why)
	}
}

// errUnnamed is why the server can't be asked to tell the hub.
var errUnnamed = errors.New("the server did not answer CLIENT INFO")

// Confirmed has the server tell the connection that the hub has now.
func (t *tracking) Confirmed() {
	t.mu.Lock()
	t.unknown = time.Time{}
	by, known := t.tracker, t.dialled != pipeline.Listener{}
	if t.works = by != nil && known; t.works {
		t.setListener(t.dialled)
	}
	t.mu.Unlock()
	switch {
	case by == nil:
	case known:
		by.Told(t.n, false)
	default:
		by.Untold(t.n, errUnnamed)
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
		by.Told(t.n, true)
	default:
		by.Changed(key)
	}
}

// Refused says that nothing will be heard.
func (t *tracking) Refused(err error) { t.fails(err) }
