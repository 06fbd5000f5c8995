package pipeline

import (
	"errors"
	"fmt"
	"time"

	"github.com/rlock-go/redisson/internal/luasrc"
)

// Completion is called when its request has ended. Complete runs on the
// goroutine that reads replies, or on the one that gave up connecting; it
// must not block. It may queue further requests.
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
	Wait    bool           // followed by WAIT for all connected replicas, one for its batch

	// Tentative means no WAIT, and no acknowledgement, while no replica is online:
	// what it did is undone then, and would keep others out meanwhile.
	Tentative bool

	// Track has the server tell of changes of the keys that it reads, see track.go.
	Track bool

	// KeepReply has a reply count although the answer to its WAIT was cut off: Acked
	// is NotKnown then. Else such a request is lost.
	KeepReply bool

	// Counts has the replicas counted behind its WAIT, for Everywhere, and for Replicas
	// to be no fewer than there are by then.
	Counts bool

	Reply    any           // as redigo decodes it
	Err      error         // redis.Error, *NotSentError or *LostError
	Sent     time.Duration // clock reading from before the first byte was written; later than that of what was sent before
	Replicas int           // how many replicas WAIT was asked for; 0 where none was sent
	Acked    int           // how many answered it, or NotKnown

	// Everywhere says that every replica acknowledged it: as many as were online when
	// they were counted behind its WAIT, and as the topology lists.
	Everywhere bool

	Tracked bool // it was asked to tell, see Track
	Resent  bool // it ran behind what was queued after it: the server lacked the script, or it was given to Resend

	// ArgBuffer is room for the arguments of a short command.
	ArgBuffer [luasrc.MaxArgs]any

	conn     *conn
	deadline time.Duration // not sent by then: NotSentError
	batch    uint64
	loads    int
	asking   bool     // ASKING goes directly before it
	begins   bool     // CLIENT LIST ID and CLIENT TRACKING ON do; CLIENT CACHING YES, if it is Tracked
	sync     bool     // WAIT goes directly behind it, for all of its batch that want one
	counts   bool     // and INFO behind that, for those that want to know it Everywhere
	unsent   bool     // it was taken out of the queue and not written, guarded by Pipeline.mu as what follows
	queued   bool     // it is in its pipeline's queue
	before   *Request // it there
	behind   *Request
	waits    bool // it is a WAIT by itself
	foregone bool // no replica is there to acknowledge it: there is no WAIT
}

// NotKnown is how many replicas acknowledged where the answer was cut off.
const NotKnown = -1

// Deadline is the reading of the clock by which r is sent, or ends as not sent.
func (r *Request) Deadline() time.Duration { return r.deadline }

// NotSentError is the end of a request that did not run: it never left this
// process, or only for servers that answered that they did not run it.
type NotSentError struct {
	Cause error // why no connection took it
}

// Error says that it was not sent, and why.
func (e *NotSentError) Error() string { return "not sent: " + e.Cause.Error() }

// Unwrap gives the cause.
func (e *NotSentError) Unwrap() error { return e.Cause }

// LostError is the end of a request that was sent and never answered. It may
// have run, or, until its connection is killed, may yet run.
type LostError struct {
	Cause error // what ended its connection
}

// Error says that there was no answer, and why.
func (e *LostError) Error() string { return fmt.Sprintf("sent, but never answered: %v", e.Cause) }

// Unwrap gives the cause.
func (e *LostError) Unwrap() error { return e.Cause }

// ErrClosed is the cause of a request that met a closed pipeline.
var ErrClosed = errors.New("pipeline closed")

// ErrGone is the cause of a request that met a pipeline whose node has left: it
// may be sent to another.
var ErrGone = errors.New("the node has left")

// errCancelled is the cause of a request that was taken back in time.
var errCancelled = errors.New("taken back")
