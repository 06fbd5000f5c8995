package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rlock-go/redisson/internal/background"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/redisconn"
)

// connect starts to connect in the background, unless there is a connection or
// one is being made. It is called with mu held.
func (p *Pipeline) connect() {
	if p.dialling || p.releasing || p.conn != nil || p.ctx.Err() != nil {
		return
	}
	p.dialling = true
	p.o.log.Missed()
	initial := p.backoff
	p.wg.Go(func() { p.connecting(initial) })
}

// connecting tries, after a pause, until there is a connection, or until none is needed:
// no request is queued and no broken connection awaits its kill barrier.
func (p *Pipeline) connecting(pause time.Duration) {
	defer p.expiring()()
	backoff := redisconn.Backoff{First: firstBackoff, Last: min(lastBackoff, max(shortLastBackoff, p.o.Timeout/3))}
	background.Sleep(p.ctx, min(pause, backoff.Last))
	for {
		stale, err := p.attempt()
		if err == nil {
			p.runBarriers()
			p.WakeWriter()
			return
		}
		if stale && backoff.Stale() {
			continue
		}
		if !p.connectFailed(err) {
			// A request that was completed with the failure may have queued
			// another.
			p.WakeWriter()
			return
		}
		select {
		case <-time.After(backoff.Next()):
		case <-p.retry:
			backoff.Reset()
		case <-p.ctx.Done():
		}
	}
}

// Retry has it connect at once if it pauses after an attempt that failed: there may be
// another server by now. It returns at once.
func (p *Pipeline) Retry() { background.Signal(p.retry) }

// attempt makes one connection and starts to use it. A borrowed one that was dead
// already is stale.
func (p *Pipeline) attempt() (stale bool, err error) {
	if p.ctx.Err() != nil {
		return false, ErrClosed
	}
	ctx, cancel := context.WithTimeout(p.ctx, p.o.Timeout)
	defer cancel()
	rc, err := p.dial(ctx)
	if err != nil {
		return false, err
	}
	p.mu.Lock()
	undecided := p.undecided()
	p.mu.Unlock()
	o := &redisconn.Owned{Conn: rc}
	// A silent server must not delay Close.
	stop := context.AfterFunc(p.ctx, o.Interrupt)
	defer stop()
	ident, err := identify(rc, undecided, p.o)
	stale = o.Stale(err)
	if err == nil {
		// A pool lends connections to a former master as long as they work.
		err = p.o.Usable(ident.server)
		_, replica := errors.AsType[*redisconn.ReplicaError](err)
		stale = replica && !o.Dialled()
		if replica {
			// The subscriptions may have been connected to the replica as well.
			p.mu.Lock()
			p.replaced = true
			p.mu.Unlock()
		}
	}
	if err != nil {
		o.Interrupt() // a pool must not lend it again
		o.Release()
		return stale, fmt.Errorf("first words on a connection: %w", err)
	}
	barrier := ident.barrier
	c := &conn{Owned: o, p: p, barrier: barrier, loaded: map[*luasrc.Script]bool{}, batches: make(chan []*Request, maxInFlight), wrote: make(chan struct{}, maxInFlight), back: make(chan struct{}, 1), idle: idleProcessor(), wake: make(chan struct{}, 1), over: make(chan struct{})}
	if p.o.Replicas {
		c.tally = p.o.Share.of(barrier.server, p.o.Stays != nil, p.o.Known)
	}
	if managedConn, ok := rc.(managed); ok {
		c.managed, c.exact = managedConn, !managedConn.Manage() || c.tally != nil
		_ = managedConn.SetReadDeadline(time.Time{})
	}
	if c.pusher, _ = rc.(pusher); c.pusher == nil {
		c.pusher = lent{rc}
	}
	c.atOnce = c.pusher.WritesAtOnce()
	if p.o.Led != nil {
		p.o.Led(barrier.server.place)
	}
	p.mu.Lock()
	for i, b := range undecided {
		b.doubted = p.o.Fixed && !ident.found[i] && (b.server.run == "" || b.server.run != barrier.server.run)
		b.decided, b.killed = true, ident.killed[i]
	}
	if p.ctx.Err() != nil {
		p.mu.Unlock()
		o.Release()
		return false, ErrClosed
	}
	stop() // from here on that is Close's business
	p.conn, p.dialling, p.lastErr = c, false, nil
	// A connection that broke by itself may have been to another server too.
	replaced := p.replaced || barrier.server.another(p.server)
	p.replaced, p.server = false, barrier.server
	if p.tally.Store(c.tally); c.tally != nil {
		c.counted(ident.online)
	}
	p.wg.Go(c.read)
	p.mu.Unlock()
	p.o.log.ConnectedAs(barrier.server.place, barrier.id, barrier.addr)
	if replaced && p.o.Replaced != nil {
		p.o.Replaced()
	}
	p.drawTwin(barrier.server)
	return false, nil
}

// connectFailed ends the requests whose time is over, after a failed attempt to
// connect. It tells whether to go on.
func (p *Pipeline) connectFailed(err error) bool {
	now := p.o.Clock.Now()
	permanent := p.ctx.Err() != nil || redisconn.Permanent(err)
	p.mu.Lock()
	p.lastErr, p.failedAt = err, now
	failed := p.queue.remove(func(r *Request) bool { return permanent || p.o.Spare || r.deadline <= now })
	on := p.ctx.Err() == nil && (p.queue.length > 0 || p.connects())
	if !on {
		p.dialling = false
		// Keys to delete are no reason to go on. They go with the next batch.
		p.discardNow = false
	}
	p.mu.Unlock()
	if p.ctx.Err() == nil {
		p.o.log.Failed(err)
		if p.o.Trouble != nil {
			p.o.Trouble(err)
		}
	}
	if p.o.Spare && p.ctx.Err() == nil {
		err = ErrGone
	}
	unsent(failed, err)
	return on
}
