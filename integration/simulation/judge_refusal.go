package simulation

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/rlock"
)

var errUnreplicated = rlock.ErrUnreplicated

// maybe reports whether an error leaves open what ran, or may still run.
func maybe(err error) bool {
	return errors.Is(err, rlock.ErrUncertain) || errors.Is(err, rlock.ErrUnavailable) || errors.Is(err, rlock.ErrClosed) || errors.Is(err, rlock.ErrUnreplicated) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// givesBack reports whether an attempt may still be undone behind its call's error. That of a wait which elapsed says so in words.
func givesBack(err error) bool {
	return maybe(err) && !errors.Is(err, rlock.ErrUnavailable) || strings.Contains(err.Error(), "whatever it took is given back")
}

// behindWAIT is how long behind a release its own client may not know of it, because replicas are waited for.
const behindWAIT = 1200 * time.Millisecond

// spinsFor is how long a client may not know that a spin lock is free: nothing announces it, and the first of its waiters tries again
// after 128 ms at most, by a clock that may be slow. A call whose wait ends before that makes no attempt itself.
const spinsFor = 130 * time.Millisecond

// A client that does not listen looks within a second by its clock, and at once behind a new subscription.
const (
	looksWithin = time.Second * 101 / 100
	looksBehind = 10 * time.Millisecond
)

// subscribed records that a host listens to an object's channels from now on.
func (p *play) subscribed(t *traffic, channels []string) {
	for _, o := range p.objects {
		if slices.ContainsFunc(channels, o.isChannel) {
			t.listens[o.Name] = time.Now()
		}
	}
}

func (o *object) isChannel(name string) bool { return strings.Contains(name, "{"+o.Name+"}") }

// unheard reports whether a release may not have reached a host, because it did not listen: its connection broke. It looks soon.
func (p *play) unheard(o *object, host string) bool {
	listens := slices.ContainsFunc(p.site.servers(), func(s server) bool { return slices.ContainsFunc(s.Listens(host), o.isChannel) })
	if since := p.traffic[host].listens[o.Name]; listens {
		return since.After(o.flipped) && time.Since(since) < looksBehind
	}
	return time.Since(o.flipped) < looksWithin
}

// refused judges the error of an acquire: whether it is true by what is on the server.
func (p *play) refused(c *call, err error) {
	p.w.Mu.Lock()
	defer p.w.Mu.Unlock()
	o := c.o
	m := p.site.master(o.Name)
	steady := p.steady(c.began) && (p.promotions == 0 || !o.lost.After(c.began))
	known := c.began
	if c.what == "TryLockFor" && p.site.replicated() {
		known = known.Add(-behindWAIT)
	}
	heard := o.news[c.host]
	switch {
	case errors.Is(err, rlock.ErrRefused), errors.Is(err, rlock.ErrUnavailable) && steady:
		if o.Kind.lock() {
			p.judgeNothing(o, c, m, err)
		}
	case errors.Is(err, rlock.ErrLocked) && c.what == "TryLockFor" && steady && p.mild(c.began) && !heard.taken && heard.takenAt.Before(c.began) && heard.freeAt.Before(known) && o.Kind != ReadWrite:
		p.breach("refused: %s says that somebody else holds %s, and no server has said so since its client released it", c.who, o.Name)
	case errors.Is(err, rlock.ErrLocked) && (c.what == "TryLock" || c.what == "TryLockFor" && p.mild(c.began) && time.Since(o.emptyAt) > sleepsFor) && steady && o.Kind != ReadWrite:
		if tried := time.Now().Add(-spinsFor); c.what == "TryLockFor" && o.Kind == Spin && tried.Before(known) {
			known = tried
		}
		if c.what == "TryLockFor" && p.unheard(o, c.host) {
			known = o.flipped
		}
		if taken := o.here || !o.flipped.Before(known) || len(o.enqueued) > 0 || !o.emptied.Before(c.began) || m.List(queueOf(o.Name)) != nil; !taken {
			p.breach("refused: %s says that somebody else holds %s, which has been free since %v before the call", c.who, o.Name, c.began.Sub(o.flipped))
		}
	case errors.Is(err, rlock.ErrReentered):
		p.breach("once: %s got %q of %s, and its owner was new", c.who, err, o.Name)
	case strings.HasPrefix(kindOf(err), "other"):
		p.violate("unknown error: %s of %s: %v", c.what, c.who, err)
	}
}

// judgeNothing reports an owner of the caller's client that the server has and the client does not,
// though the error says that nothing was changed.
func (p *play) judgeNothing(o *object, c *call, m server, err error) {
	if at, is := o.undoing[c.l]; is && time.Since(at) < sleepsFor {
		return // an earlier call's attempt may be under way to be undone
	}
	for _, other := range o.calls {
		if other.l == c.l {
			return // it may be that one's
		}
	}
	for _, f := range m.Fields(o.Name) {
		owner := strings.TrimSuffix(f, ":write")
		if _, thread, err := codec.ParseOwner(owner); err == nil && codec.IsKeeper(thread) {
			continue // an unlock left the lock to nobody for the rest of an AtLeast
		}
		if clientOf(owner) == c.l.id && !o.knows(f) {
			p.violate("untrue: %s got %q, and %s has held %s since", c.who, err, owner, o.Name)
		}
	}
}

// kindOf names an error by the sentinel that it has.
func kindOf(err error) string {
	if err == nil {
		return "ok"
	}
	for _, k := range []struct {
		name string
		err  error
	}{
		{"locked", rlock.ErrLocked}, {"no permits", rlock.ErrNoPermits}, {"not open", rlock.ErrNotOpen}, {"not locked", rlock.ErrNotLocked},
		{"reentered", rlock.ErrReentered}, {"uncertain", rlock.ErrUncertain}, {"lost", rlock.ErrLeaseLost}, {"not held", rlock.ErrNotHeld},
		{"unreplicated", rlock.ErrUnreplicated}, {"unavailable", rlock.ErrUnavailable}, {"refused", rlock.ErrRefused},
		{"closed", rlock.ErrClosed}, {"invalid", rlock.ErrInvalidOption}, {"released", rlock.ErrReleased},
		{"deadline", context.DeadlineExceeded}, {"cancelled", context.Canceled}, {"exception", errException},
	} {
		if errors.Is(err, k.err) {
			return k.name
		}
	}
	return "other: " + err.Error()
}
