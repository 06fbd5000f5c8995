package lockstate

import (
	"context"
	"time"
)

// Shutdown ends the client in good order, as the public method says.
func (c *State) Shutdown(ctx context.Context) error {
	c.state.CompareAndSwap(stateOpen, stateDraining)
	c.log.Draining(c.liveHolds.Count())
	c.failWaiters(func(w *Waiter) bool {
		return w.Terms.As && w.n.holds(w.Terms.Owner)
	})
	patience, err := c.drain(ctx)
	c.close(patience)
	return err
}

// drain waits until nothing is held or being released any more. It returns what
// is left of a command timeout for undos and grants that are given back.
func (c *State) drain(ctx context.Context) (patience time.Duration, err error) {
	for {
		if !c.liveHolds.Wait(ctx.Done(), c.gone) || !c.releases.Wait(ctx.Done(), c.gone) {
			return c.o.Timeout, ctx.Err()
		}
		began := time.Now()
		undone, cancel := context.WithTimeout(ctx, c.o.Timeout)
		ended := c.work.Wait(undone.Done(), c.gone)
		cancel()
		patience = max(c.o.Timeout-time.Since(began), time.Millisecond)
		// An attempt under way may have become a hold.
		if !ended || c.Closed() || c.liveHolds.Count() == 0 && c.releases.Count() == 0 {
			if !ended {
				err = ctx.Err()
			}
			return patience, err
		}
	}
}

// Close ends the client at once, as the public method says.
func (c *State) Close() { c.close(c.o.Timeout) }

// Abandon closes a client that could not be used at all. Nothing is logged.
func (c *State) Abandon() { c.close(0) }

func (c *State) close(patience time.Duration) {
	c.closing.Lock()
	defer c.closing.Unlock()
	if c.state.Swap(stateClosed) == stateClosed {
		return
	}
	c.failWaiters(func(*Waiter) bool { return false })
	holds := c.liveHolds.Count()
	c.endHolds()
	c.watchdog.Close()
	c.top.Unsubscribe() // nobody waits any more
	c.timers.RunAll()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c.work.Wait(ctx.Done(), nil)
	c.releases.Wait(ctx.Done(), nil)
	open := c.work.Count() + c.releases.Count()
	deadline, _ := ctx.Deadline()
	c.top.Close(time.Until(deadline))
	c.following.Wait()
	c.timers.Wait()
	c.stopQueues()
	c.untrackActors()
	c.log.End()
	if patience > 0 { // an abandoned one is the business of Open's error
		c.log.Closed(holds, open)
	}
	close(c.gone)
}

// failWaiters fails all waiters but those that keep picks.
func (c *State) failWaiters(keep func(*Waiter) bool) {
	c.eachName(func(n *name) {
		var under []*attempt
		for q := n.first(); q != nil; q = q.next {
			if c.Closed() {
				q.Close()
			}
			for waits := range q.All() {
				if w := waits.Call.(*Waiter); !keep(w) {
					w.fail(ErrClosed)
					if w.attempt != nil {
						under = append(under, w.attempt)
					}
				}
			}
		}
		for _, a := range under {
			a.abandon()
		}
		n.step()
	})
}

// endHolds ends every hold.
func (c *State) endHolds() {
	c.eachName(func(n *name) {
		for _, st := range n.ownerStates() {
			for h := st.holds; h != nil; {
				next := h.next
				h.check() // a loss by time stays one
				h = next
			}
			for _, h := range st.dropAll() {
				h.over(ErrClosed)
			}
			st.forget()
			st.dropIfIdle()
		}
	})
}

// stopQueues stops the timers that are left.
func (c *State) stopQueues() {
	c.eachName(func(n *name) {
		for q := n.first(); q != nil; q = q.next {
			q.stop()
		}
	})
}
