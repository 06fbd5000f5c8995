package lockstate

import (
	"context"
	"fmt"

	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/waitqueue"
)

// join queues a waiter that is not alone. It is called with the shard locked.
func (w *Waiter) join() error {
	n, l := w.n, w.l
	n.pins++
	defer n.unpin()
	if err := n.check(l, &w.Terms); err != nil {
		return err
	}
	w.chooseQueue()
	if q := n.ensureQueue(l, w.queueOwner); w.Once || w.Terms.As {
		q.JoinUnqueued(w.began, &w.Waiter)
	} else {
		q.Join(w.began, &w.Waiter, n.holders > 0)
		l.c.log.Queued(&l.s.sec, eventlog.Lock{Name: n.l.name}, q.Len()-1)
	}
	n.step()
	return nil
}

// admit returns an error unless an acquire may begin. It is called with the
// shard locked.
func (c *State) admit(s *shard, l *Lock, t *Terms) error {
	switch c.state.Load() {
	case stateClosed:
		return ErrClosed
	case stateDraining:
		if n := s.find(l); t.As && n != nil && n.holds(t.Owner) {
			return nil
		}
		return fmt.Errorf("%w: it is being shut down, only owners that hold the lock may re-enter", ErrClosed)
	}
	return nil
}

// actAs has other clients of this process know that the waiter's owner is used here, and
// asks whether it may be.
func (w *Waiter) actAs(l *Lock) error {
	if w.Terms.Owner.client != l.c.id {
		w.Terms.Owner.share() // with another client of this process, if it is of one
	}
	return l.c.act(l, w.Terms.Owner)
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

// stopped is the result of a wait that its caller has ended.
func (w *Waiter) stopped(ctx context.Context, cause error) (*Hold, error) {
	if ctx.Err() != nil {
		cause = ctx.Err() // both may have ended
	}
	defer w.l.s.enter(mayBlock).leave()
	return w.giveUp(cause)
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
