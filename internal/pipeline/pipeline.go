package pipeline

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/redisconn"
)

// The pause between attempts doubles between these. A request waits for a
// command timeout, so the last is shortened to give it more than one attempt.
const (
	firstBackoff     = 10 * time.Millisecond
	lastBackoff      = time.Second
	shortLastBackoff = 100 * time.Millisecond
)

// Options are a Pipeline's settings.
type Options struct {
	Timeout  time.Duration  // how long one command may take
	Clock    clock.Clock    // of Request.Sent
	Replicas bool           // ask each connection how many replicas there are, for Request.Wait
	Fixed    bool           // it is for one server of a cluster, which takes no DEL of two slots, and whose address another server may get (see Doubted)
	Spare    bool           // what finds no connection ends with ErrGone, to go to the sibling
	Log      *eventlog.Conn // of its connections
	Node     Node           // that it asks and tells
	Share    *Replicas      // the count of replicas, the same for siblings; nil: one of its own
}

// Pipeline is safe for concurrent use.
type Pipeline struct {
	link    *redisconn.Link // used while no connection is in use
	o       Options
	sibling *Pipeline             // to the same server, see sibling.go; nil: there is none
	tally   atomic.Pointer[tally] // of the last connection; nil: replicas are not counted
	stop    context.CancelFunc
	ctx     context.Context // ended by Close, with mu held
	wg      sync.WaitGroup

	mu         sync.Mutex // guards everything below
	queue      queue
	spares     [][]*Request // backing arrays of former batches
	conn       *conn        // nil while not connected
	dialling   bool
	releasing  bool     // a connection that ended has not given its connection back yet
	replaced   bool     // the last connection was given up, see Retire, or its server was a replica
	server     server   // of the last connection
	listener   Listener // of changes
	closing    bool     // Close has begun
	over       error    // why nothing more is queued; nil while requests are
	batches    uint64
	discards   []any         // keys
	discard    *time.Timer   // has them sent
	discardNow bool          // the discards have waited long enough
	refused    bool          // the last DEL was, for now
	lastSent   time.Duration // the last Request.Sent
	loads      map[*luasrc.Script]*load
	barriers   []*killBarrier // of broken connections, not decided yet
	lastErr    error          // why the last attempt to connect failed
	failedAt   time.Duration  // when it did
}

// load is what is known of a script's SCRIPT LOAD.
type load struct {
	queued bool   // waiting to be sent; whatever is queued behind it will find the script
	batch  uint64 // the batch that the last one went with
	err    error  // what the server said to it
}

// New makes a pipeline that connects at its first request.
func New(dial func(context.Context) (redis.Conn, error), o Options) *Pipeline {
	o.Share = cmp.Or(o.Share, new(Replicas))
	p := &Pipeline{o: o, loads: map[*luasrc.Script]*load{}}
	p.link = redisconn.NewLink(dial, o.Timeout, redisconn.Backoff{First: firstBackoff, Last: min(lastBackoff, max(shortLastBackoff, o.Timeout/3))})
	p.ctx, p.stop = context.WithCancel(context.Background())
	p.discard = time.AfterFunc(time.Hour, p.discardDue)
	p.discard.Stop() // until there are some
	return p
}

// Err tells why there is no connection: the last attempt's error, or nil.
func (p *Pipeline) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lastErr
}
