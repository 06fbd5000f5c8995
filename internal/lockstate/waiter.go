package lockstate

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/waitqueue"
)

// Waiter is one call that wants the lock. The shard's mutex guards it until its
// wait has ended. Then its caller reads hold and err.
type Waiter struct {
	waitqueue.Waiter
	n     *name
	l     *Lock
	Terms Terms // set before Start

	ready chan struct{} // gets one when the wait has ended; has room for it
	hold  *Hold
	err   error

	began     time.Duration
	tries     int      // attempts in its name
	owner     Owner    // of the attempts, without As
	ownerUsed bool     // an attempt in its name was not refused
	attempt   *attempt // under way

	queueOwner Owner // whose queue it waits in, where each owner has one
	refused    bool  // what it asked for was refused since the server was last told that it left

	references atomic.Int32 // to it, once it was granted the lock
}

// endWait tells the caller that its wait has ended, and why. It is the queue's
// last action for the waiter, and is called with the shard locked.
func (w *Waiter) endWait(why waitqueue.Reason, err error) {
	switch why {
	case waitqueue.Refused:
		w.err = ErrLocked
	case waitqueue.Unreachable:
		a := w.attempt
		cancelled := a != nil && a.cancel()
		w.err = w.unreachable(err)
		if cancelled {
			a.unsent()
		}
	case waitqueue.Failed:
		w.err = err
	}
	if why != waitqueue.Granted {
		w.leaveServer()
	}
	w.ready <- struct{}{}
}

// fail ends the wait with an error. step must follow.
func (w *Waiter) fail(err error) {
	if !w.Settled {
		w.queue().Fail(&w.Waiter, err)
	}
}

// giveUp ends the wait for its caller: cause is the error of its ctx, or
// ErrLocked when the wait has elapsed. An attempt under way goes on, and what
// it is granted is given back. It is called with the shard locked.
func (w *Waiter) giveUp(cause error) (*Hold, error) {
	n := w.n
	if w.Settled {
		if w.hold == nil && w.err == nil { // a gate was opened
			if errors.Is(cause, ErrLocked) {
				cause = nil
			}
			return nil, cause
		}
		if w.hold == nil {
			if !errors.Is(cause, ErrLocked) && !errors.Is(w.err, cause) {
				return nil, fmt.Errorf("%w: %w", cause, w.err)
			}
			return nil, w.err
		}
		h := w.hold
		if errors.Is(cause, ErrLocked) {
			<-w.ready     // its wake-up is there, and must not wake the next user of w
			return h, nil // it was granted in time, and nobody else has it (A6)
		}
		// Cancellation beats a simultaneous grant (A4).
		w.hold = nil
		h.giveBack()
		return nil, cause
	}
	a := w.attempt
	cancelled := a != nil && a.cancel()
	err := w.waitError(cause)
	w.queue().Leave(&w.Waiter)
	if cancelled {
		a.unsent()
	}
	w.leaveServer()
	n.step()
	return nil, err
}

// wasRefused tells whether the waiter has had an answer: to an attempt of its
// own, or to an attempt that its queue made while the waiter was in it.
func (w *Waiter) wasRefused() bool { return w.facts().Told }

// facts are what the queue knows of the wait.
func (w *Waiter) facts() waitqueue.Facts {
	q := w.queue()
	if q == nil {
		return waitqueue.Facts{Told: w.Told}
	}
	return q.Facts(&w.Waiter)
}

// waitError is the error of a caller that gives up, with what is known then
// (A6, A7).
func (w *Waiter) waitError(cause error) error {
	facts := w.facts()
	last := facts.Trouble
	if last == nil && (w.attempt != nil || facts.InFlight) {
		// A request that waits to be written does not know yet why it can't be.
		last = w.n.s.c.exec.Trouble(w.n.l.slot)
	}
	elapsed := errors.Is(cause, ErrLocked)
	unanswered := w.attempt != nil && w.attempt.unanswered()
	err := cause
	switch {
	case elapsed && w.lastSaidTaken(facts):
		switch {
		case last != nil:
			err = fmt.Errorf("%w (last trouble: %w)", cause, last)
		case unanswered:
			err = fmt.Errorf("%w (the last attempt was not answered in time; a grant that still comes is given back)", cause)
		}
	// A server that has not said "taken" has not said "locked".
	case elapsed && last == nil && unanswered:
		err = fmt.Errorf("%w: the wait elapsed before an answer came; a grant that still comes is given back", ErrUncertain)
	case elapsed && (unanswered || w.ownerUsed && command.IsLost(last)):
		err = fmt.Errorf("%w: the wait elapsed without an answer: %w", ErrUncertain, last)
	case elapsed:
		err = fmt.Errorf("the wait elapsed without an answer: %w", w.unsent(last))
	case last != nil:
		err = fmt.Errorf("%w (last trouble: %w)", cause, last)
	}
	return err
}

// lastSaidTaken tells whether the server's last answer was that another owner
// holds the lock.
func (w *Waiter) lastSaidTaken(facts waitqueue.Facts) bool {
	if w.Terms.As && w.n.holds(w.Terms.Owner) {
		return false // since then its owner came to hold it
	}
	return facts.Told || facts.Known
}

