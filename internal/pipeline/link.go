package pipeline

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/clock"
)

// errNoID is why a connection can't be fenced whose id was never known.
var errNoID = errors.New("the server did not tell CLIENT ID or CLIENT INFO")

// waitTimeout is Redisson's slavesSyncTimeout.
const waitTimeout = time.Second

// link is one connection in use.
type link struct {
	*owned
	p        *Pipeline
	fence    *fence
	patient  patient         // nil for a connection of a pool
	pusher   pusher          // nil likewise
	batches  chan []*Request // written or being written, in order
	wrote    chan struct{}   // one for each batch that is not being written any more
	wmu      sync.Mutex      // held while writing; guards broken
	woke     bool            // a batch was completed since the last pause; the reader's
	answered bool            // something was; the reader's
	waited   bool            // WAIT may have been sent; never changes
	broken   bool            // nothing is written any more, and batches are their completions' again

	// All below is guarded by p.mu.
	writing  bool
	busy     bool               // the reader has replies to deal with, and will flush
	inflight int                // batches
	owed     int                // requests in them
	ended    bool               // batches is closed
	retired  bool               // given up although it works: see Retire
	cuts     int                // batches so far
	bounds   [maxInFlight]bound // of those in flight, by their number
	replicas int                // how many WAIT is asked for
	counting bool               // they are being counted again
}

// bound is how long a batch may take.
type bound struct {
	sent  time.Duration
	waits int // the WAITs in it, each of which may rightly take a second
}

// end lets the reader go once it has read what is in flight; part is owed. It
// is called with p.mu held.
func (l *link) end() {
	if l.p.link == l {
		l.p.link, l.p.parting = nil, true
	}
	if !l.ended {
		l.ended = true
		close(l.batches)
	}
}

// patient is a connection whose reads are bounded from outside, so that one
// can always be under way: the end of an idle connection is seen at once, and a
// reply finds its reader waiting.
type patient interface {
	Manage(before func() (owed bool), after func())
	SetReadDeadline(time.Time) error
}

// pusher is a connection that encodes commands itself and writes them together.
type pusher interface {
	Queue(command string, args []any) error
	Push() error
}

// pause comes before the reader waits for the network: the callers that it has
// woken get to queue, and what they queued is one batch. It reports whether
// replies are expected then.
func (l *link) pause() (owed bool) {
	p := l.p
	if l.woke {
		l.woke = false
		runtime.Gosched()
	}
	p.mu.Lock()
	l.busy = false
	p.mu.Unlock()
	p.Flush()
	p.mu.Lock()
	defer p.mu.Unlock()
	return l.inflight > 0
}

// resume follows the wait. From here on nobody else flushes: who has just been
// woken would write each by itself what can go together.
func (l *link) resume() {
	p := l.p
	p.mu.Lock()
	l.busy = true
	p.mu.Unlock()
}

// expect bounds the read of the oldest batch in flight, or lifts the bound if
// there is none. It is called with p.mu held.
func (l *link) expect() {
	if l.patient == nil {
		return
	}
	var at time.Time
	if l.inflight > 0 {
		b := l.bounds[(l.cuts-l.inflight)%maxInFlight]
		left := b.sent + l.p.o.Timeout - clock.Early(l.p.o.Clock)
		if l.waited {
			// What was before it may have waited as well.
			left = l.p.o.Timeout + time.Duration(b.waits)*waitTimeout
		}
		at = time.Now().Add(max(left, time.Millisecond))
	}
	_ = l.patient.SetReadDeadline(at)
}

// write sends a batch. An error needs no handling here: the stream is closed by
// then, and the reader finds out.
func (l *link) write(b []*Request) {
	defer func() { l.wrote <- struct{}{} }() // never blocks, as batches
	l.wmu.Lock()
	defer l.wmu.Unlock()
	if l.broken {
		return
	}
	if l.pusher != nil {
		if l.send(b, l.pusher.Queue) != nil || l.pusher.Push() != nil {
			l.interrupt()
		}
		return
	}
	if l.send(b, func(command string, args []any) error { return l.conn.Send(command, args...) }) == nil {
		_ = l.conn.Flush()
	}
}

func (l *link) send(b []*Request, send func(command string, args []any) error) error {
	for _, r := range b {
		if err := send(r.Command, r.Args); err != nil {
			return err
		}
		if r.Replicas > 0 {
			if err := send("WAIT", []any{r.Replicas, waitTimeout.Milliseconds()}); err != nil {
				return err
			}
		}
	}
	return nil
}

// read completes requests until the connection breaks or its batches end.
func (l *link) read() {
	p := l.p
	for {
		b, reply, err := l.next()
		if b == nil {
			l.over(err)
			return
		}
		left := l.left(b)
		for i, r := range b {
			if i > 0 {
				reply, err = redis.ReceiveWithTimeout(l.conn, left)
			}
			if err = l.take(r, reply, err, left); err != nil {
				l.fail(b[i:], err)
				return
			}
			if i == 0 {
				// A server may answer what it was not asked yet; the writer
				// must be done with the batch before others get its requests.
				<-l.wrote
			}
			p.complete(r)
			l.woke, l.answered = true, true
		}
		p.mu.Lock()
		l.inflight--
		l.owed -= len(b)
		l.expect()
		p.recycle(b)
		last := l.retired && l.inflight == 0
		p.mu.Unlock()
		if last {
			l.over(nil)
			return
		}
		if l.patient == nil {
			l.pause()
		}
	}
}

