package pipeline

import (
	"cmp"
	"context"
	"log/slog"
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
	Timeout  time.Duration // how long one command may take
	Clock    clock.Clock   // of Request.Sent
	Replicas bool          // ask each connection how many replicas there are, for Request.Wait
	Fixed    bool          // it is for one server of several, whose address may be given to another (see Doubted), and which takes no DEL of two slots. Else for whoever is the master
	Logger   *slog.Logger  // nil: silent
	Carries  string        // what the log calls its connections. Default is "commands"

	// Stays tells whether the master is in its place, by the word of those who could
	// replace it; gone are replicas that it had, and has no longer. It blocks for
	// a second at the most. Known are the replicas that they know; it must not
	// block. With both, the count is kept as replicacount.go says; nil: nobody can be
	// asked. Share is the count, of twins the same; nil: one of its own.
	Stays func(ctx context.Context, gone []string) bool
	Known func() []string
	Share *Replicas

	// Usable tells whether a server is one to talk to; an error with a
	// redisconn.ReplicaError is asked again. Default is Server.Usable.
	Usable func(redisconn.Server) error

	// Elsewhere is given the keys of a DEL that the server does not serve any
	// more. It must not block. Default leaves them to their TTL.
	Elsewhere func(key any)

	// Ended is called when a connection that was in use is over, but for Close;
	// nil: nobody wants to know. Replaced is called when there is a connection
	// again after one that was given up, or not used at all, because its server
	// is not, or no longer, the one to talk to, or when it has another server
	// than the one before. Trouble is called when a connection can't be had. None
	// may block; all may queue requests. Each may be nil.
	Ended    func()
	Replaced func()
	Trouble  func(error)

	// Led is told where each connection leads, before anything is sent on it; nil:
	// nobody wants to know. It must not block.
	Led func(server string)

	// Reconnected is told each connection that takes the place of another, and for how
	// long there was none; nil: nobody counts. It must not block.
	Reconnected func(server string, down time.Duration)

	// Untracked is told why the server does not tell of changes, once for each SetListener
	// and connection. It must not block; nil: nobody wants to know.
	Untracked func(error)

	// Twin is a pipeline to the same server, see twin.go; nil: there is none. With
	// Spare, what finds no connection here ends with ErrGone, to go there.
	Twin  func() *Pipeline
	Spare bool

	log *eventlog.Conn
}

// Pipeline is safe for concurrent use.
type Pipeline struct {
	dial  func(context.Context) (redis.Conn, error)
	o     Options
	tally atomic.Pointer[tally] // of the last connection; nil: replicas are not counted
	stop  context.CancelFunc
	ctx   context.Context // ended by Close, with mu held
	wg    sync.WaitGroup
	retry chan struct{} // cap 1: the pause between attempts to connect is to end

	mu         sync.Mutex // guards everything below
	queue      queue
	spares     [][]*Request // backing arrays of former batches
	conn       *conn        // nil while not connected
	dialling   bool
	releasing  bool              // a connection that ended has not given its connection back yet
	backoff    time.Duration     // before the next connection: those before were of no use
	useless    redisconn.Backoff // what spaces those
	replaced   bool              // the last connection was given up, see Retire, or its server was a replica
	server     server            // of the last connection
	listener   Listener          // of changes
	closing    bool              // Close has begun
	over       error             // why nothing is queued any more; nil while it is
	batches    uint64
	discards   []any       // keys
	discard    *time.Timer // has them sent
	discardNow bool        // the discards have waited long enough
	refused    bool        // the last DEL was, for now
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
	o.log = eventlog.NewConn(o.Logger, cmp.Or(o.Carries, "commands"), "unanswered", o.Reconnected)
	o.Share = cmp.Or(o.Share, new(Replicas))
	if o.Usable == nil {
		o.Usable = redisconn.Server.Usable
	}
	p := &Pipeline{dial: dial, o: o, retry: make(chan struct{}, 1), loads: map[*luasrc.Script]*load{}, useless: redisconn.Backoff{First: firstBackoff, Last: lastBackoff}}
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