// unsent says why no attempt of the waiter has run. last is the last trouble,
// or nil.
func (w *Waiter) unsent(last error) error {
	var why error
	switch a := w.attempt; {
	case a != nil && a.inCommandQueue():
		why = fmt.Errorf("an earlier command of owner %s is still without an answer", w.Terms.Owner)
	case a == nil && (command.IsLost(last) || w.facts().InFlight):
		why = errors.New("an earlier caller's attempt is still without an answer")
	case last != nil && !command.IsLost(last):
		return last
	case a != nil:
		why = errors.New("it still waits to be written")
	default:
		why = errors.New("it was not its turn yet")
	}
	if last != nil {
		why = fmt.Errorf("%w (%w)", why, w.sinceLost(last))
	}
	return command.Unsent(why)
}

// unreachable is the error of a waiter that never had an answer and whose
// trouble has lasted for a command timeout.
func (w *Waiter) unreachable(err error) error {
	unanswered := w.attempt != nil && w.attempt.unanswered()
	switch {
	case !command.IsLost(err) && !unanswered:
		return err
	case !w.ownerUsed:
		return w.unsent(err)
	}
	return fmt.Errorf("%w: %w; whatever it took is being given back", ErrUncertain, w.sinceLost(err))
}

// sinceLost adds to the error of a lost command why there has been no
// connection since.
func (w *Waiter) sinceLost(err error) error {
	if why := w.n.s.c.exec.Trouble(w.n.l.slot); why != nil && command.IsLost(err) {
		return fmt.Errorf("%w; since then: %w", err, errors.Unwrap(why))
	}
	return err
}

// chooseQueue decides whose queue it waits in.
func (w *Waiter) chooseQueue() {
	switch {
	case !w.l.traits.ByOwner:
	case w.Terms.As:
		w.queueOwner = w.Terms.Owner
	default:
		w.owner = w.l.c.ownOwner()
		w.queueOwner = w.owner
	}
}

// queue is where it waits, nil if nobody does any more.
func (w *Waiter) queue() *waitQueue { return w.n.findQueue(w.l, w.queueOwner) }

// fill tells a kind what the waiter wants.
func (w *Waiter) fill(want *kind.Want, st *OwnerState) {
	*want = kind.Want{Names: &w.l.names, Owner: st, Publish: w.l.publish(), Once: w.Once}
	if w.Until > 0 {
		want.Wait = w.Until - w.began
	}
}

// check refuses what could never be granted to an owner that holds already.
func (n *name) check(l *Lock, t *Terms) error {
	if !t.As {
		return nil
	}
	st := n.findOwnerState(t.Owner)
	if st == nil || st.held == 0 {
		return nil
	}
	var held []kind.Held
	for h := st.holds; h != nil; h = h.next {
		held = append(held, kind.Held{Kind: h.l.kind, Names: &h.l.names, Owner: st, Count: 1})
	}
	if err := l.kind.Check(&kind.Want{Names: &l.names, Owner: st}, held); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalidOption, err)
	}
	return nil
}

// NewWaiter gives a waiter for one call, whose Terms are to be set. Start, Await
// and Result follow, in this order, unless one fails.
func NewWaiter() *Waiter { return waiters.Get().(*Waiter) }

// Start makes the first attempt, or queues the waiter. A wait below 0 lasts as
// long as its context.
func (w *Waiter) Start(l *Lock, once bool, wait time.Duration) error {
	if w.Terms.As && w.Terms.Owner.client != l.c.id {
		w.Terms.Owner.share() // with another client of this process, if it is of one
	}
	if w.Terms.As {
		if err := l.c.act(l, w.Terms.Owner); err != nil {
			return err
		}
	}
	w.Once = once
	s := l.shard()
	defer s.enter(mayBlock).leave()
	if err := l.c.admit(s, l, &w.Terms); err != nil {
		return err
	}
	n := s.pin(l)
	defer n.unpin()
	if err := n.check(l, &w.Terms); err != nil {
		return err
	}
	w.n, w.l, w.began, w.Shared = n, l, n.now(), w.Terms.As
	w.chooseQueue()
	if wait >= 0 {
		w.Until = w.began + wait
	}
	if n.alone(w) {
		n.lone = w
		n.try(w)
		return nil
	}
	if q := n.ensureQueue(l, w.queueOwner); once || w.Terms.As {
		q.JoinUnqueued(w.began, &w.Waiter)
	} else {
		q.Join(w.began, &w.Waiter, q.Len() == 0 && n.held())
		l.c.log.queued(w)
	}
	n.step()
	return nil
}

// Await waits until the wait of w has ended. It returns early with ctx's error,
// or with ErrLocked when wait has elapsed.
func (w *Waiter) Await(ctx context.Context, wait time.Duration) error {
	if wait < 0 && ctx.Done() == nil {
		<-w.ready
		return nil
	}
	var elapsed <-chan time.Time
	if wait >= 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		elapsed = timer.C
	}
	select {
	case <-w.ready:
		// Both may have happened.
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	case <-elapsed:
		return ErrLocked
	}
}

// Result is what the caller returns. cause is why it stopped waiting, nil if
// the wait of w has ended.
func (w *Waiter) Result(ctx context.Context, cause error) (*Hold, error) {
	c, s := w.n.s.c, w.n.s
	if cause != nil && ctx.Err() != nil {
		cause = ctx.Err() // both may have ended
	}
	var h *Hold
	var err error
	if cause == nil {
		h, err = w.hold, w.err
	} else {
		sec := s.enter(mayBlock)
		h, err = w.giveUp(cause)
		sec.leave()
	}
	c.log.entered(ctx, w, h, err)
	if h != nil {
		w.done()
	}
	return h, err
}
