package pipeline

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
)

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
			late := p.queue.remove(func(r *Request) bool { return p.dialling && r.deadline <= now })
			p.mu.Unlock()
			unsent(late, err)
		}
	})
	return stop
}

// errLate is the cause if a request's Until has passed before the connection could take it.
var errLate = errors.New("timeout: earlier commands took too long")

// dropLate ends the requests whose Until has passed. It is called with mu held and a
// connection in use.
func (p *Pipeline) dropLate() {
	late := p.queue.remove(func(r *Request) bool { return r.Until > 0 && r.Until < p.o.Clock.Now() })
	if len(late) > 0 {
		p.wg.Go(func() { unsent(late, errLate) }) // not on this goroutine, which holds mu
	}
}

// unsent completes requests that were not sent.
func unsent(rs []*Request, cause error) {
	for _, r := range rs {
		r.Err = &NotSentError{cause}
		r.Done.Complete(r)
	}
}
