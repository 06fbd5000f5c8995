package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"syscall"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/transport"
)

// The pause between attempts doubles between these. A request waits for a
// command timeout, so the last is shortened to give it more than one attempt.
const (
	firstBackoff     = 10 * time.Millisecond
	lastBackoff      = time.Second
	shortLastBackoff = 100 * time.Millisecond
)

// connect sees to a connection in the background. It is called with mu held.
func (p *Pipeline) connect() {
	if p.dialling || p.parting || p.link != nil || p.ctx.Err() != nil {
		return
	}
	p.dialling = true
	p.o.log.Missed()
	p.wg.Go(p.connecting)
}

// connecting tries until there is a connection or nobody needs one any more:
// no request is queued and no broken connection awaits its fence.
func (p *Pipeline) connecting() {
	defer p.expiring()()
	last := min(lastBackoff, max(shortLastBackoff, p.o.Timeout/3))
	p.mu.Lock()
	rest := min(p.rest, last)
	p.mu.Unlock()
	if rest > 0 {
		p.pause(rest)
	}
	spared := 0
	for backoff := firstBackoff; ; {
		err := p.attempt()
		if err == nil {
			p.runFences()
			p.Flush()
			return
		}
		if _, stale := err.(*staleError); stale && spared < spare {
			spared++
			continue
		}
		if !p.endure(err) {
			// What was told of the failure may have asked for more.
			p.Flush()
			return
		}
		p.pause(backoff)
		backoff = min(2*backoff, last)
	}
}

// pause waits, unless the pipeline is closed. Half of it is drawn, so that
// clients don't come back in step.
func (p *Pipeline) pause(d time.Duration) {
	select {
	case <-time.After(d/2 + rand.N(d/2)):
	case <-p.ctx.Done():
	}
}

// spare is how many dead connections a pool may lend before that is trouble of
// the server's: after a restart all that were idle are dead.
const spare = 16

// staleError ends an attempt with a borrowed connection that was dead when it
// came.
type staleError struct{ error }

func (e *staleError) Unwrap() error { return e.error }

// stale tells whether conn was dead before anything was asked on it.
func stale(conn redis.Conn, err error) bool {
	_, own := conn.(interrupter)
	return !own && (errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE))
}

// attempt makes one connection and puts it to use.
func (p *Pipeline) attempt() error {
	if err := p.ctx.Err(); err != nil {
		return ErrClosed
	}
	ctx, cancel := context.WithTimeout(p.ctx, p.o.Timeout)
	defer cancel()
	conn, err := p.dial(ctx)
	if err != nil {
		return err
	}
	p.mu.Lock()
	var old []*fence
	for _, f := range p.fences {
		if !f.settled {
			old = append(old, f)
		}
	}
	p.mu.Unlock()
	o := &owned{conn: conn}
	// A server that says nothing must not hold Close up.
	stop := context.AfterFunc(p.ctx, o.interrupt)
	defer stop()
	w, err := identify(conn, old, p.o)
	dead := stale(conn, err)
	if err == nil {
		// A pool lends its connections to a former master as long as they work.
		err = w.server.Usable()
		_, replica := errors.AsType[*transport.ReplicaError](err)
		_, own := conn.(interrupter)
		dead = replica && !own
		if replica {
			// Whoever else dialled meanwhile may have been led there too.
			p.mu.Lock()
			p.moved = true
			p.mu.Unlock()
		}
	}
	if err != nil {
		o.interrupt() // a pool must not lend it again
		o.close()
		err = fmt.Errorf("first words on a connection: %w", err)
		if dead {
			return &staleError{err}
		}
		return err
	}
	fence, killed := w.fence, w.killed
	l := &link{owned: o, p: p, fence: fence, replicas: w.replicas, waited: w.replicas > 0, batches: make(chan []*Request, maxInFlight), wrote: make(chan struct{}, maxInFlight)}
	if pc, ok := conn.(patient); ok {
		pc.Manage(l.pause, l.resume)
		_ = pc.SetReadDeadline(time.Time{})
		l.patient = pc
	}
	l.pusher, _ = conn.(pusher)
	p.mu.Lock()
	for i, f := range old {
		p.settle(f, killed[i])
	}
	if p.ctx.Err() != nil {
		p.mu.Unlock()
		o.close()
		return ErrClosed
	}
	stop() // from here on that is Close's business
	p.link, p.dialling, p.lastErr = l, false, nil
	// A connection that broke by itself may have stood at another server too.
	moved := p.moved || p.at != "" && fence.at != "" && p.at != fence.at
	p.moved, p.at = false, fence.at
	p.wg.Go(l.read)
	p.mu.Unlock()
	p.o.log.Connected(slog.Int64("conn_id", fence.id), slog.String("conn_addr", fence.addr))
	if moved && p.o.Moved != nil {
		p.o.Moved()
	}
	return nil
}

// endure decides after a failed attempt to connect what becomes of the queue
// and whether to go on.
func (p *Pipeline) endure(err error) bool {
	now := clock.Early(p.o.Clock)
	permanent := p.ctx.Err() != nil || p.o.Permanent != nil && p.o.Permanent(err)
	p.mu.Lock()
	p.lastErr = err
	failed := p.remove(func(r *Request) bool { return permanent || r.deadline <= now })
	unsettled := false
	for _, f := range p.fences {
		unsettled = unsettled || !f.settled
	}
	on := p.ctx.Err() == nil && (len(p.queue) > 0 || unsettled)
	if !on {
		p.dialling = false
		// Keys to delete are no reason to go on: they go with the next batch.
		p.due = false
	}
	p.mu.Unlock()
	if p.ctx.Err() == nil {
		p.o.log.Failed(err)
	}
	unsent(failed, err)
	return on
}
