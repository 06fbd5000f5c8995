package command

import (
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/command/refusal"
	"github.com/rlock-go/redisson/internal/pipeline"
)

// The pause before a request is sent again that was refused or could not be
// sent. It doubles between these.
const (
	firstPause = 20 * time.Millisecond
	lastPause  = 500 * time.Millisecond
)

// Options are an Executor's settings.
type Options struct {
	Now       func() time.Duration // the client's clock
	Permanent func(error) bool     // errors of connecting that trying again won't mend
	Closing   func() bool          // the client is being closed: nothing is sent again
}

// Executor sends a client's commands. It is safe for concurrent use.
type Executor struct {
	pipe *pipeline.Pipeline
	o    Options
}

// New makes an executor of what sends.
func New(pipe *pipeline.Pipeline, o Options) *Executor { return &Executor{pipe, o} }

// Enqueue queues r without I/O, so that a caller may hold locks; Flush or WakeWriter
// must be called afterwards. It reports false when the client is closed: then r has the
// fate Closed and its handler is not told.
func (x *Executor) Enqueue(r *Request) bool {
	r.x, r.fate = x, Open
	// What is paused anyway is paused for READONLY too: others of its owner may
	// go first.
	r.wire.Done, r.wire.Wait, r.wire.Once = (*completion)(r), r.Wait, r.Resend >= Unrun
	if x.pipe.Enqueue(&r.wire) {
		return true
	}
	r.fate = Closed
	return false
}

// Again sends r once more. It is called when the pause that the handler was told
// is over. It reports false when r must not be sent again: then r has its fate
// and the handler is not told.
func (x *Executor) Again(r *Request) bool {
	if r.failed != nil && x.o.Now() > r.Until {
		r.fate = fateOf(r.failed)
		r.wire.Err = r.failed
		return false
	}
	return x.Enqueue(r)
}

// Cancel takes back a request that was not written yet. It reports whether it
// did; r is then never done.
func (x *Executor) Cancel(r *Request) bool { return x.pipe.Cancel(&r.wire) }

// Waiting tells whether r waits to be written: nothing of it has run so far, but
// for what an earlier send did.
func (x *Executor) Waiting(r *Request) bool { return x.pipe.Waiting(&r.wire) }

// Flush writes what is queued. It may write to the connection, for no longer
// than the command timeout.
func (x *Executor) Flush() { x.pipe.Flush() }

// WakeWriter is Flush for those who must not block.
func (x *Executor) WakeWriter() { x.pipe.WakeWriter() }

// Discard deletes a key of the client's own some time soon.
func (x *Executor) Discard(key any) { x.pipe.Discard(key) }

// Trouble tells why there is no connection; nil if there is one, or if none was
// asked for.
func (x *Executor) Trouble() error { return x.pipe.Err() }

// completion is a request as what the pipeline tells of its end.
type completion Request

// Complete takes the end of one send.
func (c *completion) Complete(*pipeline.Request) {
	r := (*Request)(c)
	fate := fateOf(r.wire.Err)
	if r.first == 0 && mayHaveRun(r.wire.Err) {
		r.first = r.wire.Sent
	}
	if fate != Answered {
		r.failed = r.wire.Err
	}
	switch {
	case fate == Lost && r.Resend != Read:
		r.lost()
	case r.x.sendsAgain(r, fate):
		r.paused()
	default:
		r.done(fate)
	}
}

// lost waits for the kill barrier of the connection that r was lost on.
func (r *Request) lost() {
	r.Handler.Unanswered(r)
	r.x.pipe.AfterKillBarrier(&r.wire, func(closed bool) {
		r.open = r.open || !closed
		if r.Resend == Always {
			r.Handler.Paused(r, 0)
		} else {
			r.done(Lost)
		}
	})
}

// sendsAgain tells whether r, which is not behind a barrier, is to be sent again.
func (x *Executor) sendsAgain(r *Request, fate Fate) bool {
	if r.Resend == Never || x.o.Closing() || x.o.Now()+r.nextPause() > r.Until {
		return false
	}
	switch fate {
	case Lost:
		return true
	case NotSent:
		return r.Resend >= Unrun || r.Until == clock.Never || !x.o.Permanent(r.wire.Err)
	case Refused:
		said, _ := refusal.Of(r.wire.Err)
		return said.Transient() || r.Resend >= Unrun && said.Passing()
	}
	return false
}

// paused has r sent again after a pause.
func (r *Request) paused() {
	r.pause = r.nextPause()
	r.Handler.Paused(r, r.pause)
}

func (r *Request) nextPause() time.Duration {
	if r.pause == 0 {
		return firstPause
	}
	return min(2*r.pause, lastPause)
}

func (r *Request) done(fate Fate) {
	r.fate = fate
	r.Handler.Done(r)
}
