package waitqueue

import "time"

// shortHold is the shortest average hold for which stepping back pays: one acquisition of
// a slow client would cost many such holds.
const shortHold = 500 * time.Microsecond

// Head describes the waiter that would try next.
type Head struct {
	Shared  bool          // its owner was given by the caller, and may be the holder
	Refused bool          // it had the answer that the lock is taken
	Until   time.Duration // when its wait elapses; 0: never
}

// Policy decides when the head of one name's wait queue may try, and whether the queue
// stays subscribed meanwhile. The zero Policy knows of no other client and delays no
// attempt. It lives as long as its queue, the fair share longer. It is not safe for
// concurrent use. Instants are readings of one clock that never goes back.
type Policy struct {
	Share *FairShare // of the name; nil: this client does not release it often
	throttle
}

// Heard records the message of a release. own says that the message brings no news, since
// the lock was handed on within this client.
func (p *Policy) Heard(now time.Duration, own bool, random Random) {
	p.Share.MessageReceived(now)
	if !own {
		p.observeRelease(now, random)
	}
}

// Crowded reports whether releases are so quick, and subscribers so many, that
// unsubscribing for a while helps.
func (p *Policy) Crowded() bool {
	return p.quickReleases >= manyQuickReleases &&
		p.Share != nil && p.Share.Counted() >= manyClients && p.Share.AverageHold() < shortHold
}

// Left records that the queue unsubscribes because of a crowd.
func (p *Policy) Left(now time.Duration) { p.resubscribeAt = now + resubscribeAfter }

// Away reports whether the queue is to stay unsubscribed.
func (p *Policy) Away(now time.Duration) bool { return now < p.resubscribeAt }

// Poll is when an unsubscribed queue tries next: at random within over intervals between
// releases, 3 ms at most.
func (p *Policy) Poll(now time.Duration, over Spread, random Random) time.Duration {
	p.delayedUntil = now + random(min(p.interval*time.Duration(over), longestPoll)+1)
	return p.delayedUntil
}

// YieldUntil is the instant before which the head makes no attempt, so that a slower
// client can; 0 if it may try. A head with little time left does not yield, nor does a
// shared owner, which may be the holder.
func (p *Policy) YieldUntil(now time.Duration, h Head) time.Duration {
	if p.Share == nil || h.Shared || p.Share.AverageHold() < shortHold {
		return 0
	}
	if h.Until > 0 && h.Until-now < 2*p.Share.Patience() {
		return 0
	}
	return p.Share.YieldUntil(now)
}

// Free reports whether a call may try at once. The call's wait elapses at until, and its
// client neither holds the name nor waits for it. It records the arrival.
func Free(share *FairShare, now, until time.Duration) bool {
	share.Arrived(now)
	p := Policy{Share: share}
	return p.YieldUntil(now, Head{Until: until}) == 0
}

// NotBefore is the instant before which the head makes no attempt, for whatever reason; 0
// if it may try. The throttle delays no head that never had the answer that the lock is
// taken, or whose wait ends before the delay does.
func (p *Policy) NotBefore(now time.Duration, h Head) time.Duration {
	at := p.YieldUntil(now, h)
	if p.delayedUntil > now && h.Refused && (h.Until == 0 || h.Until > p.delayedUntil) {
		at = max(at, p.delayedUntil)
	}
	return at
}
