package pipeline

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"
)

// waitTimeout is Redisson's slavesSyncTimeout.
const waitTimeout = time.Second

// link is one connection in use.
type link struct {
	p        *Pipeline
	conn     redis.Conn
	fence    *fence
	replicas int
	batches  chan []*Request // written or being written, in order
	wrote    chan struct{}   // one for each batch that is not being written any more
	wmu      sync.Mutex      // held while writing; guards broken
	broken   bool            // nothing is written any more, and batches are their completions' again

	writing  bool // guarded by p.mu
	inflight int  // guarded by p.mu
	ended    bool // guarded by p.mu: batches is closed
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
	for b := range l.batches {
		left := max(b[0].Sent+p.o.Timeout-p.o.Clock.Now(), time.Millisecond)
		for i, r := range b {
			if err := l.receive(r, left); err != nil {
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
		p.recycle(b)
		p.mu.Unlock()
		// The callers just woken get to queue before the next batch is cut.
		runtime.Gosched()
		p.Flush()
	}
	l.wmu.Lock()
	defer l.wmu.Unlock()
	_ = l.conn.Close()
}

// receive reads what answers r. Its error is the connection's.
func (l *link) receive(r *Request, timeout time.Duration) error {
	r.Reply, r.Err = redis.ReceiveWithTimeout(l.conn, timeout)
	if r.Err != nil {
		if _, ok := r.Err.(redis.Error); !ok {
			return r.Err
		}
	}
	if !r.Wait || l.replicas == 0 {
		return nil
	}
	n, err := redis.ReceiveWithTimeout(l.conn, timeout+waitTimeout)
	if _, ok := err.(redis.Error); err != nil && !ok {
		return err
	}
	acked, _ := n.(int64)
	r.Replicas, r.Acked = l.replicas, int(acked)
	return nil
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
