package watchdog

import (
	"time"

	"github.com/rlock-go/redisson/internal/clock"
)

// A server may notify a client of the next change of a key that it read. The code that
// receives the notice calls Lease.Changed, and the lease is looked at (Options.Look),
// which reads its key again. Only the server's answer to a look or a renewal is a loss.
//
// The state of what is known of a lease's key, and the state after
//
//	          a round     a change   its owner's  its reading   a renewal or
//	                                 write                      look without
//	young     aged        looking    young        watched       young
//	aged      looking     looking    aged         watched       aged
//	looking   -           owed 2     owed 1       rests         aged
//	watched   -           looking    aged         watched       aged
//
// A lease that is looking gets the looks that it is owed, with a rest of lookRest after
// each, and then is watched: so looks at one lease are that far apart, however often its
// key changes. A change owes two, because a key whose TTL was cut still exists at the
// first. A write during a look or a renewal owes one, because the read may have come
// before the write. So does a look that could not read because of a renewal, which may
// have read before the change. A round leaves an aged lease to a renewal that is due
// within asSoon. Once a third it looks at a watched lease that is not renewed: a server
// may stop tracking a key without notice.

const (
	// roundEvery is the time between two rounds through the leases. A lease that two
	// rounds have found is old enough to be worth a look. That is within two seconds, its
	// look included.
	roundEvery = 900 * time.Millisecond

	lookRest = 100 * time.Millisecond

	// A renewal takes the place of a look if it comes this soon. A lease is up to two rounds old
	// then, and what is left of two seconds is for the answer.
	asSoon = 100 * time.Millisecond

	// lookGap is the longest time between full batches of looks; Watchdog.gap is less
	// where the TTL is short.
	lookGap = 2 * time.Millisecond
)

type watch uint8

const (
	young watch = iota
	aged
	looking // about to be looked at, being looked at, or resting
	watched
)

// rest is a lease that rests after a look, and the end of the rest.
type rest struct {
	l     *Lease
	until time.Duration
}

// watching is a Watchdog's state for looks. The watchdog's mu guards all but look.
type watching struct {
	look     func([]*Lease, func(int, bool)) // nil: no looks
	toLook   []*Lease                        // in order
	lookFrom time.Duration                   // no look before this
	rests    []rest                          // in order
	roundAt  time.Duration                   // next round; Never without look
	thirdAt  time.Duration                   // next look at watched leases that are not renewed
}

// Changed says that another client may have changed the lease's key, so that it is looked
// at. It has no effect on a lease that is not live.
func (l *Lease) Changed() { l.ifAlive(func(w *Watchdog, l *Lease) { w.owe(l, 2) }) }

// Wrote says that this client wrote the lease's key, for its owner or for another. The
// server does not notify the client of that write, nor of any change after it.
func (l *Lease) Wrote() { l.ifAlive((*Watchdog).wrote) }

// Disown is Forget for a lease that its holder does not have, by the answer to a look:
// trust in it ends now. It has no effect on a lease that is not live.
func (l *Lease) Disown() {
	l.ifAlive(func(w *Watchdog, l *Lease) {
		l.expiry.Store(int64(min(l.Expiry(), w.clock.Now())))
		w.forget(l)
	})
}

// ifAlive calls do for a live lease, with the watchdog locked.
func (l *Lease) ifAlive(do func(*Watchdog, *Lease)) {
	w := l.watchdog
	w.mu.Lock()
	defer w.mu.Unlock()
	if l.alive() {
		do(w, l)
	}
}

// LookThose looks at every lease whose holder pick chooses, because changes before this
// call may not have been notified. If changed says that all their keys have changed, it
// looks at once; otherwise at once at a lease that is old enough, and at the others in
// time. pick is called with the watchdog locked: it must not call the watchdog.
func (w *Watchdog) LookThose(pick func(Holder) bool, changed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for l := range w.leases {
		switch {
		case !pick(l.holder):
		case changed, l.watch == aged:
			w.owe(l, 1)
		default:
			w.wrote(l)
		}
	}
}

