package pipeline

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
)

// queue holds the requests that wait to be written, in order of arrival. A request
// anywhere in it is removed in constant time. The zero queue is empty.
type queue struct {
	first, last *Request
	length      int
}

// add puts r at the end.
func (q *queue) add(r *Request) {
	r.queued, r.before = true, q.last
	if q.last == nil {
		q.first = r
	} else {
		q.last.behind = r
	}
	q.last = r
	q.length++
}

// take removes r, which is in q.
func (q *queue) take(r *Request) {
	if r.before == nil {
		q.first = r.behind
	} else {
		r.before.behind = r.behind
	}
	if r.behind == nil {
		q.last = r.before
	} else {
		r.behind.before = r.before
	}
	r.queued, r.before, r.behind = false, nil, nil
	q.length--
}

// cut moves the first n requests to the end of b. q has at least n.
func (q *queue) cut(b []*Request, n int) []*Request {
	for range n {
		b = append(b, q.first)
		q.take(q.first)
	}
	return b
}

// remove removes the picked requests, which end as not sent.
func (q *queue) remove(picked func(*Request) bool) (removed []*Request) {
	for r := q.first; r != nil; {
		next := r.behind
		if picked(r) {
			q.take(r)
			r.unsent = true
			removed = append(removed, r)
		}
		r = next
	}
	return removed
}

// Enqueue queues r without I/O, so that a caller may hold locks. Flush or
// WakeWriter must be called afterwards. It reports false when the pipeline is
// closed: then r.Err says so and r is never completed. r waits for a connection until
// deadline, or for a command timeout if that is 0.
//
// With Asking, r's script is loaded before ASKING, unless it was loaded once, because any
// command between ASKING and r would use up ASKING's permission.
func (p *Pipeline) Enqueue(r *Request, deadline time.Duration) bool {
	r.Reply, r.Err = nil, nil
	if r.Deadline = deadline; deadline == 0 {
		r.Deadline = p.o.Clock.Now() + p.o.Timeout
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over != nil {
		r.Err = &NotSentError{p.over}
		return false
	}
	r.loads, r.Resent, r.unsent = 0, false, false
	if r.Asking && r.Script != nil && p.loads[r.Script] == nil {
		p.queue.add(p.load(r))
	}
	p.queue.add(r)
	return true
}

// Cancel removes a request that was not written yet. It reports whether it did.
// If so, r is never completed, and r.Err says that it was not sent.
func (p *Pipeline) Cancel(r *Request) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !r.queued {
		return false
	}
	p.queue.take(r)
	r.Err = &NotSentError{errCancelled}
	return true
}

// Unwritten tells whether r waits to be written, or is about to end as not sent. While it
// is true, r does not run, and has not run unless an earlier sending of it did.
func (p *Pipeline) Unwritten(r *Request) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return r.queued || r.unsent
}

// errConnecting is the cause if a request's time is up before the first attempt to
// connect has an outcome.
var errConnecting = errors.New("timeout: there is no connection yet")

// expiring ends requests at their deadline while a connection is being made,
// until stop is called: a request that comes during an attempt must not wait
// for the end of the next one. It checks sixteen times in a command timeout, and
// allows a sixteenth more, so that an attempt that began with the request can end
// it with a better error.
func (p *Pipeline) expiring() (stop func()) {
	every := max(p.o.Timeout/16, time.Millisecond)
	ctx, stop := context.WithCancel(p.ctx)
	p.wg.Go(func() {
		for clock.Sleep(ctx, every) {
			now := p.o.Clock.Now() - every
			p.mu.Lock()
			err := cmp.Or(p.lastErr, errConnecting)
			late := p.queue.remove(func(r *Request) bool { return p.dialling && r.Deadline <= now })
			p.mu.Unlock()
			unsent(late, err)
		}
	})
	return stop
}

// errLate is the cause if a request's Until has passed before the connection could take it.
var errLate = errors.New("timeout: earlier commands took too long")

// unsent completes requests that were not sent.
func unsent(rs []*Request, cause error) {
	for _, r := range rs {
		r.Err = &NotSentError{cause}
		r.Done.Complete(r)
	}
}
