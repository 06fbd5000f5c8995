package pipeline

import (
	"errors"
	"fmt"
	"time"

	"github.com/rlock-go/redisson/internal/luasrc"
)

// Completion is called when its request has ended. Complete runs on a goroutine of
// the pipeline, or of the caller of Flush, Close or Abandon; it must not block. It may
// queue further requests.
type Completion interface{ Complete(*Request) }

// CompletionFunc makes a Completion of a function.
type CompletionFunc func(*Request)

// Complete calls f.
func (f CompletionFunc) Complete(r *Request) { f(r) }

// Request is one command on its way. Its maker sets the first group of
// fields, the pipeline the second before it completes the request; neither
// touches the other's in between.
type Request struct {
	Command string         // its name
	Args    []any          // what follows the name
	Script  *luasrc.Script // what an EVALSHA runs: loaded when the server answers NOSCRIPT
	Done    Completion     // called once, when the request has ended
	Wait    bool           // followed by WAIT for all connected replicas, one WAIT per batch
	Until   time.Duration  // not written after this clock reading, but ends as not sent; 0: no such limit
	Asking  bool           // ASKING goes directly before it

	// Tentative skips the WAIT while no replica is online. The request's effect is undone
	// then, and during a WAIT it would keep others out.
	Tentative bool

	// Track makes the server report changes of the keys that the request reads, see
	// track.go.
	Track bool

	// KeepReply keeps the reply if the connection breaks before the answer to the WAIT:
	// Acked is then NotKnown. Without KeepReply the request is lost.
	KeepReply bool

	// Counts counts the replicas again after the request's WAIT, and raises Replicas to that
	// count.
	Counts bool

	Reply    any           // as redigo decodes it
	Err      error         // redis.Error, *NotSentError or *LostError
	Sent     time.Duration // clock reading before the first byte was written; later than that of any earlier request
	Replicas int           // how many replicas WAIT asked for; 0 if no WAIT was sent
	Acked    int           // how many acknowledged, or NotKnown
	Lasting  int           // with Counts, how many have to if no lease ends its effect; 0: Replicas

	Tracked bool // the server reports changes of its keys, see Track
	Resent  bool // requests queued after it may have run before it: the server lacked the script

	// Deadline is the clock reading until which it waits for a connection. Once there is one, it
	// may be written later, behind a WAIT. Until is the limit for that.
	Deadline time.Duration

	// ArgBuffer is room for the arguments of a short command.
	ArgBuffer [luasrc.MaxArgs]any

	conn     *conn
	batch    uint64
	loads    int
	begins   bool     // CLIENT LIST ID and CLIENT TRACKING ON go before it; if Tracked, CLIENT CACHING YES does
	sync     bool     // WAIT goes directly behind it, for all requests of the batch that want one
	counts   bool     // INFO goes behind that WAIT, for those of them with Counts
	unsent   bool     // removed from the queue and not written; guarded by Pipeline.mu like the next three
	queued   bool     // in its pipeline's queue
	before   *Request // its neighbour there
	behind   *Request
	lasts    time.Duration // how long the server may take before it answers; above 0: it is itself a WAIT
	foregone bool          // it gets no WAIT, because no replica is online to acknowledge it
}

// NotKnown is the value of Acked if the connection broke before the answer to WAIT.
const NotKnown = -1

// Connection is the number of the connection on which r was answered; 0: it was not.
func (r *Request) Connection() uint64 {
	if r.Err != nil || r.conn == nil {
		return 0
	}
	return r.conn.number
}

// NotSentError is the error of a request that did not run: it was never sent, or
// each server that got it answered that it did not run it.
type NotSentError struct {
	Cause error // why no connection took it
}

// Error says that it was not sent, and why.
func (e *NotSentError) Error() string { return "not sent: " + e.Cause.Error() }

// Unwrap gives the cause.
func (e *NotSentError) Unwrap() error { return e.Cause }

// LostError is the error of a request that was sent and never answered. It may
// have run, or may still run until its connection is killed.
type LostError struct {
	Cause error // what ended its connection
}

// Error says that there was no answer, and why.
func (e *LostError) Error() string { return fmt.Sprintf("sent, but never answered: %v", e.Cause) }

// Unwrap gives the cause.
func (e *LostError) Unwrap() error { return e.Cause }

// ErrClosed is the cause of a NotSentError of a closed pipeline.
var ErrClosed = errors.New("pipeline closed")

// ErrGone is the cause of a NotSentError of a pipeline whose node has left, or of
// one with Options.Spare that has no connection. The request may go to another.
var ErrGone = errors.New("the node has left")

// errCancelled is the cause of a request that Cancel removed.
var errCancelled = errors.New("taken back")
