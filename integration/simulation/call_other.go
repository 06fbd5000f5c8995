package simulation

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// question asks one of the methods that change nothing.
func (c *caller) question(l *life, handle *rlock.Lock, reads bool) {
	bound := 2 * oneTimeout // Info sends two commands
	if c.Topology == Cluster {
		bound += oneTimeout // or three
	}
	a := c.ask(l, "question", bound, 0, false)
	c.w.Mu.Lock()
	began, was := c.o.flipped, c.o.here
	c.w.Mu.Unlock()
	var err error
	switch c.r.IntN(6) {
	case 0, 1:
		var is bool
		is, err = handle.IsLocked(a.ctx)
		if err == nil && c.o.Kind != ReadWrite {
			c.judgeAnswer(a.call, is, was, began)
		}
	case 2:
		_, err = handle.RemainTTL(a.ctx)
	case 3:
		var n int
		if n, err = handle.HoldCount(a.ctx, l.c.NewOwner()); n != 0 {
			c.violation("answer: %s asked for the holds of a new owner: %d", c.who, n)
		}
	case 4:
		_, err = handle.IsHeldBy(a.ctx, l.c.NewOwner())
	default:
		_, err = handle.Info(a.ctx)
	}
	if c.o.Kind == Fenced && err == nil {
		_, err = handle.LastToken(a.ctx)
	}
	c.done(a, err)
	if errors.Is(err, rlock.ErrUncertain) {
		c.violation("untrue: %s asked and got %v", c.who, err)
	}
}

// judgeAnswer judges IsLocked: the object was like that at some moment of the call.
func (c *caller) judgeAnswer(a *call, is, was bool, flipped time.Time) {
	c.w.Mu.Lock()
	defer c.w.Mu.Unlock()
	steady := c.steady(a.began) && (c.promotions == 0 || !c.o.lost.After(a.began))
	if steady && was != is && c.o.here != is && c.o.flipped.Equal(flipped) {
		c.violate("answer: IsLocked of %s says %t, and it has been %t since %v before the call", c.o.Name, is, was, a.began.Sub(flipped))
	}
}

// force takes the lock from whoever has it.
func (c *caller) force(l *life, handle *rlock.Lock) {
	bound := 2 * oneTimeout
	if c.site.replicated() {
		bound += time.Second // for its WAIT
	}
	a := c.ask(l, "ForceUnlock", bound, 0, false)
	_, err := handle.ForceUnlock(a.ctx)
	c.done(a, err)
	c.w.Mu.Lock()
	var own []*hold
	for _, h := range c.o.holds {
		if c.o.forcedBy == l.host && h.life == l && h.void == forced && !h.common && !h.ending && !c.o.forces(l.host) {
			own = append(own, h)
		}
	}
	c.w.Mu.Unlock()
	for _, h := range own {
		if h.valid() {
			c.violation("forced: %s trusts its hold of %s, which its own client has taken from it", h.who, c.o.Name)
		}
	}
	time.Sleep(between(c.r, 0, 20*time.Second))
}

// leastLeadPause is for how long a leader leaves the lock to others at least.
const leastLeadPause = 50 * time.Millisecond * 100 / 101

