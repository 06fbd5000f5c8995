package pipeline

import (
	"errors"
	"fmt"
	"slices"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/redisconn"
)

// connect starts to connect in the background, unless there is a connection or
// one is being made. It is called with mu held.
func (p *Pipeline) connect() {
	if p.dialling || p.ending != nil || p.conn != nil || p.ctx.Err() != nil {
		return
	}
	p.dialling = true
	p.o.Log.Missed()
	p.wg.Go(p.connecting)
}

// connecting tries until there is a connection, with a pause before each attempt. It stops
// when none is needed: no request is queued and no broken connection awaits its kill barrier.
func (p *Pipeline) connecting() {
	defer p.expiring()()
	for {
		p.link.Await(p.ctx)
		switch moot, err := p.attempt(); {
		case err == nil:
			p.runBarriers()
		case moot || p.connectFailed(err):
			continue
		}
		// A request that was completed with the failure may have queued another.
		p.WakeWriter()
		return
	}
}

// Connecting tells whether a connection is being made.
func (p *Pipeline) Connecting() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dialling
}

// Uses tells whether the connection with this number is in use.
func (p *Pipeline) Uses(number uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.conn != nil && p.conn.number == number
}

// Retry ends the pause after a failed attempt to connect, because there may be another
// server by now. It returns at once.
func (p *Pipeline) Retry() { clock.Signal(p.link.Retried) }

// attempt makes one connection and starts to use it. Link.Open says what a moot error is.
func (p *Pipeline) attempt() (moot bool, err error) {
	if p.ctx.Err() != nil {
		return false, ErrClosed
	}
	p.mu.Lock()
	undecided := slices.DeleteFunc(slices.Clone(p.barriers), func(b *killBarrier) bool { return b.decided })
	p.mu.Unlock()
	var ident *identity
	o, moot, err := p.link.Open(p.ctx, func(o *redisconn.Owned) (err error) {
		if ident, err = identify(o.Conn, undecided, p.o); err != nil {
			return fmt.Errorf("first words on a connection: %w", err)
		}
		if p.o.Node.Usable != nil {
			return p.o.Node.Usable(ident.server)
		}
		return ident.server.Usable()
	})
	if err != nil {
		_, replica := errors.AsType[*redisconn.ReplicaError](err)
		p.mu.Lock()
		p.replaced = p.replaced || replica // the subscriptions may have been connected to it as well
		p.mu.Unlock()
		return moot, err
	}
	barrier := ident.barrier
	c := p.newConn(o, barrier)
	p.mu.Lock()
	// A connection that broke by itself may have been to another server too.
	moved := p.replaced || barrier.server.another(p.server)
	p.mu.Unlock()
	if p.o.Node.Connected != nil {
		p.o.Node.Connected(barrier.server.place, moved)
	}
	tell := p.o.Log.Connected(barrier.server.place, barrier.id, barrier.addr) // counts it before the first reply on it
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
	p.conn, p.dialling, p.lastErr = c, false, nil
	p.replaced, p.server = false, barrier.server
	if p.tally.Store(c.tally); c.tally != nil {
		c.counted(ident.online, ident.hidden)
	}
	p.wg.Go(c.read)
	p.mu.Unlock()
	tell()
	// This connection is in use by now. So if both siblings connect at the same time, at least one
	// sees that the other leads to another server.
	if other := p.sibling; other != nil && other.leadsElsewhere(barrier.server) {
		other.Retire(errApart)
	}
	return false, nil
}

// connectFailed ends the requests whose deadline has passed, after a failed attempt to
// connect. After a permanent error, or with Options.Spare, it ends all requests. It
// reports whether to try again.
func (p *Pipeline) connectFailed(err error) bool {
	now := p.o.Clock.Now()
	permanent := p.ctx.Err() != nil || redisconn.Permanent(err)
	p.mu.Lock()
	p.lastErr, p.failedAt = err, now
	failed := p.queue.remove(func(r *Request) bool { return permanent || p.o.Spare || r.Deadline <= now })
	on := p.ctx.Err() == nil && (p.queue.length > 0 || p.connects())
	if !on {
		p.dialling = false
		p.link.Worked() // the next request does not wait for a pause
		// Keys to delete are no reason to try again. They go with the next batch.
		p.discardNow = false
	}
	p.mu.Unlock()
	if p.ctx.Err() == nil {
		p.o.Log.Failed(err)
		if p.o.Node.Trouble != nil {
			p.o.Node.Trouble(err)
		}
	}
	if p.o.Spare && p.ctx.Err() == nil {
		err = ErrGone
	}
	unsent(failed, err)
	return on
}
