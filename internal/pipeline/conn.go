package pipeline

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/redisconn"
)

// maxInFlight is how many batches may await their replies. With one the server
// is idle while a batch is decoded; more than four gain nothing.
const maxInFlight = 4

// conns counts the connections of this process.
var conns atomic.Uint64

// conn is one connection in use.
type conn struct {
	*redisconn.Owned
	p       *Pipeline
	number  uint64 // no other connection of this process has it; above 0
	barrier *killBarrier
	managed managed // nil for a connection of a pool
	pusher  pusher  // writes the commands
	atOnce  bool    // a write without waiting is possible
	tally   *tally  // of the server's replicas; nil where they don't matter

	batches chan []*Request // written or being written, in order
	wrote   chan struct{}   // one signal for each batch whose write is over
	back    chan struct{}   // calls a standby reader back, see lone.go
	wake    chan struct{}   // makes the writer write, see writer.go
	over    chan struct{}   // closed to end the writer
	busy    atomic.Bool     // the reader is handling replies, and will flush

	unsent []*Request // rest of the batch being written; owned by the writing goroutine
	wmu    sync.Mutex // held while writing; guards the two below
	begun  int        // batches of which something may have been written
	stuck  bool       // nothing more is written: a write failed, or the connection is ending

	reading
	flight
}

// reading is used only by the connection's reader, or by the caller that reads in its
// place.
type reading struct {
	woke     bool          // a request was completed since the last pause
	answered bool          // a request was answered on this connection
	sent     time.Duration // when the batch being read was written; pool connections only
	held     []*Request    // answered, waiting for the WAIT of their batch
	synced   bool          // the batch had a WAIT
	met      error         // an error that a reading caller met
}

// flight is what a connection has under way. It is guarded by Pipeline.mu.
type flight struct {
	writing      bool      // a batch is being written, by the goroutine that set this
	handed       bool      // the writer has to write the rest of that batch
	writer       sync.Once // starts the writer
	released     bool
	lone         lone
	inflight     int                          // batches
	openRequests int                          // requests in them
	ended        bool                         // batches is closed
	retired      bool                         // given up although it works: see Retire
	batchCount   int                          // batches so far
	batchBounds  [maxInFlight]batchBound      // of those in flight, by their number
	guard        *time.Timer                  // runs checkBatches; nil for a connection of a pool
	guarded      bool                         // guard is set
	overdue      int                          // number, from 1, of the batch that guard found overdue
	wasBusy      bool                         // the reader was busy at that moment
	counting     bool                         // replicas are being counted again
	countAt      time.Duration                // when to count them next
	tracking     tracking                     // whether the server reports changes, see track.go
	syncing      bool                         // a WAIT is in flight, and would delay whatever is sent
	loaded       map[*luasrc.Script]bool      // scripts whose SCRIPT LOAD was sent before a WAIT
	repeats      []func(acked int, err error) // called with the result of another WAIT on this connection
}

// newConn makes the conn of a connection on which identify succeeded.
func (p *Pipeline) newConn(o *redisconn.Owned, barrier *killBarrier) *conn {
	c := &conn{
		Owned: o, p: p, number: conns.Add(1), barrier: barrier,
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

// killBarrier has the server's name of one connection, and says whether bytes
// written to it can still run.
type killBarrier struct {
	id     int64  // CLIENT ID; 0 if the server refused to say
	addr   string // the address that the server sees
	server server

	ended   bool // all lost requests have ended; guarded by Pipeline.mu, like all below
	silent  bool // the connection broke because its server did not answer
	decided bool // the outcome is final, and runBarriers reports it
	killed  bool // CLIENT KILL was answered: nothing sent on the connection can run now
	doubted bool // CLIENT KILL found nothing, and may have asked another server
	waiting []func(closed bool)
}

// batchBound is the time that a batch may take.
type batchBound struct {
	sent  time.Duration // or when it became the oldest in flight, if earlier ones may have waited for replicas
	waits time.Duration // the longest that its WAITs may take
}

// managed is a connection that this library dialled. A read is always under way
// on it, so that the end of an idle connection is noticed at once.
type managed interface {
	Sever(cause error)
	SetReadDeadline(time.Time) error
	Fill(wait bool) (some bool, err error)
	Next() (reply any, ok bool, err error)
}

// pusher is a connection that queues commands and writes them together. Without
// wait it writes only what it can write at once, and reports whether that was all.
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

// end lets the reader return once it has read the replies in flight. The reader
// then releases the connection. end is called with p.mu held.
func (c *conn) end() {
	if c.p.conn == c {
		c.p.conn, c.p.ending = nil, c
	}
	if !c.ended {
		c.ended = true
		close(c.batches)
	}
}
