package pipeline

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/redisconn"
)

// maxInFlight is how many batches may await their replies. One leaves the
// server idle while a batch is decoded; beyond four nothing is gained.
const maxInFlight = 4

// conn is one connection in use.
type conn struct {
	*redisconn.Owned
	p       *Pipeline
	barrier *killBarrier
	managed managed // nil for a connection of a pool
	pusher  pusher  // what is written goes by it
	atOnce  bool    // something can be written without waiting
	tally   *tally  // of the server's replicas, nil where they don't matter

	batches chan []*Request // written or being written, in order
	wrote   chan struct{}   // one for each batch whose write is over
	back    chan struct{}   // calls a reader back that stands by, see lone.go
	wake    chan struct{}   // has the writer write, see writer.go
	over    chan struct{}   // closed: the writer ends
	busy    atomic.Bool     // the reader has replies to deal with, and will flush

	unsent []*Request // what is left of the batch under way; the writing goroutine's
	wmu    sync.Mutex // held while writing; guards what follows
	begun  int        // batches of which something may have been written
	stuck  bool       // nothing more is written: a write failed, or the batches were given to their completions

	reading
	flight
}

// reading is what only the reader of a connection uses, or the caller that reads in its
// place.
type reading struct {
	woke     bool          // a batch was completed since the last pause
	answered bool          // something was
	sent     time.Duration // when the batch that is read was written, of a pool's connection
	held     []*Request    // answered, but for the WAIT of their batch
	synced   bool          // the batch had a WAIT
	met      error         // by a caller that read
}

// flight is what a connection has under way. It is guarded by Pipeline.mu.
type flight struct {
	writing      bool      // a batch is being written, by the goroutine that set this
	handed       bool      // the writer is to go on with it
	writer       sync.Once // begins the writer
	released     bool
	lone         lone
	inflight     int                          // batches
	openRequests int                          // requests in them
	ended        bool                         // batches is closed
	retired      bool                         // given up although it works: see Retire
	batchCount   int                          // batches so far
	batchBounds  [maxInFlight]batchBound      // of those in flight, by their number
	guard        *time.Timer                  // runs checkBatches; nil for a connection of a pool
	guarded      bool                         // it is set
	overdue      int                          // the number of the batch that it found overdue, from 1
	wasBusy      bool                         // so was the reader, when it did
	counting     bool                         // replicas are being counted again
	countAt      time.Duration                // when they are to be counted again
	tracking     tracking                     // how the server tells of changes, see track.go
	syncing      bool                         // a WAIT is in flight: whatever is sent stands behind it
	loaded       map[*luasrc.Script]bool      // those whose SCRIPT LOAD was sent before a WAIT
	repeats      []func(acked int, err error) // want a WAIT once more on this connection
}

// newConn makes the conn of a connection that identify has asked.
func (p *Pipeline) newConn(o *redisconn.Owned, barrier *killBarrier) *conn {
	c := &conn{
		Owned: o, p: p, barrier: barrier,
		batches: make(chan []*Request, maxInFlight),
		wrote:   make(chan struct{}, maxInFlight),
		back:    make(chan struct{}, 1),
		wake:    make(chan struct{}, 1),
		over:    make(chan struct{}),
		flight:  flight{loaded: map[*luasrc.Script]bool{}},
	}
	if p.o.Replicas {
		c.tally = p.o.Share.of(barrier.server)
	}
	var ok bool
	if c.managed, ok = o.Conn.(managed); ok {
		c.guard = time.AfterFunc(time.Hour, c.checkBatches)
		c.guard.Stop()
	}
	if c.pusher, ok = o.Conn.(pusher); !ok {
		c.pusher = pooled{o.Conn}
	}
	c.atOnce = c.pusher.WritesAtOnce()
	return c
}

// killBarrier is how the server knows one connection, and whether bytes written
// to it can still run.
type killBarrier struct {
	id     int64  // CLIENT ID; 0 where the server would not say
	addr   string // the address that the server sees
	server server

	ended   bool // each request that was lost has ended; guarded by Pipeline.mu, like all below
	decided bool // runBarriers reports it
	killed  bool // decided by CLIENT KILL: nothing sent on the connection can run now
	doubted bool // it found nothing, at a server that may be another one
	waiting []func(closed bool)
}

// batchBound is the time that a batch may take.
type batchBound struct {
	sent  time.Duration // or when it became the oldest in flight, where those before it may have waited for replicas
	waits time.Duration // what its WAIT may rightly take
}

// managed is a connection of this library's own: a read is always under way, so
// that the end of an idle one is noticed at once.
type managed interface {
	Sever(cause error)
	SetReadDeadline(time.Time) error
	Fill() error
	TryFill() (some bool, err error)
	Next() (reply any, ok bool, err error)
}

// pusher is a connection that is given commands and writes them together. Without
// wait it writes what needs no waiting, and tells whether that is all.
type pusher interface {
	Queue(command string, args []any, wait bool) (all bool, err error)
	Push(wait bool) (all bool, err error)
	WritesAtOnce() bool
}

// pooled is a pool's connection as a pusher.
type pooled struct{ redis.Conn }

func (c pooled) Queue(command string, args []any, _ bool) (bool, error) {
	return true, c.Send(command, args...)
}
func (c pooled) Push(bool) (bool, error) { return true, c.Flush() }
func (c pooled) WritesAtOnce() bool      { return false }

// end lets the reader return once it has read what is in flight. Then release
// must be called. It is called with p.mu held.
func (c *conn) end() {
	if c.p.conn == c {
		c.p.conn, c.p.releasing = nil, true
	}
	if !c.ended {
		c.ended = true
		close(c.batches)
	}
}