// lead is a candidate for a while.
func (c *caller) lead(l *life, handle *rlock.Lock, reads bool) {
	a := c.ask(l, "Lead", 0, 4*commandTimeout+2*time.Second+commandTimeout, false)
	a.timeout(between(c.r, time.Second, 30*time.Second))
	turns := 1 + c.r.IntN(4)
	stays := between(c.r, 0, 8*time.Second)
	var opts []rlock.AcquireOption
	if c.dense() && c.r.IntN(2) == 0 { // which may end before it is done
		opts = append(opts, rlock.Lease(between(c.r, 500*time.Millisecond, 5*time.Second)))
	}
	errDone := errors.New("led often enough")
	var gaveWay time.Time
	err := handle.Lead(a.ctx, func(ctx context.Context) error {
		if pause := time.Since(gaveWay); !gaveWay.IsZero() && pause < leastLeadPause {
			c.violation("lead: %s leads %s again %v after its last term", c.who, c.o.Name, pause)
		}
		defer func() { gaveWay = time.Now() }()
		valid := func() bool { return ctx.Err() == nil }
		h := c.entered(a.call, &hold{o: c.o, owner: c.leader(l), reads: reads, valid: valid, until: time.Now})
		select {
		case <-ctx.Done():
		case <-time.After(stays):
		}
		c.w.Mu.Lock()
		c.o.holds = without(c.o.holds, h)
		c.w.Mu.Unlock()
		if turns--; turns == 0 {
			return errDone
		}
		return nil
	}, opts...)
	if errors.Is(err, errDone) {
		err = nil
	}
	over := a.ctx.Err() != nil
	c.done(a, err)
	if err != nil && !over && !errors.Is(err, rlock.ErrClosed) && !errors.Is(err, rlock.ErrInvalidOption) {
		c.violation("lead: %s stands for %s no more, though nothing ended it: %v", c.who, c.o.Name, err)
	}
	c.w.Mu.Lock()
	c.o.lost = time.Now() // Lead pauses before each attempt, and its release has no answer here
	c.w.Mu.Unlock()
}

// leader is the owner of a client which has just begun to lead, as the server says, since nobody else is told. It is empty if the server
// lacks it.
func (c *caller) leader(l *life) string {
	c.w.Mu.Lock()
	defer c.w.Mu.Unlock()
	for _, field := range c.site.master(c.o.Name).Fields(c.o.Name) {
		owner := strings.TrimSuffix(field, ":write")
		if clientOf(owner) == l.id && !slices.ContainsFunc(c.o.holds, func(h *hold) bool { return h.owner == owner }) {
			return owner
		}
	}
	return ""
}

// share acquires and releases as an owner that callers of all clients use, so several hold at once.
func (c *caller) share(l *life, handle *rlock.Lock, reads bool) {
	if c.r.IntN(2) == 0 {
		c.shareOwn(l, handle, reads)
		return
	}
	c.w.Mu.Lock()
	if c.o.shared == "" {
		c.o.shared = l.c.NewOwner().String()
	}
	text := c.o.shared
	c.w.Mu.Unlock()
	c.actsAs(text)
	owner, err := rlock.ParseOwner(text)
	if err != nil {
		c.violation("%s: %v", c.who, err)
		return
	}
	a := c.ask(l, "shared Lock", 0, graceOfLock, false)
	a.set(func(k *call) { k.o.begins(text); k.as = text })
	a.timeout(between(c.r, time.Millisecond, 20*time.Second))
	h, err := handle.Lock(a.ctx, rlock.As(owner))
	c.done(a, err)
	if err != nil {
		if maybe(err) {
			c.w.Mu.Lock()
			c.o.excuse(text, uncertainKey)
			c.w.Mu.Unlock()
		}
		return
	}
	o := c.entered(a.call, &hold{o: c.o, owner: text, life: l, reads: reads, common: true, token: h.Token(), valid: func() bool { return false }, until: h.ValidUntil})
	o.stay(c.pause(), h.Done())
	c.unlock(l, o, h, "shared Unlock", true)
}

