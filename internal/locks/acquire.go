package locks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/eventlog"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/waitqueue"
)

// Waiter is one call that wants the lock. The shard's mutex guards it until its
// wait has ended. Then its caller reads hold and err.
type Waiter struct {
	waitqueue.Waiter // as its queue knows it; its Call is this Waiter
	n                *nameState
	l                *Lock
	Terms            Terms // set before Start
	began            time.Duration
	queueOwner       Owner // whose queue it waits in, where each owner has one

	ready   chan struct{} // gets one value when the wait has ended; buffered
	patient *time.Timer   // ends the wait of one that makes one attempt and gets no answer; nil: not made yet
	hold    *Hold
	taken   bool          // its attempt has taken what nobody owns; until its caller comes for it, it counts in work
	takenAt time.Duration // when that attempt was sent
	takenOf any           // the reply to it

	takenFar bool // its receipt is in another slot
	err      error
	vain     error // its latest grant was given back because of this; nil: there was none

	tries     int           // attempts in its name
	ttl       time.Duration // by the reply to its last attempt, as Queue.TTL
	unset     bool          // by that reply, no permits were ever set
	contended bool          // others had what it wants, or came before it
	call      observedCall
	owner     Owner    // of its attempts, without As
	ownerUsed bool     // an attempt by owner may have been granted
	attempt   *attempt // under way

	place     time.Duration // its wait as the server is told it; 0: without limit
	mustLeave bool          // it must leave the server's queue: since it last left, it was refused, or took a place over

	references atomic.Int32 // calls of done
}

// NewWaiter makes a waiter for one call. The caller sets its Terms, then calls Start or Begin
// and, if that returns nil, Await and Result.
func NewWaiter(l *Lock) *Waiter {
	w := spare[Waiter](&l.Client.spares.waiters)
	if w.ready == nil {
		w.ready, w.Call = make(chan struct{}, 1), w
	}
	w.l = l
	return w
}

// Start makes the first attempt, or queues the waiter.
func (w *Waiter) Start() error {
	l := w.l
	if w.Terms.As {
		w.Shared = w.Terms.Owner
		if w.Terms.Owner.client != l.Client.ID {
			w.Terms.Owner.Share() // another client of this process may have made it
		}
		if err := l.MayAct(w.Terms.Owner); err != nil {
			return err
		}
	}
	w.OneTry = w.Terms.HasWait && w.Terms.Wait == 0
	w.Size = w.Terms.Size
	s := l.shard
	defer s.enter(mayBlock).leave()
	if l.Client.phase.Load() != phaseOpen {
		if err := admitReentry(l, &w.Terms); err != nil {
			return err
		}
	}
	n := s.ensure(l)
	w.n, w.began = n, s.Now()
	if w.place = w.Terms.Wait; w.place > 0 {
		w.Until = clock.Later(w.began, w.place)
	}
	if w.Terms.Place > 0 {
		w.place = w.Terms.Place
	}
	only := n.queues == nil && n.lone == nil && n.states == nil && !w.Terms.As && !l.Traits.ByOwner
	if !only || n.fairShare != nil && l.Traits.FairShare && !waitqueue.Free(n.fairShare, w.began, w.Until) {
		return w.join()
	}
	// This client has no other state of the name, and its fair share does not make w wait. So w
	// needs no queue for now: most calls are like that, and are granted at once. Anything else, such
	// as another call, a refusal, trouble or a caller that gives up, first makes the queue that the
	// waiter would have had, in the state that it would be in (nameState.queueLone).
	n.lone = w
	w.try()
	return nil
}

// admitReentry returns an error unless an acquire may begin although the client is being shut down: it
// may if its owner already holds the lock. It is called with the shard locked.
func admitReentry(l *Lock, t *Terms) error {
	if l.Client.Closed() {
		return ErrClosed
	}
	if st := l.ownerState(t.Owner); t.As && st != nil && st.held > 0 {
		return nil
	}
	if l.Traits.Permits || l.Traits.Gate { // their callers know of no owner
		return fmt.Errorf("%w: it is being shut down", ErrClosed)
	}
	return fmt.Errorf("%w: it is being shut down, only owners that hold the lock may re-enter", ErrClosed)
}

