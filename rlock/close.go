package rlock

import (
	"context"
	"sync"
	"time"
)

// Shutdown ends the client in good order: acquires by new owners and all
// waiters get ErrClosed, while owners that hold a lock may re-enter it and
// release; reads, UnlockAs and ForceUnlock go on working. When the last
// hold is over and every Unlock and UnlockAs has its outcome, it closes. What is
// under way beside them to give back what nobody holds gets one command timeout,
// as it does from Close, whether or not anything was held. If ctx ends first it
// closes at once and returns ctx's error; keys still held are left to expire.
func (c *Client) Shutdown(ctx context.Context) error {
	c.state.CompareAndSwap(stateOpen, stateDraining)
	c.log.draining(c.liveHolds.n.Load())
	c.failWaiters(func(w *waiter) bool {
		return w.terms.as && w.n.holds(w.terms.owner)
	})
	patience, err := c.drain(ctx)
	c.close(patience)
	return err
}

// drain waits until nothing is held or being released any more. It returns what
// is left of a command timeout for undos and grants that are given back.
func (c *Client) drain(ctx context.Context) (patience time.Duration, err error) {
	for {
		if !c.liveHolds.wait(ctx.Done(), c.gone) || !c.releases.wait(ctx.Done(), c.gone) {
			return c.o.timeout, ctx.Err()
		}
		began := time.Now()
		undone, cancel := context.WithTimeout(ctx, c.o.timeout)
		ended := c.work.wait(undone.Done(), c.gone)
		cancel()
		patience = max(c.o.timeout-time.Since(began), time.Millisecond)
		// An attempt under way may have become a hold.
		if !ended || c.closed() || c.liveHolds.n.Load() == 0 && c.releases.n.Load() == 0 {
			if !ended {
				err = ctx.Err()
			}
			return patience, err
		}
	}
}

// Close ends the client at once: waiters get ErrClosed, holds end with
// ErrClosed, renewal stops, and keys still held are left to expire. What is
// under way to give back what nobody holds, undos, releases and the deletion
// of latches, gets one command timeout. It returns when every goroutine and
// connection of the client is gone, but for a dial that does not heed its
// context (see New). From then on every call that would ask
// the server returns ErrClosed, Hold.Unlock included. It is idempotent, and a
// second call waits for the first.
func (c *Client) Close() error {
	c.close(c.o.timeout)
	return nil
}

func (c *Client) close(patience time.Duration) {
	c.closing.Lock()
	defer c.closing.Unlock()
	if c.state.Swap(stateClosed) == stateClosed {
		return
	}
	c.unwatchAddress()
	c.failWaiters(func(*waiter) bool { return false })
	holds := c.liveHolds.n.Load()
	c.endHolds()
	c.watchdog.Close()
	var hub sync.WaitGroup
	hub.Go(func() { c.node.hub.Close() }) // nobody waits any more
	c.timers.runAll()
	c.exec.Flush()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c.work.wait(ctx.Done(), nil)
	c.releases.wait(ctx.Done(), nil)
	open := c.work.n.Load() + c.releases.n.Load()
	deadline, _ := ctx.Deadline()
	c.node.pipe.Close(time.Until(deadline))
	hub.Wait()
	c.timers.wait()
	c.stopQueues()
	c.untrackSharedOwners()
	c.log.end()
	if patience > 0 { // a client that Open could not use is its error's business
		c.log.closed(holds, open)
	}
	close(c.gone)
}

// failWaiters fails all waiters but those that keep picks.
func (c *Client) failWaiters(keep func(*waiter) bool) {
	c.eachName(func(n *name) {
		q := n.queue
		if q == nil {
			return
		}
		if c.closed() {
			q.Close()
		}
		var under []*attempt
		for waits := range q.All() {
			if w := waits.Call.(*waiter); !keep(w) {
				w.fail(ErrClosed)
				if w.attempt != nil {
					under = append(under, w.attempt)
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
func (c *Client) endHolds() {
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
			if st.lease != nil {
				st.lease.Forget()
				st.lease = nil
			}
			st.dropIfIdle()
		}
	})
}

// stopQueues stops the timers that are left.
func (c *Client) stopQueues() {
	c.eachName(func(n *name) {
		if n.queue != nil {
			n.queue.stop()
		}
	})
}

func (c *Client) eachName(fn func(*name)) {
	for i := range c.shards {
		s := &c.shards[i]
		s.lock()
		for _, n := range s.names {
			fn(n)
		}
		s.unlock()
	}
}
