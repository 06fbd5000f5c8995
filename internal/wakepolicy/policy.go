package wakepolicy

import "time"

// shortHold is below what stepping back is worth: one acquisition of a slow
// client would cost many of these.
const shortHold = 500 * time.Microsecond

// Head is what is asked of whoever would try next.
type Head struct {
	Shared  bool          // its owner came from outside, and may be the holder
	Refused bool          // it was told that the lock is taken
	Until   time.Duration // when its wait elapses; 0: never
}

// Policy tells one name's wait queue when its head may try, and whether to
// listen meanwhile. The zero Policy knows of nobody else and puts nobody off.
// It lives as long as its queue does, the fair share longer. It is not safe for
// concurrent use. Instants are readings of one clock that never goes back.
type Policy struct {
	Share *FairShare // the name's; nil: this client does not release it often
	throttle
}

// Reset forgets all but the fair share, for when nobody waits any more.
func (p *Policy) Reset() { p.throttle = throttle{} }

// Arrived records a call that finds no waiter of this client.
func (p *Policy) Arrived(now time.Duration) {
	if p.Share != nil {
		p.Share.Arrived(now)
	}
}

// Refused records an attempt of the queue that found the lock taken.
func (p *Policy) Refused(now time.Duration) {
	if p.Share != nil {
		p.Share.Refused(now)
	}
}

// Tried records that an attempt is made.
func (p *Policy) Tried() { p.delayedUntil = 0 }

// Heard records the message of a release. own: it says nothing new, since the
// lock was handed on within this client.
func (p *Policy) Heard(now time.Duration, own bool, random Random) {
	if p.Share != nil {
		p.Share.MessageReceived(now)
	}
	if !own {
		p.observeRelease(now, random)
	}
}

// Crowded tells whether releases are so quick, and so many listen, that to
// leave the channel for a while is a relief.
func (p *Policy) Crowded() bool {
	return p.quickReleases >= manyQuickReleases &&
		p.Share != nil && p.Share.Counted() >= manyClients && p.Share.AverageHold() < shortHold
}

// Left records that the queue leaves the channel because it is crowded.
func (p *Policy) Left(now time.Duration) { p.resubscribeAt = now + resubscribeAfter }

// Away tells whether the queue stays off its channel.
func (p *Policy) Away(now time.Duration) bool { return p.resubscribeAt > 0 && now < p.resubscribeAt }

// BackAt is when a queue that left the channel is to come back; 0: it has, or
// never left.
func (p *Policy) BackAt() time.Duration { return p.resubscribeAt }

// Subscribed records that the queue asks for its channel.
func (p *Policy) Subscribed() { p.resubscribeAt, p.quickReleases, p.lastRelease = 0, 0, 0 }

// Poll is when a queue that is off its channel tries next, spread over some
// intervals between releases.
func (p *Policy) Poll(now time.Duration, over Spread, random Random) time.Duration {
	p.delayedUntil = now + random(min(p.interval*time.Duration(over), longestPoll)+1)
	return p.delayedUntil
}

// YieldUntil is the instant before which the head makes no attempt, so that a
// slower client can; 0 if it may try. A head with little time left does not
// yield, nor does a shared owner, which may be the holder.
func (p *Policy) YieldUntil(now time.Duration, h Head) time.Duration {
	if p.Share == nil || h.Shared || p.Share.AverageHold() < shortHold {
		return 0
	}
	if h.Until > 0 && h.Until-now < 2*p.Share.Patience() {
		return 0
	}
	return p.Share.YieldUntil(now)
}

// Free tells whether a call that finds nothing of its client, and whose wait
// elapses at until, may try at once. It records the arrival.
func Free(share *FairShare, now, until time.Duration) bool {
	p := Policy{Share: share}
	p.Arrived(now)
	return p.YieldUntil(now, Head{Until: until}) == 0
}

// NotBefore is the instant before which the head makes no attempt, for whatever
// reason; 0 if it may try. A head that was never told that the lock is taken, or that
// has no time left then, does not wait for the next try that was put off.
func (p *Policy) NotBefore(now time.Duration, h Head) time.Duration {
	at := p.YieldUntil(now, h)
	if p.delayedUntil > now && h.Refused && (h.Until == 0 || h.Until > p.delayedUntil) {
		at = max(at, p.delayedUntil)
	}
	return at
}
