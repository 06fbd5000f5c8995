package simulation

import (
	"context"
	"errors"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// lock returns the handle of the caller's object, and whether it is for reading.
func (c *caller) lock(l *life) (handle *rlock.Lock, reads bool) {
	switch c.o.Kind {
	case Fair:
		return l.c.NewFairLock(c.o.Name), false
	case Fenced:
		return l.c.NewFencedLock(c.o.Name), false
	case NonReentrant:
		return l.c.NewNonReentrantLock(c.o.Name), false
	case Spin:
		return l.c.NewSpinLock(c.o.Name), false
	case ReadWrite:
		if c.r.IntN(3) > 0 {
			return l.c.NewReadWriteLock(c.o.Name).ReadLock(), true
		}
		return l.c.NewReadWriteLock(c.o.Name).WriteLock(), false
	}
	return l.c.NewLock(c.o.Name), false
}

// useLock is one turn of a caller of a lock.
func (c *caller) useLock(l *life) {
	handle, reads := c.lock(l)
	switch c.Habit {
	case Asks:
		c.question(l, handle, reads)
	case Forces:
		c.force(l, handle)
	case Leads:
		c.lead(l, handle, reads)
	case Shares:
		c.share(l, handle, reads)
	case Multi:
		c.useMulti(l)
	default:
		if c.r.IntN(6) == 0 {
			c.do(l, handle, reads)
		} else {
			c.acquireAndRelease(l, handle, reads)
		}
	}
}

// acquireAndRelease is what most callers do, with everything that may happen between.
func (c *caller) acquireAndRelease(l *life, handle *rlock.Lock, reads bool) {
	var opts []rlock.AcquireOption
	lease, renewed, atLeast := time.Duration(0), true, time.Duration(0)
	switch n := c.r.IntN(12); {
	case n < 3:
		lease = between(c.r, 20*time.Millisecond, 5*time.Second).Truncate(time.Millisecond)
		opts, renewed = append(opts, rlock.Lease(lease)), false
	case n == 3:
		renewed = false
		opts = append(opts, rlock.MaxHold(between(c.r, 20*time.Millisecond, 20*time.Second)))
	case (n == 4 || n == 5 && !c.Former) && c.o.Kind != ReadWrite:
		atLeast = between(c.r, time.Millisecond, 2*time.Second)
		opts = append(opts, rlock.AtLeast(atLeast))
	}
	shown := c.r.IntN(4) == 0
	if c.r.IntN(8) == 0 {
		owner := l.c.NewOwner()
		c.actsAs(owner.LogValue().String())
		opts, shown = append(opts, rlock.As(owner)), true
	}
	a, h, err := c.acquire(l, handle, reads, opts)
	if err != nil {
		c.refused(a.call, err)
		return
	}
	valid, done := func() bool { return h.Err() == nil }, h.Done()
	if c.turn%3 == 0 { // as work sees it that has only its context
		ctx, end := h.Context(context.Background())
		defer end()
		valid, done = func() bool { return ctx.Err() == nil }, ctx.Done()
	}
	o := c.entered(a.call, &hold{
		o: c.o, owner: ownerOf(h), life: l, reads: reads, atLeast: atLeast, lease: lease, renewed: renewed, token: h.Token(),
		valid: valid, until: h.ValidUntil,
	})
	if shown {
		h.Owner()
	}
	var nested *rlock.Hold
	if shown && c.o.Kind != NonReentrant && c.r.IntN(2) == 0 {
		nested = c.reenter(l, handle, o, h)
	}
	if lease > 0 && c.r.IntN(4) == 0 {
		c.extend(l, o, h)
	}
	o.stay(c.pause(), done)
	if nested != nil {
		c.unlock(l, o, nested, "nested Unlock", false)
	}
	if shown && nested == nil && c.r.IntN(4) == 0 {
		c.unlockElsewhere(o, h)
	}
	c.unlock(l, o, h, "Unlock", true)
}

// acquire calls one of the methods that acquire.
func (c *caller) acquire(l *life, handle *rlock.Lock, reads bool, opts []rlock.AcquireOption) (a *ask, h *rlock.Hold, err error) {
	how := c.r.IntN(7)
	if how == 4 && c.inStorm() {
		how = 1
	}
	switch how {
	case 0:
		a = c.ask(l, "TryLock", oneTimeout, 0, false)
		a.set(func(k *call) { k.reads = reads })
		h, err = handle.TryLock(a.ctx, opts...)
	case 1:
		wait := c.wait()
		a = c.ask(l, "TryLockFor", boundOfTry(wait), 0, false)
		a.set(func(k *call) { k.reads = reads })
		h, err = handle.TryLockFor(a.ctx, wait, opts...)
	case 2:
		a = c.ask(l, "Lock for a while", 0, graceOfLock, c.r.IntN(2) == 0)
		a.set(func(k *call) { k.reads = reads })
		a.timeout(between(c.r, time.Millisecond, 20*time.Second))
		h, err = handle.Lock(a.ctx, opts...)
	default:
		a = c.ask(l, "Lock", 0, graceOfLock, c.r.IntN(2) == 0)
		a.set(func(k *call) { k.reads, k.waits = reads, true })
		h, err = handle.Lock(a.ctx, opts...)
	}
	c.done(a, err)
	return a, h, err
}

// actsAs records that an owner acts by As, so that its first attempt does not queue.
func (c *caller) actsAs(owner string) {
	c.w.Mu.Lock()
	defer c.w.Mu.Unlock()
	c.o.acts(owner).queued = false
}

// inStorm reports whether faults strike, so that short waits may end without an answer.
func (c *caller) inStorm() bool {
	c.w.Mu.Lock()
	defer c.w.Mu.Unlock()
	return c.storming && !c.Former
}

// wait draws how long a call waits. Many waits end in an outage before anybody knows of it.
func (c *caller) wait() time.Duration {
	wait := between(c.r, time.Millisecond, 20*time.Second)
	if !c.Former && wait&1 == 1 {
		wait = 1 + wait%(2*time.Second)
	}
	return wait
}

// boundOfTry is how long a call may take that waits for so long, or makes one attempt.
func boundOfTry(wait time.Duration) time.Duration {
	return max(wait+wait/100+commandTimeout/8, oneTimeout)
}

// graceOfLock is how soon Lock returns after its context has ended.
const graceOfLock = time.Millisecond

// reenter acquires once more for the owner of a hold.
func (c *caller) reenter(l *life, handle *rlock.Lock, o *hold, h *rlock.Hold) *rlock.Hold {
	time.Sleep(between(c.r, 0, 50*time.Millisecond))
	c.actsAs(o.owner)
	opts := []rlock.AcquireOption{rlock.As(h.Owner())}
	inner := time.Duration(0)
	if c.r.IntN(2) == 0 {
		inner = between(c.r, 20*time.Millisecond, 2*time.Second)
		opts = append(opts, rlock.Lease(inner))
		c.w.Mu.Lock()
		o.renewed = false
		c.w.Mu.Unlock()
	}
	a := c.ask(l, "re-entry", 0, graceOfLock, false)
	a.timeout(5 * time.Second)
	nested, err := handle.Lock(a.ctx, opts...)
	c.done(a, err)
	c.w.Mu.Lock()
	defer c.w.Mu.Unlock()
	if err != nil {
		if !errors.Is(err, rlock.ErrLocked) && !errors.Is(err, rlock.ErrRefused) {
			c.o.excuse(o.owner, uncertainKey)
		}
		return nil
	}
	if o.token = max(o.token, nested.Token()); o.void == "" && !c.o.lost.After(a.began) {
		c.o.token = max(c.o.token, o.token)
	}
	if c.r.IntN(4) == 0 && inner > 0 { // nobody unlocks it: once it has ended, the owner's last unlock leaves nothing of it
		o.leftAlone = nested
		return nil
	}
	return nested
}

func (c *caller) extend(l *life, o *hold, h *rlock.Hold) {
	d := between(c.r, 20*time.Millisecond, 8*time.Second).Truncate(time.Millisecond)
	a := c.ask(l, "Extend", oneTimeout, 0, false)
	err := h.Extend(a.ctx, d)
	until, ended := h.ValidUntil(), time.Now() // by when the server has begun to count
	c.done(a, err)
	if err == nil && h.Err() == nil {
		c.w.Mu.Lock()
		c.judgeSent(o, until)
		c.w.Mu.Unlock()
	}
	if err == nil && until.After(ended.Add(d+d/100)) {
		c.violation("extended: %s extended its hold by %v, and trusts it for %v", c.who, d, until.Sub(ended))
	}
}

// unlockElsewhere releases a hold through another client, which got the owner's text.
func (c *caller) unlockElsewhere(o *hold, h *rlock.Hold) {
	other := c.processes[c.r.IntN(len(c.processes))].client()
	if other == o.life {
		return
	}
	owner, err := rlock.ParseOwner(h.Owner().String())
	if err != nil {
		c.violation("%s: %v", c.who, err)
		return
	}
	c.w.Mu.Lock()
	o.void = sharedOwner
	c.o.excuse(o.owner, sharedOwner)
	c.w.Mu.Unlock()
	handle, _ := (&caller{Caller: c.Caller, play: c.play, r: c.r, o: c.o}).lock(other)
	if c.o.Kind == ReadWrite {
		handle = other.c.NewReadWriteLock(c.o.Name).WriteLock()
		if o.reads {
			handle = other.c.NewReadWriteLock(c.o.Name).ReadLock()
		}
	}
	a := c.ask(other, "UnlockAs", boundOfUnlock, 0, false)
	err = handle.UnlockAs(a.ctx, owner)
	c.done(a, err)
}

// boundOfUnlock is how long an unlock blocks at most.
const boundOfUnlock = 3*commandTimeout + oneTimeout + time.Second + 3*commandTimeout/100

// unlock releases a hold. The last one of its owner ends the ledger's entry.
func (c *caller) unlock(l *life, o *hold, h *rlock.Hold, what string, last bool) {
	if last {
		c.leaves(o)
	}
	if o.leftAlone != nil && o.leftAlone.Err() == nil {
		c.w.Mu.Lock()
		c.o.excuse(o.owner, sharedOwner)
		c.w.Mu.Unlock()
	}
	trusted, until := h.Err() == nil, h.ValidUntil()
	a := c.ask(l, what, boundOfUnlock, oneTimeout, false)
	a.set(func(k *call) { k.as, k.until = o.owner, until })
	a.timeout(between(c.r, time.Millisecond, 10*time.Second))
	err := h.Unlock(a.ctx)
	c.done(a, err)
	c.unlocked(o, err, last, trusted && time.Now().Before(until))
}

// do runs Do or DoHold.
func (c *caller) do(l *life, handle *rlock.Lock, reads bool) {
	a := c.ask(l, "Do", 0, 0, false)
	a.set(func(k *call) { k.reads = reads })
	var o *hold
	err := handle.DoHold(a.ctx, func(ctx context.Context, h *rlock.Hold) error {
		c.w.Mu.Lock()
		a.o.calls = without(a.o.calls, a.call)
		c.w.Mu.Unlock()
		o = c.entered(a.call, &hold{o: c.o, owner: ownerOf(h), life: l, reads: reads, renewed: true, token: h.Token(), valid: func() bool { return ctx.Err() == nil }, until: h.ValidUntil})
		o.stay(c.pause(), ctx.Done())
		if ctx.Err() == nil {
			c.leaves(o)
		}
		return nil
	})
	c.done(a, err)
	if o == nil {
		c.refused(a.call, err)
		return
	}
	c.leaves(o)
	c.unlocked(o, err, true, false)
}