// shareOwn acquires as an owner that several callers of its client use. Leases may end before they are unlocked. Once no
// caller uses it, nothing of it may be left.
func (c *caller) shareOwn(l *life, handle *rlock.Lock, reads bool) {
	c.w.Mu.Lock()
	if c.o.own == nil {
		c.o.own = map[*life]*ownShare{}
	}
	s := c.o.own[l]
	if s == nil {
		s = &ownShare{owner: l.c.NewOwner()}
		c.o.own[l] = s
		c.o.acts(s.owner.LogValue().String()).queued = false
	}
	s.users++
	c.w.Mu.Unlock()
	defer func() {
		c.w.Mu.Lock()
		defer c.w.Mu.Unlock()
		s.users--
	}()
	opts := []rlock.AcquireOption{rlock.As(s.owner)}
	lease := time.Duration(0)
	if c.r.IntN(3) == 0 {
		lease = between(c.r, 20*time.Millisecond, 2*time.Second).Truncate(time.Millisecond)
		opts = append(opts, rlock.Lease(lease))
	}
	a := c.ask(l, "own shared Lock", 0, graceOfLock, false)
	a.set(func(k *call) { k.o.begins(s.owner.LogValue().String()); k.as = s.owner.LogValue().String() })
	a.timeout(between(c.r, time.Millisecond, 20*time.Second))
	h, err := handle.Lock(a.ctx, opts...)
	c.done(a, err)
	owner := s.owner.LogValue().String()
	if err != nil {
		if maybe(err) {
			c.w.Mu.Lock()
			c.o.excuse(owner, uncertainKey)
			c.w.Mu.Unlock()
		}
		return
	}
	o := c.entered(a.call, &hold{
		o: c.o, owner: owner, life: l, reads: reads, common: true, sole: func() bool { return s.users == 1 }, lease: lease, token: h.Token(),
		valid: func() bool { return false }, until: h.ValidUntil,
	})
	o.stay(c.pause(), h.Done())
	c.unlock(l, o, h, "own shared Unlock", true)
}

// useMulti acquires all locks of the play together.
func (c *caller) useMulti(l *life) {
	var locks []*rlock.Lock
	var reading []bool
	members := c.objects
	for _, o := range members {
		handle, reads := (&caller{Caller: c.Caller, play: c.play, r: c.r, o: o}).lock(l)
		locks, reading = append(locks, handle), append(reading, reads)
		c.w.Mu.Lock()
		o.multi, o.undoing[l] = true, time.Now()
		c.w.Mu.Unlock()
	}
	m := rlock.NewMultiLock(locks...)
	var opts []rlock.AcquireOption
	renewed := c.r.IntN(4) > 0
	if !renewed {
		opts = append(opts, rlock.Lease(between(c.r, 500*time.Millisecond, 5*time.Second)))
	}
	var a *ask
	var h *rlock.MultiHold
	var err error
	switch c.r.IntN(3) {
	case 0:
		a = c.ask(l, "multi TryLock", 0, 0, false)
		h, err = m.TryLock(a.ctx, opts...)
	case 1:
		a = c.ask(l, "multi TryLockFor", 0, 0, false)
		h, err = m.TryLockFor(a.ctx, between(c.r, time.Millisecond, 10*time.Second), opts...)
	default:
		a = c.ask(l, "multi Lock", 0, 0, false)
		a.timeout(between(c.r, time.Second, 20*time.Second))
		a.set(func(k *call) { k.by = time.Time{} })
		h, err = m.Lock(a.ctx, opts...)
	}
	c.done(a, err)
	c.w.Mu.Lock()
	for _, o := range members { // rounds leave a member free for a moment, and give it back behind the call's end
		o.lost, o.undoing[l] = time.Now(), time.Now()
	}
	c.w.Mu.Unlock()
	if err != nil {
		return
	}
	var holds []*hold
	for i, one := range h.Holds() {
		holds = append(holds, c.entered(a.call, &hold{
			o: members[i], owner: ownerOf(one), life: l, token: one.Token(), reads: reading[i], renewed: renewed,
			valid: func() bool { return one.Err() == nil }, until: one.ValidUntil,
		}))
	}
	holds[0].stay(c.pause(), h.Done())
	for _, o := range holds {
		c.leaves(o)
	}
	a = c.ask(l, "multi Unlock", 0, 0, false)
	a.timeout(between(c.r, time.Millisecond, 10*time.Second))
	a.set(func(k *call) { k.by = time.Time{} })
	err = h.Unlock(a.ctx)
	c.done(a, err)
	for _, o := range holds {
		c.unlocked(o, err, true, false)
	}
}