// join queues a waiter that is not alone. It is called with the shard locked.
func (w *Waiter) join() error {
	n, l := w.n, w.l
	n.pins++
	defer n.unpin()
	if err := checkUpgrade(n, l, &w.Terms); err != nil {
		return err
	}
	if l.Traits.ByOwner {
		if !w.Terms.As {
			w.owner = l.Client.actors.ofAcquire()
		}
		w.queueOwner = w.acquirer()
	}
	q := n.ensureQueue(l, w.queueOwner)
	w.place = q.choosePlace(w.place)
	if w.OneTry || w.Terms.As || q.Roomy() {
		q.JoinUnqueued(w.began, &w.Waiter)
	} else {
		q.Join(w.began, &w.Waiter, n.holders > 0)
		l.Client.Log.Queued(l.shard, eventlog.Lock{Name: n.lock.name}, q.Len()-1)
	}
	n.step()
	if w.tries == 0 && !w.Settled {
		w.waitsForOthers()
	}
	return nil
}

// checkUpgrade refuses an acquire that could never be granted, because its owner already holds by
// another kind.
func checkUpgrade(n *nameState, l *Lock, t *Terms) error {
	if !t.As || l.Traits.NoUpgrade == nil {
		return nil
	}
	if st := n.findOwnerState(t.Owner); st != nil && st.held > 0 && st.tally(l) == 0 {
		return fmt.Errorf("%w: %w", ErrInvalidOption, l.Traits.NoUpgrade)
	}
	return nil
}

// acquirer is the owner that acquires: the one given with As, or that of the latest attempt.
func (w *Waiter) acquirer() Owner {
	if w.Terms.As {
		return w.Terms.Owner
	}
	return w.owner
}

// queue is the queue that w waits in, or nil if it was dropped.
func (w *Waiter) queue() *queue { return w.n.findQueue(w.l, w.queueOwner) }

// want tells a kind what the waiter wants.
func (w *Waiter) want(o kind.Owner) kind.Want {
	return kind.Want{Names: &w.l.names, Owner: o, OneTry: w.OneTry, Wait: w.place, Publish: w.l.Client.top.Publish(w.l.slot), Known: w.l.Client.failsOver}
}

// Result is what the caller returns. cause is why it stopped waiting, nil if
// the wait of w has ended.
func (w *Waiter) Result(ctx context.Context, cause error) (h *Hold, err error) {
	c := w.l.Client
	if cause == nil {
		h, err = w.hold, w.err
	} else {
		h, err = w.giveUp(cmp.Or(ctx.Err(), cause)) // both may have ended
	}
	if w.taken {
		c.work.Done() // before the observer is told, which may call Close
	}
	if c.Log != nil && c.Log.On(ctx, slog.LevelDebug) {
		w.logResult(ctx, h, err)
	}
	w.count(ctx, h, err)
	switch {
	case !w.taken:
	case c.failsOver:
		rememberTaken(w.l, w.owner, w.takenAt, w.takenOf)
	default: // it needs no undo any more
		c.exec.Discard(w.l.slot, kind.Receipt(&w.l.names, w.owner))
	}
	if h != nil {
		if w.Terms.AtLeast > 0 {
			h.KeepTaken(w.Terms.AtLeast) // nothing gives it back any more
		}
		w.done()
	}
	return h, err
}

// Forever tells whether, by the server's last reply, the key never expires. Few locks are like
// that. It is for the caller, after Result.
func (w *Waiter) Forever() bool {
	defer w.n.lock.shard.enter(mustNotBlock).leave()
	return w.ttl < 0
}