// next waits for a batch and reads its first reply. Without a batch the link
// is over, for err if it is not nil.
func (l *link) next() (b []*Request, reply any, err error) {
	if l.patient == nil {
		b, ok := <-l.batches
		if !ok {
			return nil, nil, nil
		}
		reply, err = redis.ReceiveWithTimeout(l.conn, l.left(b))
		return b, reply, err
	}
	reply, err = l.conn.Receive()
	select {
	case b, ok := <-l.batches:
		if !ok {
			return nil, nil, nil
		}
		return b, reply, err
	default:
	}
	if err == nil {
		err = fmt.Errorf("a reply to nothing: a Go %T", reply)
	}
	return nil, nil, err
}

// left is how much longer a batch may take.
func (l *link) left(b []*Request) time.Duration {
	if l.patient != nil {
		return 0
	}
	if l.waited {
		return l.p.o.Timeout // what was before it may have waited
	}
	return max(b[0].Sent+l.p.o.Timeout-clock.Early(l.p.o.Clock), time.Millisecond)
}

// take hands r its reply, and reads what WAIT answered if it was sent. Its
// error is the connection's.
func (l *link) take(r *Request, reply any, err error, timeout time.Duration) error {
	r.Reply, r.Err = reply, err
	if err != nil && serverError(err) == "" {
		return err
	}
	if r.Replicas == 0 {
		return nil
	}
	if timeout > 0 {
		timeout += waitTimeout
	}
	n, err := redis.ReceiveWithTimeout(l.conn, timeout)
	if err != nil && serverError(err) == "" {
		return err
	}
	if err != nil {
		r.Replicas = 0 // a server that refuses WAIT has said nothing about replicas
		return nil
	}
	acked, _ := n.(int64)
	if r.Acked = int(acked); r.Acked == 0 {
		l.recount()
	}
	return nil
}

// recount asks how many replicas there are now: one that nobody heard from may
// be gone, and with none there is nothing to wait for.
func (l *link) recount() {
	p := l.p
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.counting || l.ended {
		return
	}
	l.counting = true
	p.queue = append(p.queue, &Request{
		Command: "INFO", Args: []any{"replication"}, queued: true,
		deadline: clock.Early(p.o.Clock) + p.o.Timeout,
		Done: CompletionFunc(func(r *Request) {
			p.mu.Lock()
			defer p.mu.Unlock()
			l.counting = false
			if text, err := redis.String(r.Reply, r.Err); err == nil {
				l.replicas = countReplicas(text)
			}
		}),
	})
}

// over ends a link that owes nobody anything.
func (l *link) over(cause error) {
	p := l.p
	p.mu.Lock()
	p.pace(l)
	owes := l.inflight > 0
	if owes {
		p.mu.Unlock()
		// A batch was cut as the connection ended.
		l.fail(nil, cause)
		return
	}
	l.end()
	retired := l.retired
	p.mu.Unlock()
	if retired {
		l.interrupt() // a pool must not lend it again
	}
	l.part()
	if cause != nil && p.ctx.Err() == nil {
		p.o.log.Idle(cause)
	}
	p.tellEnded()
	if retired {
		p.mu.Lock()
		p.connect() // even if nobody asks for anything: Moved is to be told
		p.mu.Unlock()
	}
	p.Flush()
}

// part gives the connection back. Until then no other is asked for: a pool
// that has just enough of them would have none.
func (l *link) part() {
	l.wmu.Lock()
	l.broken = true
	l.close()
	l.wmu.Unlock()
	l.p.mu.Lock()
	l.p.parting = false
	l.p.mu.Unlock()
}

// fail ends the link: what it still owed is lost.
func (l *link) fail(rest []*Request, cause error) {
	if ne, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](cause); ok && ne.Timeout() {
		cause = fmt.Errorf("no reply within %v: %w", l.p.o.Timeout, cause)
	}
	p := l.p
	if p.ctx.Err() == nil {
		p.o.log.Lost(cause, slog.Int("unanswered", len(rest)))
		if l.fence.id == 0 {
			p.o.log.Refused(0, "", errNoID)
		}
	}
	p.mu.Lock()
	l.end()
	p.fences = append(p.fences, l.fence)
	if l.fence.id == 0 {
		p.settle(l.fence, false)
	}
	p.pace(l)
	p.mu.Unlock()
	l.interrupt()
	l.part()
	p.mu.Lock()
	if !p.closed {
		// Even if nobody asks for anything any more, the fence is owed.
		p.connect()
	}
	p.mu.Unlock()
	l.lose(rest, cause)
	for b := range l.batches {
		l.lose(b, cause)
	}
	p.runFences()
	p.tellEnded()
	p.Flush()
}

// tellEnded tells who wants to know that a connection is over.
func (p *Pipeline) tellEnded() {
	if p.o.Ended != nil && p.ctx.Err() == nil {
		p.o.Ended()
	}
}

// pace lengthens the pause before the next connection if l was of no use. It is
// called with p.mu held.
func (p *Pipeline) pace(l *link) {
	if l.answered && !l.retired {
		p.rest = 0
		return
	}
	p.rest = min(max(2*p.rest, firstBackoff), lastBackoff)
}

func (l *link) lose(rs []*Request, cause error) {
	for _, r := range rs {
		r.Reply, r.Err = nil, &LostError{Cause: cause}
		r.Done.Complete(r)
	}
}
