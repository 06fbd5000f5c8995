package pipeline

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/connlog"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/redisconn"
)

const (
	// maxInFlight is how many batches may await their replies. One leaves the
	// server idle while a batch is decoded; beyond four nothing is gained.
	maxInFlight = 4

	// maxDirect is how many commands or keys are too few to fill the buffer of an
	// idle connection. A renewal of a hundred locks is about ten kilobytes.
	maxDirect = 4

	// batchSplit is into how many batches the open requests are split, so that
	// some are at the server while others are here. Measured with 16 to 1,024
	// callers, two to four make 3 to 8 percent.
	batchSplit = 3

	// leastBatch is the size below which batches are not split.
	leastBatch = 4
)

// Options are a Pipeline's settings.
type Options struct {
	Timeout   time.Duration    // how long one command may take
	Clock     clock.Clock      // of Request.Sent
	Permanent func(error) bool // connection errors that trying again won't mend
	Replicas  bool             // ask each connection how many replicas there are, for Request.Wait
	Keep      bool             // the count never falls while the server stays the same, see replicas.go
	Alone     bool             // each DEL has one key: the server takes no two of different slots
	Fixed     bool             // it is for one server, whose address may be given to another: see Doubted. Else for whoever is the master
	Logger    *slog.Logger     // nil: silent
	Carries   string           // what the log calls its connections. Default is "commands"

	// Usable tells whether a server is one to talk to; an error with a
	// redisconn.ReplicaError is asked again. Default is Server.Usable.
	Usable func(redisconn.Server) error

	// Elsewhere is given the keys of a DEL that the server does not serve any
	// more. It must not block. Default leaves them to their TTL.
	Elsewhere func(key any)

	// Ended is called when a connection that was in use is over, but for Close;
	// nil: nobody wants to know. Moved is called when there is a connection
	// again after one that was given up, or not used at all, because its server
	// is not, or no longer, the one to talk to, or when it has another server
	// than the one before. Trouble is called when a connection can't be had. None
	// may block; all may queue requests. Each may be nil.
	Ended   func()
	Moved   func()
	Trouble func(error)

	// Twin is a pipeline to the same server, see twin.go; nil: there is none. With
	// Spare, what finds no connection here ends with ErrGone, to go there.
	Twin  func() *Pipeline
	Spare bool

	// UnderWay is shared by the pipelines of a client that has several nodes; nil: it has one.
	UnderWay *UnderWay

	log *connlog.Log
}

// Pipeline is safe for concurrent use.
type Pipeline struct {
	dial       func(context.Context) (redis.Conn, error)
	o          Options
	writerWake chan struct{}
	waits      atomic.Bool // there are replicas to wait for
	stop       context.CancelFunc
	ctx        context.Context
	wg         sync.WaitGroup

	mu         sync.Mutex // guards everything below
	queue      []*Request
	spares     [][]*Request // backing arrays of former queues
	conn       *conn        // nil while not connected
	dialling   bool
	releasing  bool              // a connection that ended has not given its connection back yet
	backoff    time.Duration     // before the next connection: those before were of no use
	useless    redisconn.Backoff // what spaces those
	moved      bool              // the last connection was given up, see Retire, or its server was a replica
	at         string            // the server's own address on the last connection
	most       int               // of its replicas, with Options.Keep
	fewer      time.Duration     // since when there are fewer, but some; 0: not so
	writerRuns bool              // runWriter runs
	closed     bool
	gone       bool // the node has left, see Leave
	batches    uint64
	discards   []any // keys
	discard    *time.Timer
	discardNow bool // the discards have waited long enough
	refused    bool // the last DEL was, for now
	loads      map[*luasrc.Script]*load
	barriers   []*killBarrier // of broken connections, not decided yet
	lastErr    error          // why the last attempt to connect failed
	failedAt   time.Duration  // when it did
}

// New makes a pipeline that connects at its first request.
func New(dial func(context.Context) (redis.Conn, error), o Options) *Pipeline {
	if o.Carries == "" {
		o.Carries = "commands"
	}
	o.log = connlog.New(o.Logger, o.Carries)
	if o.Usable == nil {
		o.Usable = redisconn.Server.Usable
	}
	p := &Pipeline{dial: dial, o: o, writerWake: make(chan struct{}, 1), loads: map[*luasrc.Script]*load{}}
	p.useless = redisconn.Backoff{First: firstBackoff, Last: lastBackoff}
	p.ctx, p.stop = context.WithCancel(context.Background())
	return p
}

// Enqueue queues r without I/O, so that a caller may hold locks. Flush or
// WakeWriter must be called afterwards. It reports false when the pipeline is
// closed: then r.Err says so and r is never completed.
func (p *Pipeline) Enqueue(r *Request) bool {
	deadline := p.o.Clock.Now() + p.o.Timeout
	p.mu.Lock()
	if p.gone || p.closed {
		r.Reply, r.Err = nil, &NotSentError{p.over()}
		p.mu.Unlock()
		return false
	}
	r.deadline = deadline
	r.queued = true
	r.loads, r.Resent, r.asking = 0, false, false
	r.Reply, r.Err = nil, nil
	p.queue = append(p.queue, r)
	p.mu.Unlock()
	return true
}

// over tells why nothing is queued any more: nil while it is. It is called with
// mu held.
func (p *Pipeline) over() error {
	switch {
	case p.gone:
		return ErrGone
	case p.closed:
		return ErrClosed
	}
	return nil
}