// giveUp ends the wait for its caller. cause is what Await returned. An attempt that was not written yet is taken back. Any other goes
// on, and what it is granted is given back.
func (w *Waiter) giveUp(cause error) (*Hold, error) {
	n := w.n
	defer n.lock.shard.enter(mayBlock).leave()
	if w.Settled {
		h, elapsed := w.hold, cause == w.l.Taken() || cause == errUnanswered
		switch {
		case h == nil && w.err == nil && elapsed: // a gate was opened, or it has taken what nobody owns
			return nil, nil
		case h == nil && w.err == nil:
			if w.taken {
				w.undoTaken()
				n.lock.Client.work.Done()
			}
			return nil, cause
		case h == nil && (elapsed || errors.Is(w.err, cause)):
			return nil, w.err
		case h == nil:
			return nil, fmt.Errorf("%w: %w", cause, w.err)
		case elapsed:
			<-w.ready     // its wake-up is there, and must not wake the next user of w
			return h, nil // it was granted in time, and nobody else has it (A6)
		}
		// Cancellation beats a simultaneous grant (A4).
		w.hold = nil
		giveBack(h)
		return nil, cause
	}
	n.pins++ // it would be dropped with the attempt, but a leaver of the server's queue needs it
	defer n.unpin()
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

// endWait tells the caller that its wait has ended, and why. If its attempt was not written
// yet, it is taken back. It is the queue's last action for the waiter, and is called with the
// shard locked.
func (w *Waiter) endWait(why waitqueue.Reason, err error) {
	a := w.attempt
	cancelled := why != waitqueue.Granted && a != nil && a.cancel()
	switch why {
	case waitqueue.Refused:
		w.err = w.unsetToo(w.refusedWith(w.l.Taken()))
	case waitqueue.Unreachable:
		w.err = w.unreachable(err)
	case waitqueue.Failed:
		w.err = err
	}
	if cancelled {
		a.unsent()
	}
	if why != waitqueue.Granted {
		w.leaveServer()
	}
	w.ready <- struct{}{}
}

// asked notes that the server was asked in the waiter's name and did not grant.
func (w *Waiter) asked() {
	w.mustLeave = true
	if w.Settled {
		w.leaveServer()
	}
}

// leaveServer takes a waiter that gives up after a refusal out of the server's queue, unless
// another waiter takes over its place.
func (w *Waiter) leaveServer() {
	if !w.mustLeave {
		return
	}
	w.mustLeave = false
	n := w.n
	o := w.acquirer()
	if !w.l.Traits.ByOwner || w.OneTry || w.Terms.As && n.passPlaceOn(w.l, o) {
		return
	}
	st := n.ensureOwnerState(o)
	st.run(newLeaver(st, w.l, w.want(st), w.began))
}

// takePlace takes over the place in the server's queue that another caller of the owner leaves, if
// w needs one.
func (w *Waiter) takePlace() bool {
	takes := w.Terms.As && !w.OneTry
	w.mustLeave = w.mustLeave || takes
	return takes
}

// fail ends the wait with an error. step must follow.
func (w *Waiter) fail(err error) {
	if !w.Settled {
		w.queue().Fail(&w.Waiter, err)
	}
}

// facts are what the queue knows of the wait.
func (w *Waiter) facts() waitqueue.Facts {
	q := w.queue()
	if q == nil {
		return waitqueue.Facts{Refused: w.Refused}
	}
	return q.Facts(&w.Waiter)
}

// done is called by each of the two that refer to a waiter whose first attempt was granted:
// that attempt, and the waiter's caller. The second call recycles the waiter.
func (w *Waiter) done() {
	if w.references.Add(1) < 2 {
		return
	}
	c := w.l.Client
	if w.call.seen != nil {
		c.forgetCall(w.call.seen)
	}
	*w = Waiter{ready: w.ready, patient: w.patient}
	w.Call = w
	c.spares.waiters.Put(w)
}

// failAll ends all waits with ErrClosed, but not those of owners that hold, if re-entry is
// still allowed.
func (c *Client) failAll(reentry bool) {
	c.eachName(func(n *nameState) {
		for q := range n.eachQueue {
			if c.Closed() {
				q.Close()
			}
			for waits := range q.All() {
				if w := waits.Call.(*Waiter); !reentry || !w.Terms.As || !n.holds(w.Terms.Owner) {
					w.fail(ErrClosed)
				}
			}
		}
		n.step()
	})
}

// errUnanswered is why a waiter that makes one attempt stops waiting for its answer.
var errUnanswered = errors.New("no answer in time")

// Await blocks until the wait of w has ended. It returns early with ctx's error, with the
// error of Lock.Taken when Terms.Wait has elapsed, or with errUnanswered when a waiter that
// makes one attempt has had no answer for Executor.OneSend.
func (w *Waiter) Await(ctx context.Context) error {
	var elapsed <-chan time.Time
	why := errUnanswered
	switch wait := w.Terms.Wait; {
	case w.OneTry:
		// The attempt may first wait for a connection, for the WAIT of others, or for the node
		// that serves its slot, each for a command timeout. The call must not take their sum.
		defer w.patience().Stop()
		elapsed = w.patient.C
	case wait > 0:
		elapsed, why = time.After(wait), w.l.Taken()
	case ctx.Done() == nil:
		<-w.ready
		return nil
	}
	select {
	case <-w.ready:
		// Both may have happened.
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	case <-elapsed:
		return why
	}
}

// patience starts the timer of a waiter that makes one attempt.
func (w *Waiter) patience() *time.Timer {
	c := w.l.Client
	if d := c.exec.OneSend(c.Replicas); w.patient == nil {
		w.patient = time.NewTimer(d)
	} else {
		w.patient.Reset(d)
	}
	return w.patient
}
