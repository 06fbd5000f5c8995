package pipeline

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/clock"
)

// waitTimeout is Redisson's slavesSyncTimeout.
const waitTimeout = time.Second

// link is one connection in use.
type link struct {
	p        *Pipeline
	conn     redis.Conn
	fence    *fence
	replicas int
	patient  patient         // nil for a connection of a pool
	batches  chan []*Request // written or being written, in order
	wrote    chan struct{}   // one for each batch that is not being written any more
	wmu      sync.Mutex      // held while writing; guards broken
	broken   bool            // nothing is written any more, and batches are their completions' again

	writing  bool                       // guarded by p.mu
	inflight int                        // guarded by p.mu
	ended    bool                       // guarded by p.mu: batches is closed
	cuts     int                        // guarded by p.mu: batches so far
	sent     [maxInFlight]time.Duration // guarded by p.mu: of those in flight, by their number
}

// end lets the reader go once it has read what is in flight. It is called
// with p.mu held.
func (l *link) end() {
	if l.p.link == l {
		l.p.link = nil
	}
	if !l.ended {
		l.ended = true
		close(l.batches)
	}
}

// interrupter is a connection that any goroutine may break off.
type interrupter interface{ Interrupt() }

// patient is a connection whose reads are bounded from outside, so that one
// can always be under way: the end of an idle connection is seen at once, and a
// reply finds its reader waiting.
type patient interface {
	Manage()
	SetReadDeadline(time.Time) error
}

// expect bounds the read of a batch sent at sent, or, with Never, lifts the
// bound. It is called with p.mu held.
func (l *link) expect(sent time.Duration) {
	if l.patient == nil {
		return
	}
	var at time.Time
	if sent != clock.Never {
		left := sent + l.p.o.Timeout - clock.Early(l.p.o.Clock)
		if l.replicas > 0 {
			left += waitTimeout
		}
		at = time.Now().Add(max(left, time.Millisecond))
	}
	_ = l.patient.SetReadDeadline(at)
}

func (l *link) interrupt() {
	if i, ok := l.conn.(interrupter); ok {
		i.Interrupt()
	}
}

// write sends a batch. An error needs no handling here: redigo has closed the
// stream by then, and the reader finds out.
func (l *link) write(b []*Request) {
	defer func() { l.wrote <- struct{}{} }() // never blocks, as batches
	l.wmu.Lock()
	defer l.wmu.Unlock()
	if l.broken {
		return
	}
	for _, r := range b {
		if l.conn.Send(r.Command, r.Args...) != nil {
			return
		}
		if r.Wait && l.replicas > 0 {
			if l.conn.Send("WAIT", l.replicas, waitTimeout.Milliseconds()) != nil {
				return
			}
		}
	}
	_ = l.conn.Flush()
}

// read completes requests until the connection breaks or its batches end.
func (l *link) read() {
	p := l.p
	for {
		b, reply, err := l.next()
		if b == nil {
			l.close(err)
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
		}
		p.mu.Lock()
		l.inflight--
		if l.inflight > 0 {
			l.expect(l.oldest())
		} else {
			l.expect(clock.Never)
		}
		p.recycle(b)
		p.mu.Unlock()
		// The callers just woken get to queue before the next batch is cut.
		runtime.Gosched()
		p.Flush()
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
		err = fmt.Errorf("a reply to nothing: %.80v", reply)
	}
	return nil, nil, err
}

// left is how much longer a batch may take.
func (l *link) left(b []*Request) time.Duration {
	if l.patient != nil {
		return 0
	}
	return max(b[0].Sent+l.p.o.Timeout-clock.Early(l.p.o.Clock), time.Millisecond)
}

// oldest is when the first batch in flight was sent. It is called with p.mu
// held.
func (l *link) oldest() time.Duration { return l.sent[(l.cuts-l.inflight)%maxInFlight] }

// take hands r its reply, and reads what WAIT answered if it was sent. Its
// error is the connection's.
func (l *link) take(r *Request, reply any, err error, timeout time.Duration) error {
	r.Reply, r.Err = reply, err
	if err != nil && serverError(err) == "" {
		return err
	}
	if !r.Wait || l.replicas == 0 {
		return nil
	}
	if timeout > 0 {
		timeout += waitTimeout
	}
	n, err := redis.ReceiveWithTimeout(l.conn, timeout)
	if err != nil && serverError(err) == "" {
		return err
	}
	acked, _ := n.(int64)
	r.Replicas, r.Acked = l.replicas, int(acked)
	return nil
}

// close ends a link that owes nobody anything.
func (l *link) close(cause error) {
	p := l.p
	p.mu.Lock()
	owes := l.inflight > 0
	if owes {
		p.mu.Unlock()
		// A batch was cut as the connection ended.
		l.fail(nil, cause)
		return
	}
	l.end()
	p.mu.Unlock()
	l.wmu.Lock()
	l.broken = true
	_ = l.conn.Close()
	l.wmu.Unlock()
	if lg := p.o.Logger; lg != nil && cause != nil {
		lg.Info("idle redis connection ended", "cause", cause)
	}
	p.Flush()
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
	p.mu.Lock()
	l.end()
	p.fences = append(p.fences, l.fence)
	if l.fence.id == 0 {
		p.settle(l.fence, false)
	}
	if !p.closed {
		// Even if nobody asks for anything any more, the fence is owed.
		p.connect()
	}
	p.mu.Unlock()
	l.interrupt()
	l.wmu.Lock()
	l.broken = true
	_ = l.conn.Close()
	l.wmu.Unlock()
	if lg := p.o.Logger; lg != nil {
		lg.Warn("redis connection lost", "error", cause, "unanswered", len(rest))
	}
	l.lose(rest, cause)
	for b := range l.batches {
		l.lose(b, cause)
	}
	p.runFences()
	p.Flush()
}

func (l *link) lose(rs []*Request, cause error) {
	for _, r := range rs {
		r.Reply, r.Err = nil, &LostError{Cause: cause}
		r.Done.Complete(r)
	}
}
