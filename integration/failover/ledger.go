package main

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/rlock-go/redisson/integration/gate"
)

// stay is a stretch in which a hold said that it was one.
type stay struct {
	lock, owner string
	from, to    time.Time
}

// ledger has the stays of one round.
type ledger struct {
	mu    sync.Mutex // guards stays
	stays []stay
}

func (l *ledger) add(s stay) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stays = append(l.stays, s)
}

// overlap is two owners inside one lock at once, by their holds' own words.
type overlap struct {
	a, b   stay
	pa, pb gate.Proof
}

func (o overlap) String() string {
	end := o.a.to
	if o.b.to.Before(end) {
		end = o.b.to
	}
	return fmt.Sprintf("%s: %s (%v) and %s (%v) were both inside for %v, the first since %v before",
		o.a.lock, o.a.owner, o.pa, o.b.owner, o.pb, end.Sub(o.b.from), o.b.from.Sub(o.a.from))
}

// proven tells whether both had been acknowledged.
func (o overlap) proven() bool { return o.pa == gate.Proven && o.pb == gate.Proven }

// overlaps sweeps the stays.
func (l *ledger) overlaps(w *gate.Witness) (found []overlap) {
	l.mu.Lock()
	defer l.mu.Unlock()
	slices.SortFunc(l.stays, func(a, b stay) int {
		return cmp.Or(cmp.Compare(a.lock, b.lock), a.from.Compare(b.from))
	})
	var inside []stay
	for _, s := range l.stays {
		inside = slices.DeleteFunc(inside, func(o stay) bool { return o.lock != s.lock || !o.to.After(s.from) })
		for _, o := range inside {
			if o.owner != s.owner && s.to.After(s.from) {
				found = append(found, overlap{o, s, w.Of(o.owner, o.from), w.Of(s.owner, s.from)})
			}
		}
		inside = append(inside, s)
	}
	return found
}

// outage is the longest time between two instants without an entry into any of the locks; 0 if there was none at all.
func (l *ledger) outage(from, to time.Time, of func(lock string) bool) (longest time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	entries := []time.Time{from}
	for _, s := range l.stays {
		if s.from.After(from) && s.from.Before(to) && of(s.lock) {
			entries = append(entries, s.from)
		}
	}
	if len(entries) == 1 {
		return 0
	}
	entries = append(entries, to)
	slices.SortFunc(entries, time.Time.Compare)
	for i := 1; i < len(entries); i++ {
		longest = max(longest, entries[i].Sub(entries[i-1]))
	}
	return longest
}

// entries counts the entries into some locks since an instant.
func (l *ledger) entries(since time.Time, of func(lock string) bool) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.stays {
		if s.from.After(since) && of(s.lock) {
			n++
		}
	}
	return n
}