// Resend queues r, which was answered that it did not run, here or on another
// pipeline, or that found none. It is written by deadline, or not at all. asking sends ASKING directly before it: then
// its script is loaded before, unless that was done once, since whatever stands
// between the two takes the server's permission away. Like Enqueue, it does no
// I/O and reports false on a closed pipeline.
func (p *Pipeline) Resend(r *Request, deadline time.Duration, asking bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.over(); err != nil {
		r.Reply, r.Err = nil, &NotSentError{err}
		return false
	}
	if asking && r.Script != nil && p.loads[r.Script] == nil {
		p.queueLoad(r)
	}
	r.queued, r.Resent, r.asking, r.loads = true, true, asking, 0
	r.deadline = deadline
	r.Reply, r.Err = nil, nil
	p.queue = append(p.queue, r)
	return true
}

// Cancel takes back a request that was not written yet. It reports whether it
// did. r is then never completed.
func (p *Pipeline) Cancel(r *Request) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !r.queued {
		return false
	}
	for i, q := range p.queue {
		if q == r {
			p.queue = append(p.queue[:i], p.queue[i+1:]...)
			r.queued = false
			r.Err = &NotSentError{errCancelled}
			return true
		}
	}
	return false
}

// Waiting tells whether r waits to be written: nothing of it runs before that,
// and nothing of it has run if the server refused it before.
func (p *Pipeline) Waiting(r *Request) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return r.queued
}

// Flush writes what is queued, as far as the batches in flight allow; what is
// left goes when a batch returns. It may write to the connection.
func (p *Pipeline) Flush() {
	p.mu.Lock()
	for p.ready() {
		c, b := p.cutBatch()
		p.mu.Unlock()
		c.write(b)
		p.mu.Lock()
		c.writing = false
	}
	p.mu.Unlock()
}

// WakeWriter is Flush for callers that must not block. A few commands are
// written at once if no reply is expected, since the kernel has room for them.
// Anything else is written on another goroutine.
func (p *Pipeline) WakeWriter() {
	p.mu.Lock()
	for p.ready() && p.conn.inflight == 0 && len(p.queue) <= maxDirect && len(p.discards) <= maxDirect {
		c, b := p.cutBatch()
		p.mu.Unlock()
		c.write(b)
		p.mu.Lock()
		c.writing = false
	}
	// A caller that came during this write left its commands to the writer.
	if !p.ready() {
		p.mu.Unlock()
		return
	}
	if !p.writerRuns && !p.closed {
		p.writerRuns = true
		p.wg.Go(p.runWriter)
	}
	p.mu.Unlock()
	select {
	case p.writerWake <- struct{}{}:
	default:
	}
}

func (p *Pipeline) runWriter() {
	for {
		select {
		case <-p.writerWake:
			p.Flush()
		case <-p.ctx.Done():
			return
		}
	}
}

// ready tells whether there is something to write and a connection to write it
// to. If there is no connection it starts to make one. It is called with mu
// held.
func (p *Pipeline) ready() bool {
	if len(p.queue) == 0 && !(p.discardNow && len(p.discards) > 0) && (p.conn == nil || len(p.conn.repeats) == 0) {
		return false
	}
	if p.conn == nil {
		p.connect()
		return false
	}
	return !p.conn.writing && !p.conn.busy.Load() && p.conn.inflight < maxInFlight && !p.conn.syncing
}

// cutBatch takes the queue, or a part of it that makes a good batch. It is
// called with mu held.
func (p *Pipeline) cutBatch() (*conn, []*Request) {
	c := p.conn
	b := p.queue
	p.queue = nil
	if last := len(p.spares) - 1; last >= 0 {
		p.queue, p.spares = p.spares[last], p.spares[:last]
	}
	// Callers whose commands go together come back together, and until then the
	// server has nothing to do. Split, some are at the server while others are
	// here.
	// With replicas to wait for they would wait for two batches more.
	if most := max((len(b)+c.openRequests)/batchSplit, leastBatch); len(b) > most && c.replicas == 0 {
		p.queue = append(p.queue, b[most:]...)
		clear(b[most:])
		b = b[:most]
	}
	if len(c.repeats) > 0 {
		b = append(b, c.waitAgain())
	}
	if len(p.discards) > 0 || p.discardNow {
		b = p.cutDiscards(b)
	}
	p.batches++
	now := p.o.Clock.Now()
	waits := 0
	var sync *Request
	for _, r := range b {
		r.Sent, r.conn, r.batch, r.queued = now, c, p.batches, false
		r.Replicas, r.Acked, r.sync, r.kept = 0, 0, false, false
		if r.Wait {
			c.countSometimes(now)
		}
		if r.Wait && c.replicas > 0 {
			r.Replicas = c.replicas
			sync = r
		}
		if r.waits {
			c.syncing = true
			waits++
		}
	}
	if sync != nil {
		sync.sync, c.syncing = true, true
		waits++
	}
	c.openRequests += len(b)
	c.batchBounds[c.batchCount%maxInFlight] = batchBound{now, waits}
	c.batchCount++
	if c.inflight++; c.inflight == 1 {
		c.busier(1)
		if c.exact || c.boundedBy == 0 {
			c.boundRead()
		}
	}
	c.writing = true
	c.batches <- b // never blocks: room for every batch that may be in flight
	return c, b
}

// recycle takes back a batch's backing array. It is called with mu held.
func (p *Pipeline) recycle(b []*Request) {
	if len(p.spares) <= maxInFlight && cap(b) <= 4096 {
		clear(b)
		p.spares = append(p.spares, b[:0])
	}
}

// Err tells why there is no connection: the last attempt's error, or nil.
func (p *Pipeline) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lastErr
}
