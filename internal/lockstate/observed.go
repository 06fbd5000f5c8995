package lockstate

import (
	"context"
	"errors"
	"time"

	"github.com/rlock-go/redisson/internal/command"
	"github.com/rlock-go/redisson/internal/lockerr"
	"github.com/rlock-go/redisson/internal/observe"
	"github.com/rlock-go/redisson/internal/owner"
	"github.com/rlock-go/redisson/internal/release"
	"github.com/rlock-go/redisson/internal/section"
	"github.com/rlock-go/redisson/internal/topology"
	"github.com/rlock-go/redisson/internal/waitqueue"
)

// ownerOf is the owner of a state, as an event may keep it. It allocates nothing.
type ownerOf struct{ st *OwnerState }

func (o ownerOf) String() string { return o.st.owner.String() }

// subject is the lock, and the hold's owner.
func (h *Hold) subject() observe.Subject {
	s := h.l.Subject(owner.Owner{})
	s.Owner = ownerOf{h.st}
	return s
}

// call is a call that is observed. The zero call is not.
type call struct {
	ctx  context.Context // the call's, as the observer returned it
	seen *observe.Call   // what to report of it; nil: nothing
}

// call makes the call of a context that the observer has returned.
func (c *State) call(ctx context.Context) call {
	if !c.keepsCommands {
		return call{ctx, nil}
	}
	seen := c.spares.calls.Get().(*observe.Call)
	seen.Begin(ctx)
	return call{ctx, seen}
}

// forget recycles seen, which nobody refers to any more.
func (c *State) forget(seen *observe.Call) {
	if seen != nil {
		*seen = observe.Call{}
		c.spares.calls.Put(seen)
	}
}

// leave is called by each of the two that refer to an unlock's seen: its release and its
// caller. The second call recycles seen.
func (c *State) leave(seen *observe.Call) {
	if seen != nil && seen.Left() == 2 {
		c.forget(seen)
	}
}

var wakeNames = [waitqueue.Sources]string{"look", "message", "expiry", "handoff"}

