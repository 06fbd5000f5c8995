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

// The pause between attempts doubles from firstBackoff to lastBackoff. A request waits
// for one command timeout, so a short timeout lowers the latter to a third of it, at
// least shortLastBackoff, to leave time for more than one attempt.
const (
	firstBackoff     = 10 * time.Millisecond
	lastBackoff      = time.Second
	shortLastBackoff = 100 * time.Millisecond
)

// Options are a Pipeline's settings.
type Options struct {
	Timeout  time.Duration  // how long one command may take
	Clock    clock.Clock    // of Request.Sent
	Replicas bool           // count the replicas on each connection, for Request.Wait
	Fixed    bool           // for one server of a cluster: it takes no DEL of two slots, and another server may get its address (see Doubted)
	Spare    bool           // requests that find no connection end with ErrGone, to go to the sibling
	Log      *eventlog.Conn // of its connections
	Node     Node           // answers questions about servers, takes reports
	Share    *Replicas      // the count of replicas, shared by siblings; nil: not shared

	// Refused logs that the account may not send a command; nil: nothing does. It may be called with
	// mu held if there is an out.
	Refused func(out eventlog.Outside, server, command string, err error)
}

// Pipeline is safe for concurrent use.
type Pipeline struct {
	link    *redisconn.Link // opens connections; used while none is in use
	o       Options
	sibling *Pipeline             // to the same server, see sibling.go; may be nil
	tally   atomic.Pointer[tally] // of the last connection; nil: replicas are not counted
	stop    context.CancelFunc
	ctx     context.Context // ended by Close, with mu held
	wg      sync.WaitGroup

	mu         sync.Mutex // guards everything below
	queue      queue
	spares     [][]*Request // backing arrays of former batches
	conn       *conn        // nil while not connected
	dialling   bool
	ending     *conn    // the last connection: it takes no more batches, and is not released yet; nil: none
	replaced   bool     // the last connection was given up, see Retire, or its server was a replica
	server     server   // of the last connection
	listener   Listener // of changes
	closing    bool     // Close has begun
	over       error    // why requests are refused; nil while they are accepted
	batches    uint64
	discards   []any         // keys to delete
	discard    *time.Timer   // sends the discards
	discardNow bool          // the discards have waited long enough
	refused    bool          // the server refused the last DEL for now
	lastSent   time.Duration // the last Request.Sent
	loads      map[*luasrc.Script]*load
	barriers   []*killBarrier // of broken connections, not reported yet
	lastErr    error          // why the last attempt to connect failed, or why the connection was given up
	failedAt   time.Duration  // when the last attempt failed
}

// load is what is known of a script's SCRIPT LOAD.
type load struct {
	queued     bool   // waits to be sent; every request queued behind it finds the script
	batch      uint64 // the batch with the last SCRIPT LOAD
	err        error  // the server's answer to that
	notAllowed bool   // the server refused it, and always will
}

// New makes a pipeline that connects at its first request.
func New(dial func(context.Context) (redis.Conn, error), o Options) *Pipeline {
	o.Share = cmp.Or(o.Share, new(Replicas))
	p := &Pipeline{o: o, loads: map[*luasrc.Script]*load{}}
	p.link = redisconn.NewLink(dial, o.Timeout, redisconn.Backoff{First: firstBackoff, Last: min(lastBackoff, max(shortLastBackoff, o.Timeout/3))})
	p.ctx, p.stop = context.WithCancel(context.Background())
	p.discard = time.AfterFunc(time.Hour, p.discardDue)
	p.discard.Stop() // Discard sets it
	return p
}

// Err tells why there is no connection: the last attempt's error, or the cause for which the
// last connection was given up. It is nil once there is a connection.
func (p *Pipeline) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lastErr
}
