package locks

import (
	"cmp"
	"context"
	"errors"

	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/observe"
	"github.com/rlock-go/redisson/internal/waitqueue"
)

var wakeNames = [waitqueue.Sources]string{"look", "message", "expiry", "handoff"}

// Begin is Start for a call with this context, counted and observed. If it returns nil, Result
// must be called.
func (w *Waiter) Begin(ctx context.Context) error {
	l := w.l
	if o := l.Client.Observer; o != nil {
		own := ctx
		if l.Client.tellsCalls {
			own = o.Acquire(ctx, l.subject(w.Terms.Owner))
		}
		w.call = l.Client.call(own)
	}
	err := ctx.Err()
	if err == nil {
		err = w.Start()
	}
	if err != nil {
		w.count(ctx, nil, err)
	}
	return err
}

// count counts how an acquire ended, and tells the observer.
func (w *Waiter) count(ctx context.Context, h *Hold, err error) {
	l := w.l
	outcome := observe.Timeout
	switch over := ctx.Err() != nil && errors.Is(err, ctx.Err()); {
	case err == nil:
		outcome = observe.Acquired
	case errors.Is(err, ErrUncertain):
		outcome = observe.Uncertain
	case over && !errors.Is(err, context.DeadlineExceeded):
		outcome = observe.Cancelled
	case !over && !errors.Is(err, l.Taken()):
		outcome = observe.Failed
	case !over && w.OneTry:
		outcome = observe.Locked
	}
	l.Client.counts[l.Traits.Label].acquires[outcome].Add(1)
	call, o := w.call, l.Client.Observer
	if o == nil {
		return
	}
	e := w.summary(h)
	e.How, e.Err = observe.OutcomeNames[outcome], err
	returned := false
	defer func() {
		if !returned {
			w.abandon(h)
		}
	}()
	call.seen.Tell(o, e.Subject)
	o.Tell(e)
	returned = true
}

// abandon gives back a grant that can't reach its caller, because the observer panicked or
// ended the goroutine.
func (w *Waiter) abandon(h *Hold) {
	if h != nil {
		abandon(h)
	}
	defer w.l.shard.enter(mayBlock).leave()
	if w.taken {
		w.undoTaken()
	}
}

// summary is what the observer is told of a wait that has ended.
func (w *Waiter) summary(h *Hold) observe.Event {
	e := observe.Event{Of: observe.CallAcquired, Ctx: w.call.ctx}
	if h != nil {
		e.Subject = h.subject()
	} else { // an attempt may be under way
		defer w.l.shard.enter(mustNotBlock).leave()
		e.Subject = w.l.subject(w.acquirer())
	}
	e.Attempts, e.Contended = w.tries, w.contended
	if w.n != nil {
		e.Took = max(w.l.Client.Clock.Now()-w.began, 0)
	}
	return e
}

// seen is the wait's observe.Call, made when it is first needed.
func (w *Waiter) seen() *observe.Call {
	if w.call.seen == nil {
		w.call.seen = new(observe.Call)
		w.call.seen.Begin(w.call.ctx)
	}
	return w.call.seen
}

// waitsForOthers notes that the waiter did not get what it came for at once.
func (w *Waiter) waitsForOthers() {
	w.contended = true
	if !w.OneTry && w.l.Client.Observer != nil {
		w.seen().Waits()
	}
}

// logResult logs how the wait ended.
func (w *Waiter) logResult(ctx context.Context, h *Hold, err error) {
	c, l := w.l.Client, eventlog.Lock{Name: w.n.lock.name}
	waited := max(c.Clock.Now()-w.began, 0)
	switch {
	case err != nil:
		c.Log.NotAcquired(ctx, l, waited, Named("acquire", l.Name, err))
	case h == nil:
		c.Log.LetThrough(ctx, l, waited, w.tries)
	default:
		l.Owner = h.state
		c.Log.Acquired(ctx, l, waited, w.tries, cmp.Or(w.Terms.Lease, c.Watchdog), w.Terms.Lease == 0)
	}
}