// owe makes sure that l is looked at, at least looks times from now on.
func (w *Watchdog) owe(l *Lease, looks uint8) {
	if w.look == nil {
		return
	}
	l.owed = max(l.owed, looks)
	if l.watch != looking {
		w.ask(l)
	}
}

// ask queues l for a look.
func (w *Watchdog) ask(l *Lease) {
	l.watch = looking
	w.toLook = append(w.toLook, l)
	w.lookBy(max(w.looked, w.lookFrom))
}

// wrote is Wrote with mu held.
func (w *Watchdog) wrote(l *Lease) {
	if l.watch == watched {
		l.watch, l.batch.unread = aged, true // the next round looks at it
	}
	if l.watch == looking || l.state == inFlight {
		l.owed = max(l.owed, 1)
	}
}

// renewalRead follows a renewal, which has written l's key. read says that the renewal
// also read the key afterwards.
func (w *Watchdog) renewalRead(l *Lease, read bool) {
	switch {
	case w.look == nil || l.watch == looking && read:
	case !read:
		w.wrote(l)
	case l.owed > 0:
		w.ask(l)
	default:
		l.watch = watched
	}
}

// nextLook is the instant at which a round, a look or the end of a rest is due.
func (w *watching) nextLook() time.Duration {
	at := w.roundAt
	if len(w.toLook) > 0 {
		at = min(at, w.lookFrom)
	}
	if len(w.rests) > 0 {
		at = min(at, w.rests[0].until)
	}
	return at
}

// looks returns the leases that are to be looked at now, up to a batch of them.
func (w *Watchdog) looks(now time.Duration) (batch []*Lease) {
	for len(w.rests) > 0 && w.rests[0].until <= now {
		l := w.rests[0].l
		w.rests = w.rests[1:]
		switch {
		case !l.alive():
		case l.owed > 0:
			w.ask(l)
		default:
			l.watch = watched
		}
	}
	if now >= w.roundAt {
		w.round(now)
	}
	if now < w.lookFrom {
		return nil
	}
	for len(w.toLook) > 0 && len(batch) < MaxBatch {
		if l := w.toLook[0]; l.alive() {
			l.owed -= min(l.owed, 1)
			batch = append(batch, l)
		}
		w.toLook = w.toLook[1:]
	}
	w.lookFrom = now + min(w.gap(), lookGap)*time.Duration(len(batch))/MaxBatch
	return batch
}

// round ages the leases that are not watched, and asks for looks at the aged ones.
func (w *Watchdog) round(now time.Duration) {
	w.roundAt = clock.Later(now, roundEvery)
	third := now >= w.thirdAt
	if third {
		w.thirdAt = clock.Later(now, w.third)
	}
	for _, b := range w.batches {
		all := third && b.group == &w.resting
		if !b.unread && !all {
			continue
		}
		b.unread = false
		for _, l := range b.leases {
			switch {
			case l.watch == young:
				l.watch, b.unread = aged, true
			case l.watch == aged && b.renewAt <= clock.Later(now, asSoon):
				b.unread = true // a renewal reads it as soon
			case l.watch == aged || l.watch == watched && all:
				w.ask(l)
			}
		}
	}
}

// lookAnswered follows a look at l; read says whether it read the key. A lease that is
// owed another look gets it in any case.
func (w *Watchdog) lookAnswered(l *Lease, read bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case !l.alive():
	case read || l.owed > 0:
		w.rests = append(w.rests, rest{l, clock.Later(w.clock.Now(), lookRest)})
		w.lookBy(w.rests[0].until)
	default:
		l.watch, l.batch.unread = aged, true
		if l.state == inFlight {
			l.owed = 1 // the renewal may have read the key before the change that this look was for
		}
	}
}