// Begin is Start for a call with this context, counted and observed. If it returns nil, Result
// must be called.
func (w *Waiter) Begin(ctx context.Context) error {
	l := w.l
	if o := l.c.Observer; o != nil {
		own := ctx
		if l.c.tellsCalls {
			own = o.Acquire(ctx, l.Subject(w.Terms.Owner))
		}
		w.call = l.c.call(own)
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
	outcome := w.outcome(ctx, err)
	l.counts().acquires[outcome].Add(1)
	call, o := w.call, l.c.Observer
	if o == nil {
		return
	}
	s, a := w.summary(h)
	a.Outcome, a.Err = observe.OutcomeNames[outcome], err
	returned := false
	defer func() {
		if !returned {
			w.abandon(h)
		}
	}()
	call.seen.Tell(o, s)
	o.Acquired(call.ctx, s, a)
	returned = true
}

// abandon gives back a grant that can't reach its caller, because the observer panicked or
// ended the goroutine.
func (w *Waiter) abandon(h *Hold) {
	if h != nil {
		h.abandon()
	}
	defer w.l.s.Enter(section.MayBlock).Leave()
	if w.taken {
		w.undoTaken()
	}
}

// summary is what the observer is told of a wait that has ended.
func (w *Waiter) summary(h *Hold) (s observe.Subject, a observe.Acquire) {
	if h != nil {
		s = h.subject()
	} else { // an attempt may be under way
		defer w.l.s.Enter(section.MustNotBlock).Leave()
		s = w.l.Subject(w.acquirer())
	}
	a.Attempts, a.Contended = w.tries, w.contended
	if w.n != nil {
		a.Wait = max(w.l.c.Now()-w.Began, 0)
	}
	return s, a
}

// outcome is how an acquire ended.
func (w *Waiter) outcome(ctx context.Context, err error) int {
	switch over := ctx.Err() != nil && errors.Is(err, ctx.Err()); {
	case err == nil:
		return observe.Acquired
	case errors.Is(err, lockerr.ErrUncertain):
		return observe.Uncertain
	case over && !errors.Is(err, context.DeadlineExceeded):
		return observe.Cancelled
	case !over && !errors.Is(err, w.l.Taken()):
		return observe.Failed
	case !over && w.OneTry:
		return observe.Locked
	}
	return observe.Timeout
}

// seen is the wait's observe.Call, made when it is first needed.
func (w *Waiter) seen() *observe.Call {
	if w.call.seen == nil {
		w.call.seen = new(observe.Call)
		w.call.seen.Begin(w.call.ctx)
	}
	return w.call.seen
}

// tried notes that an attempt is about to be made in the waiter's name.
func (w *Waiter) tried() {
	if w.contended && w.l.c.Observer != nil {
		w.seen().Woken(wakeNames[w.Woken])
	}
}

// waitsForOthers notes that the waiter did not get what it came for at once.
func (w *Waiter) waitsForOthers() {
	w.contended = true
	if !w.OneTry && w.l.c.Observer != nil {
		w.seen().Waits()
	}
}

// observedUnlock is a call of Unlock that is observed.
type observedUnlock struct {
	call
	ended bool // it ended a hold that had not been lost
	held  time.Duration
}

// observeUnlock begins to observe an unlock, if there is an observer.
func (h *Hold) observeUnlock(ctx context.Context) (u observedUnlock) {
	c := h.l.c
	if c.Observer == nil {
		return u
	}
	if c.tellsCalls {
		returned := false
		defer func() {
			if !returned {
				h.abandon()
			}
		}()
		ctx = c.Observer.Release(ctx, h.subject())
		returned = true
	}
	u.call = c.call(ctx)
	return u
}

// abandon releases a hold whose caller can't, because the observer ended the goroutine.
func (h *Hold) abandon() {
	defer h.l.s.Enter(section.MayBlock).Leave()
	if !h.released {
		h.giveBack()
	}
}

// lossReason is why a hold that ended for cause was lost.
func (h *Hold) lossReason(cause error) int {
	switch {
	case !errors.Is(cause, errExpired):
		return observe.Taken
	case h.promise.Fixed || h.st.n.now() >= h.promise.Until:
		return observe.Expired
	}
	return observe.Unreachable
}

// notReleased counts a hold that ended before it was released, and tells the observer. It is
// called with the shard locked.
func (h *Hold) notReleased(cause error, until time.Duration) {
	l, now := h.l, h.st.n.now()
	e := observe.Hold{End: "expired", Held: now - h.since, At: time.Now().Add(min(until-now, 0))}
	if cause != lockerr.ErrClosed {
		reason := h.lossReason(cause)
		l.counts().lost[reason].Add(1)
		e.Reason = observe.ReasonNames[reason]
		if reason != observe.Expired {
			e.End = "lost"
		}
	}
	if l.c.Observer == nil {
		return
	}
	s := h.subject()
	l.c.Post(func(o observe.Observer) { o.Ended(s, e) })
}

// lossOf is why and when a hold was lost, for the event of its Unlock.
func (h *Hold) lossOf() (reason string, at time.Time) {
	defer h.l.s.Enter(section.MustNotBlock).Leave()
	now := h.st.n.now()
	return observe.ReasonNames[h.lossReason(h.ended)], time.Now().Add(min(h.promise.End-now, 0))
}

// unlocked counts how an unlock ended, and tells the observer.
func (h *Hold) unlocked(u observedUnlock, wasLost, err error) {
	l := h.l
	if errors.Is(err, lockerr.ErrUncertain) {
		l.counts().unsure.Add(1)
	}
	o := l.c.Observer
	if o == nil {
		return
	}
	s := h.subject()
	u.seen.Tell(o, s)
	l.c.leave(u.seen)
	if u.ended {
		o.Ended(s, observe.Hold{End: "released", Held: u.held, At: time.Now()})
	}
	if !l.c.tellsCalls {
		return
	}
	r := observe.Release{Err: err}
	if wasLost != nil && !errors.Is(wasLost, lockerr.ErrClosed) {
		r.Reason, r.LostAt = h.lossOf()
	}
	o.Released(u.ctx, s, r)
}

// undid counts the undo of an acquire, and tells the observer.
func (l *Lock) undid(o owner.Owner, err error) {
	u := observe.Undo{Outcome: "undone", Err: err}
	switch {
	case errors.Is(err, lockerr.ErrNotHeld):
		u.Outcome, u.Err = "nothing", nil
	case err != nil:
		u.Outcome = "failed"
	}
	if err == nil {
		l.counts().undone.Add(1)
	}
	if l.c.Observer != nil {
		s := l.Subject(o)
		l.c.Post(func(o observe.Observer) { o.Undone(s, u) })
	}
}

// nodeChanged tells the observer that slots have another server. Slots without a server before
// had no locks, so they are left out.
func (c *State) nodeChanged(change topology.Change) {
	if c.Observer == nil || change.From == nil || change.From == change.To && !change.NewMaster {
		return
	}
	e := observe.Server{From: change.FormerAddr, To: change.Addr}
	if change.From != change.To {
		e.From, e.To = change.From.Server(), change.To.Server()
	}
	c.Post(func(o observe.Observer) { o.NodeChanged(e) })
}

// sent tells the observer of a command, as part of the call that it was made for if there is
// one.
func (c *State) sent(r *command.Request) {
	took := max(c.Now()-r.Wire.Sent, 0)
	cmd := observe.Command{
		Name: r.Wire.Command, Server: r.Server(), Start: time.Now().Add(-took), Duration: took, Err: r.Wire.Err,
	}
	if r.Wire.Script != nil {
		cmd.Script = r.Wire.Script.Name
	}
	var by *observe.Call
	switch h := r.Handler.(type) {
	case *attempt:
		by = h.w.call.seen
	case *releasing:
		by, cmd.Undo = h.seen, h.Why == release.Undo
	case interface{ Leases() int }:
		cmd.Leases = h.Leases()
	}
	if by != nil && by.Sent(cmd) {
		return
	}
	ctx := by.Context()
	c.Post(func(o observe.Observer) { o.Command(ctx, cmd) })
}
