package pipeline

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/rlock-go/redisson/internal/background"
)

// errConnecting is why a request was not sent when the first attempt to connect
// has no outcome yet.
var errConnecting = errors.New("timeout: there is no connection yet")

// expiring ends requests at their deadline while a connection is being made,
// until stop is called. A request that comes during an attempt must not wait
// for the end of the next one. It looks eight times in a command timeout. It
// leaves an eighth more to the attempt that began with the request, whose error
// says more.
func (p *Pipeline) expiring() (stop func()) {
	every := max(p.o.Timeout/8, time.Millisecond)
	ctx, stop := context.WithCancel(p.ctx)
	p.wg.Go(func() {
		for background.Sleep(ctx, every) {
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

// unsent completes requests that were not sent.
func unsent(rs []*Request, cause error) {
	for _, r := range rs {
		r.Err = &NotSentError{cause}
		r.Done.Complete(r)
	}
}
