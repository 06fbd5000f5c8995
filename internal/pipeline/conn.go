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
	p        *Pipeline
	barrier  *killBarrier
	managed  managed         // nil for a connection of a pool
	pusher   pusher          // what is written goes by it
	batches  chan []*Request // written or being written, in order
	wrote    chan struct{}   // one for each batch that is not being written any more
	wmu      sync.Mutex      // held while writing; guards begun and stuck
	atOnce   bool            // something can be written without waiting; never changes
	woke     bool            // a batch was completed since the last pause; the reader's
	answered bool            // something was; the reader's
	tally    *tally          // of the server's replicas, nil where they don't matter; never changes
	exact    bool            // the read deadline is moved for each batch; never changes
	sent     time.Duration   // when the batch that is read was written, of a pool's connection; the reader's
	busy     atomic.Bool     // the reader has replies to deal with, and will flush
	held     []*Request      // answered, but for the WAIT of their batch; the reader's
	synced   bool            // the batch had a WAIT; the reader's
	met      error           // by a caller that read; the reader's
	late     error           // of a read that met the deadline, and is made once more; the reader's
	back     chan struct{}   // calls a reader back that stands by, see lone.go
	polling  polling         // how whoever reads waits; the reader's
	idle     func() bool     // tells whether one of Go's processors is; the reader's
	unsent   []*Request      // of the batch that is being written; of who writes
	wake     chan struct{}   // has the writer write, see writer.go
	over     chan struct{}   // closed: the writer ends
	begun    int             // batches of which something may have been written
	stuck    bool            // nothing is written any more: a write has failed, or batches are their completions' again

	// All below is guarded by p.mu.
	writing      bool      // a batch is being written, by whoever has set it
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
	boundedBy    int                          // the number of the batch that the read deadline is for, from 1; 0: there is none
	boundAt      time.Time                    // that deadline
	counting     bool                         // they are being counted again
	countAt      time.Duration                // when they are to be counted again
	tracking     tracking                     // how the server tells of changes, see track.go
	syncing      bool                         // a WAIT is in flight: whatever is sent stands behind it
	loaded       map[*luasrc.Script]bool      // those whose SCRIPT LOAD was sent before a WAIT
	repeats      []func(acked int, err error) // want a WAIT once more on this connection
}

// killBarrier is how the server knows one connection, and whether bytes written
// to it can still run.
type killBarrier struct {
	id     int64  // CLIENT ID; 0 where the server would not say
	addr   string // the address that the server sees
	server server

	ended   bool // each request that was lost has ended; guarded by Pipeline.mu, like all below
	decided bool // runBarriers reports it
	killed  bool // decided by CLIENT KILL: nothing of the connection runs any more
	doubted bool // it found nothing, at a server that may be another one
	waiting []func(closed bool)
}

// batchBound is the time that a batch may take.
type batchBound struct {
	sent  time.Duration
	waits int // the WAITs in it, one or none, which may rightly take a second
}

// managed is a connection of this library's own: a read is always under way, so
// that the end of an idle one is noticed at once.
type managed interface {
	Manage() (lasts bool)
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

// lent is a pool's connection as a pusher.
type lent struct{ redis.Conn }

func (c lent) Queue(command string, args []any, _ bool) (bool, error) {
	return true, c.Send(command, args...)
}
func (c lent) Push(bool) (bool, error) { return true, c.Flush() }
func (c lent) WritesAtOnce() bool      { return false }

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
