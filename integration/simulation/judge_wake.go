package simulation

import (
	"slices"
	"time"
)

// These bound how late a waiter enters a free object in a calm play.
const (
	lateByMessage = 300 * time.Millisecond
	lateInLull    = 3 * time.Second
	// fairLooksEvery is how often a waiter of a fair lock looks without a message.
	fairLooksEvery = 5 * time.Second
	// sleepsFor is how long waiters may sleep on by the TTL that they saw last.
	sleepsFor = 32 * time.Second
)

// look records whether an object's key is there. It is called after everything that may change it.
func (p *play) look(o *object, m server) {
	if o.at != nil && o.at != m && o.at.Exists(o.Name) {
		p.overruled(o, m)
	}
	o.at = m
	if is := m.Exists(o.Name); is != o.here {
		if o.expired = !is && !o.until.IsZero() && !time.Now().Before(o.until); o.expired && !o.headAt.Before(o.flipped) {
			o.untold = o.until // its first waiter became it behind the hold, whose end it has not seen yet
		}
		o.here, o.flipped = is, time.Now()
	}
	if until := m.Until(o.Name); o.here && o.Kind.lock() && until.Before(o.until) && o.until.After(o.sleepUntil) {
		o.sleepUntil = o.until
		p.allow(shorterLease)
	}
	if o.until = m.Until(o.Name); !o.here {
		o.until = time.Time{}
	}
	switch o.Kind {
	case Fair:
		p.queue(o, m)
	case Latch:
		p.follow(o, m)
	case Permits:
		p.judgePermits(o)
	}
	p.wantsNothing(o)
}

func (p *play) lookAtAll() {
	for _, o := range p.objects {
		p.look(o, p.site.master(o.Name))
	}
}

// wantsNothing begins or ends the time in which an object is free and wanted, and judges it at its end.
func (p *play) wantsNothing(o *object) {
	free := !o.here
	if o.Kind == Semaphore || o.Kind == Permits {
		text, _ := p.site.master(o.Name).Value(o.Name)
		free = number(text) >= int64(most(o.calls))
	}
	waits := slices.ContainsFunc(o.calls, func(c *call) bool { return c.waits })
	switch {
	case !free || !waits || o.sleeps() || p.deadHead(o) || p.headUntold(o):
		if !free && waits && !o.freeAt.IsZero() {
			p.judgeLate(o)
		}
		o.freeAt = time.Time{}
	case o.freeAt.IsZero():
		o.freeAt = time.Now()
	}
}

// judgeLate judges for how long an object has been free while somebody waited.
func (p *play) judgeLate(o *object) {
	late, bound := time.Since(o.freeAt), lateInLull
	switch {
	case p.calm():
		p.longest("free and wanted: "+string(o.Kind), late)
		bound = lateByMessage
	case !p.lull || o.freeAt.Before(p.lullAt):
		return
	}
	if late > bound {
		o.freeAt = time.Now() // once
		p.violate("late: %s has been free for %v, and somebody waits", o.Name, late)
	}
}

// most is how many permits the largest request wants: a small one may wait behind it.
func most(calls []*call) (n int) {
	for _, c := range calls {
		n = max(n, c.wants)
	}
	return n
}

// sleeps reports whether waiters may sleep on, because nobody was told that the object is free.
func (o *object) sleeps() bool {
	return !o.lost.IsZero() && time.Since(o.lost) < sleepsFor || time.Now().Before(o.sleepUntil)
}

// headUntold reports whether nobody has told the first waiter of a fair lock that the lock is free. All look in a while.
func (p *play) headUntold(o *object) bool {
	untold := !o.untold.IsZero() && time.Since(o.untold) < fairLooksEvery
	if untold {
		p.allow(fairLooks)
	}
	return untold
}

// repeatedFor is for how long a client makes up for a change that the next master lacks.
const repeatedFor = 15 * time.Second

// revives records the places of waiters that had gone, which older data brought back.
func (o *object) revives(had, has []string) {
	o.revived = slices.DeleteFunc(slices.Clone(has), func(w string) bool { return slices.Contains(had, w) && !slices.Contains(o.revived, w) })
}

// deadHead reports whether the first place of a fair lock is that of a client that died, or one that old data brought back, which keeps
// everyone behind it out. A place may be lost with a command in a storm, and Java's exceptions leave theirs. One whose message was
// lost with Java's subscription is as good as dead: Redisson waits until the time that it was told.
func (p *play) deadHead(o *object) bool {
	if o.Kind != Fair || len(o.enqueued) == 0 {
		return false
	}
	head := clientOf(o.enqueued[0])
	lives := slices.ContainsFunc(o.calls, func(c *call) bool { return c.l != nil && c.l.id == head || c.l == nil && c.who == o.enqueued[0] })
	if !lives && p.calm() && !p.closedOnes[head] {
		return false // its waiter left, and left its place
	}
	if !lives || p.closedOnes[head] || slices.Contains(o.revived, o.enqueued[0]) {
		p.allow(deadPlace)
		return true
	}
	if slices.ContainsFunc(p.javas, func(j *java) bool { return j.id == head && j.missed() }) {
		p.allow(javaException)
		return true
	}
	return false
}

// forgotten reports whether a waiter of Java's for a fair lock sleeps on for as long as it was told, since nobody wakes it: the server
// has lost its place, or it is the first one and the lock expired. It was told for how long the places before it last, and those leave.
func (p *play) forgotten(o *object) bool {
	is := o.Kind == Fair && slices.ContainsFunc(o.calls, func(c *call) bool {
		if !time.Now().Before(c.sleeps) {
			return false
		}
		unplaced := o.emptyAt.After(c.began) && !slices.Contains(o.enqueued, c.who)
		return unplaced || o.expired && len(o.enqueued) > 0 && o.enqueued[0] == c.who
	})
	if is {
		p.allow(javaException)
	}
	return is
}
