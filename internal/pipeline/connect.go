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

// connect starts to connect in the background, unless there is a connection or
// one is being made. It is called with mu held.
func (p *Pipeline) connect() {
	if p.dialling || p.releasing || p.conn != nil || p.ctx.Err() != nil {
		return
	}
	p.dialling = true
	p.o.log.Missed()
	p.wg.Go(p.connecting)
}

// connecting tries until there is a connection, or until none is needed: no
// request is queued and no broken connection awaits its kill barrier.
func (p *Pipeline) connecting() {
	defer p.expiring()()
	last := min(lastBackoff, max(shortLastBackoff, p.o.Timeout/3))
	p.mu.Lock()
	initial := min(p.backoff, last)
	p.mu.Unlock()
	if initial > 0 {
		p.pause(initial)
	}
	staleSeen := 0
	for backoff := firstBackoff; ; {
		err := p.attempt()
		if err == nil {
			p.runBarriers()
			p.Flush()
			return
		}
		if _, stale := err.(*staleError); stale && staleSeen < maxStale {
			staleSeen++
			continue
		}
		if !p.connectFailed(err) {
			// A request that was completed with the failure may have queued
			// another.
			p.Flush()
			return
		}
		p.pause(backoff)
		backoff = min(2*backoff, last)
	}
}

// pause waits, unless the pipeline is closed. Half of it is random, so that
// clients don't reconnect in step.
func (p *Pipeline) pause(d time.Duration) {
	select {
	case <-time.After(d/2 + rand.N(d/2)):
	case <-p.ctx.Done():
	}
}

// maxStale is how many dead connections a pool may lend before that counts as
// the server's trouble. After a restart all idle ones are dead.
const maxStale = 16

// staleError is the failure of a borrowed connection that was dead already.
type staleError struct{ error }

func (e *staleError) Unwrap() error { return e.error }

// stale tells whether conn was dead before anything was asked on it.
func stale(rc redis.Conn, err error) bool {
	_, own := rc.(interrupter)
	return !own && (errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE))
}

// attempt makes one connection and starts to use it.
func (p *Pipeline) attempt() error {
	if err := p.ctx.Err(); err != nil {
		return ErrClosed
	}
	ctx, cancel := context.WithTimeout(p.ctx, p.o.Timeout)
	defer cancel()
	rc, err := p.dial(ctx)
	if err != nil {
		return err
	}
	p.mu.Lock()
	var undecided []*killBarrier
	for _, b := range p.barriers {
		if !b.decided {
			undecided = append(undecided, b)
		}
	}
	p.mu.Unlock()
	o := &owned{rc: rc}
	// A silent server must not delay Close.
	stop := context.AfterFunc(p.ctx, o.interrupt)
	defer stop()
	ident, err := identify(rc, undecided, p.o)
	dead := stale(rc, err)
	if err == nil {
		// A pool lends connections to a former master as long as they work.
		err = ident.server.Usable()
		_, replica := errors.AsType[*transport.ReplicaError](err)
		_, own := rc.(interrupter)
		dead = replica && !own
		if replica {
			// The subscriptions may have been connected to the replica as well.
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
	barrier, killed := ident.barrier, ident.killed
	c := &conn{owned: o, p: p, barrier: barrier, replicas: ident.replicas, waited: ident.replicas > 0, batches: make(chan []*Request, maxInFlight), wrote: make(chan struct{}, maxInFlight)}
	if managedConn, ok := rc.(managed); ok {
		managedConn.Manage(c.beforeRead, c.afterRead)
		_ = managedConn.SetReadDeadline(time.Time{})
		c.managed = managedConn
	}
	c.pusher, _ = rc.(pusher)
	p.mu.Lock()
	for i, b := range undecided {
		p.decide(b, killed[i])
	}
	if p.ctx.Err() != nil {
		p.mu.Unlock()
		o.close()
		return ErrClosed
	}
	stop() // from here on that is Close's business
	p.conn, p.dialling, p.lastErr = c, false, nil
	// A connection that broke by itself may have been to another server too.
	moved := p.moved || p.at != "" && barrier.at != "" && p.at != barrier.at
	p.moved, p.at = false, barrier.at
	p.wg.Go(c.read)
	p.mu.Unlock()
	p.o.log.Connected(slog.Int64("conn_id", barrier.id), slog.String("conn_addr", barrier.addr))
	if moved && p.o.Moved != nil {
		p.o.Moved()
	}
	return nil
}

// connectFailed ends the requests whose time is over, after a failed attempt to
// connect. It tells whether to go on.
func (p *Pipeline) connectFailed(err error) bool {
	now := clock.Early(p.o.Clock)
	permanent := p.ctx.Err() != nil || p.o.Permanent != nil && p.o.Permanent(err)
	p.mu.Lock()
	p.lastErr = err
	failed := p.remove(func(r *Request) bool { return permanent || r.deadline <= now })
	undecided := false
	for _, b := range p.barriers {
		undecided = undecided || !b.decided
	}
	on := p.ctx.Err() == nil && (len(p.queue) > 0 || undecided)
	if !on {
		p.dialling = false
		// Keys to delete are no reason to go on. They go with the next batch.
		p.discardNow = false
	}
	p.mu.Unlock()
	if p.ctx.Err() == nil {
		p.o.log.Failed(err)
	}
	unsent(failed, err)
	return on
}
