package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rlock-go/redisson/integration/kit/gate"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

type scene struct {
	row
	urls            [2]string // of the client that holds, and of the one that waits
	witness         *gate.Witness
	lease           time.Duration
	contested, kept []string
	going           []string               // released during the fault, by clients that wait for replicas
	unsynced        []string               // the same, by clients that do not
	over            time.Duration          // how long the releases take
	affected        func(lock string) bool // by the fault; nil: all are
	strike          func() time.Time       // makes the fault, and when it is over returns since when there was a master
	settled         func() bool            // all replicas are fed; nil: play does not wait for that
	present         func(name, owner string) (bool, error)
	excused         func() string            // why holds may be lost; nil: nothing does
	inspect         func(l *load, r *result) // called before the standing holds are released; may be nil
}

type result struct {
	row
	back, others time.Duration // the longest time without an entry into any affected lock, and into any other
	again        time.Duration // the longest time without an entry into one lock, since there was a master
	where        string        // that lock
	stood        [2]int        // locks that nobody could enter for a lease, or nearly: with and without WAIT
	which        []string      // these locks, and when they were released
	released     [2]int        // how many were released meanwhile
	kept, lost   int
	told         int           // waiters that entered when the standing holds were released
	woken        time.Duration // from the first of these releases until the last waiter was inside
	gap          time.Duration // the longest between two renewals, where that is measured
	entries      int
	failed       int64
	proven       int // two inside at once, both acknowledged: a violation
	unproven     map[string]int
	proofs       [4]int // of the entries and standing holds of the round
	excuse       string // why holds may be lost, and locks stand
	wrong        []string
	notes        []string
}

func (r *result) violate(format string, args ...any) {
	r.wrong = append(r.wrong, r.row.String()+": "+fmt.Sprintf(format, args...))
}

// guarded plays a round, and ends what it started. An error of the test rig is a violation of the round.
func guarded(w row, play func(t *testbed.Program) result) (r result) {
	r.row = w
	rigged(r.violate, func(t *testbed.Program) { r = play(t) })
	return r
}

// rigged calls play, ends what that started, and passes the errors of the test rig to failed.
func rigged(failed func(format string, args ...any), play func(t *testbed.Program)) {
	p := &testbed.Program{Title: "failover", Quiet: true}
	status := 0
	defer func() {
		if status != 0 {
			failed("%s", strings.Join(p.Errors(), "; "))
		}
	}()
	defer p.End(&status)
	play(p)
}

const (
	warm = 40 // entries before the fault
	late = 500 * time.Millisecond
	// usual is the default lease: a failover takes a part of it.
	usual = 20 * time.Second
	// endless is longer than any lease, and than a replica waits to be fed.
	endless = 90 * time.Second
)

// latchLasts is how long an unlock with a latch is retried.
const latchLasts = 4*timeout + time.Second

// lookPause is the longest pause between two attempts of a client to find the master.
const lookPause = time.Second

// sudden lists the faults by which a master may lose a command that it has just answered.
var sudden = []string{killed, clusterKilled, clusterParted}

// awaitFed waits until all replicas are fed. Before that no replica is asked to acknowledge an acquire.
func awaitFed(t *testbed.Program, fed func() bool) {
	testbed.BecomesWithin(t, endless, "all replicas are fed", fed)
}

func (s scene) play() (r result) {
	r = result{row: s.row, unproven: map[string]int{}}
	if s.affected == nil {
		s.affected = func(string) bool { return true }
	}
	book := &ledger{}
	var loads []*load
	ended := sync.OnceFunc(func() {
		for _, l := range loads {
			l.end()
		}
	})
	defer ended()
	for _, w := range []struct {
		sync                   bool
		contested, kept, going []string
	}{{true, s.contested, s.kept, s.going}, {false, nil, nil, s.unsynced}} {
		if !w.sync && len(w.going) == 0 {
			continue
		}
		l, err := begin(book, s.urls, s.lease, w.sync)
		if err == nil {
			loads = append(loads, l)
			err = l.use(w.contested, w.kept, w.going)
		}
		if err != nil {
			r.violate("%v", err)
			return r
		}
	}
	l := loads[0]
	if !testbed.Within(patience, func() bool { return book.entries(time.Time{}, s.affected) >= warm }) {
		r.violate("no load before the fault: %d entries, %d failures", book.entries(time.Time{}, s.affected), l.failed.Load())
		return r
	}
	struck := time.Now()
	var releasing sync.WaitGroup
	for _, l := range loads {
		releasing.Go(func() { l.releaseOver(s.over) })
	}
	served := s.strike()
	for _, l := range loads {
		close(l.stays)
	}
	releasing.Wait()
	s.awaitEntries(loads, served, &r)
	if s.settled != nil && !testbed.Within(endless, s.settled) {
		r.violate("not all replicas were fed within %v", endless)
	}
	time.Sleep(s.lease/3 + late) // lost holds must have reported it by then
	if s.excused != nil {
		if r.excuse = s.excused(); r.excuse != "" {
			r.notes = append(r.notes, r.excuse)
		}
	}
	s.measure(loads, struck, served, &r)
	s.count(l, &r)
	if s.inspect != nil {
		s.inspect(l, &r)
	}
	s.release(l, &r)
	ended()
	r.entries, r.failed = book.entries(struck, func(string) bool { return true }), l.failed.Load()
	s.judge(book, &r)
	return r
}

func (s scene) awaitEntries(loads []*load, served time.Time, r *result) {
	missing := func() (all []string) {
		for _, name := range s.contested {
			if s.affected(name) && loads[0].book.entries(served, func(lock string) bool { return lock == name }) == 0 {
				all = append(all, name)
			}
		}
		for _, l := range loads {
			for _, h := range l.going {
				if h.waited(served) == 0 {
					all = append(all, h.hold.Name())
				}
			}
		}
		return all
	}
	if !testbed.Within(endless, func() bool { return len(missing()) == 0 }) {
		r.violate("not entered within %v: %v", endless, missing())
	}
}

// measure records how long nobody entered the locks so far.
func (s scene) measure(loads []*load, struck, served time.Time, r *result) {
	book, now := loads[0].book, time.Now()
	r.back = book.outage(struck, now, func(lock string) bool { return s.affected(lock) && !slices.Contains(s.unsynced, lock) })
	r.others = book.outage(struck, now, func(lock string) bool { return !s.affected(lock) })
	stayed := func(i int, name string, d time.Duration, about string) {
		if r.released[i]++; d > r.again {
			r.again, r.where = d, name
		}
		// A lease is renewed every third, so at least two thirds of it are left.
		if d == 0 || d > s.lease*2/3-late {
			r.stood[i]++
			r.which = append(r.which, name+about)
		}
	}
	for _, name := range s.contested {
		if s.affected(name) {
			stayed(0, name, book.outage(served, now, func(lock string) bool { return lock == name }), "")
		}
	}
	for i, l := range loads {
		for _, h := range l.going {
			// An unlock whose owner others may use is sent again only if all replicas had acknowledged the acquire, and
			// while its latch lasts. Its client may find the master a lookPause later than the first to enter.
			tooLate := struck.Add(r.back).Sub(h.released) > latchLasts-lookPause-late
			if h.shown && (i == 1 && slices.Contains(sudden, s.row.kind) || tooLate) {
				continue
			}
			stayed(i, h.hold.Name(), h.waited(served), fmt.Sprintf(" (released after %v, of an owner that others may use: %t)",
				h.released.Sub(struck).Round(time.Millisecond), h.shown))
			if h.lost {
				r.notes = append(r.notes, fmt.Sprintf("%s: lost before it was released", h.hold.Name()))
			}
		}
	}
	if r.stood[0]+r.stood[1] > 0 && r.excuse == "" {
		r.violate("%d of %d locks that were released, and %d of %d without WAIT, stood for a lease: %v", r.stood[0], r.released[0], r.stood[1], r.released[1], r.which)
	}
}

// count compares what the standing holds report with what the master has.
func (s scene) count(l *load, r *result) {
	for _, h := range l.kept {
		err := h.hold.Err()
		if err != nil {
			r.lost++
			if there, err := s.present(h.hold.Name(), h.owner); err == nil && there {
				r.notes = append(r.notes, fmt.Sprintf("%v: lost, and the master has it: %v", h.hold, s.witness.History(h.owner)))
			} else {
				r.notes = append(r.notes, fmt.Sprintf("%v: lost: %v", h.hold, s.witness.History(h.owner)))
			}
			if !errors.Is(err, rlock.ErrLeaseLost) {
				r.violate("%v ended with %v", h.hold, err)
			}
			continue
		}
		there, err := s.present(h.hold.Name(), h.owner)
		switch {
		case err != nil:
			r.violate("asking for %v: %v", h.hold, err)
		case h.hold.Err() == nil && !there:
			r.violate("%v says that it is held, and the master does not have it", h.hold)
		default:
			r.kept++
		}
	}
	if r.lost > 0 && r.excuse == "" {
		r.violate("%d of %d standing holds were lost", r.lost, len(l.kept))
	}
}

// release releases the standing holds. All their waiters must enter.
func (s scene) release(l *load, r *result) {
	inside := func() (n int) {
		for _, h := range l.kept {
			h.mu.Lock()
			if h.done {
				n++
			}
			h.mu.Unlock()
		}
		return n
	}
	began, before := time.Now(), inside()
	var releasing sync.WaitGroup
	var mu sync.Mutex
	for _, h := range l.kept {
		if h.hold.Err() != nil {
			continue
		}
		releasing.Go(func() {
			if err := l.release(h); err != nil {
				mu.Lock()
				defer mu.Unlock()
				r.notes = append(r.notes, err.Error())
			}
		})
	}
	releasing.Wait()
	defer func() { r.told, r.woken = inside()-before, time.Since(began) }()
	if !testbed.Within(patience, func() bool { return inside() == len(l.kept) }) {
		r.violate("%d of %d waiters entered within %v", inside(), len(l.kept), patience)
	}
}

// judge finds owners that were inside at once, and counts how well replicas had acknowledged them.
func (s scene) judge(book *ledger, r *result) {
	for _, one := range book.stays {
		if !slices.Contains(s.unsynced, one.lock) {
			r.proofs[s.witness.Of(one.owner, one.from)]++
		}
	}
	for _, o := range book.overlaps(s.witness) {
		if o.proven() {
			r.proven++
			r.violate("%v", o)
			continue
		}
		r.unproven[min(o.pa, o.pb).String()]++
		r.notes = append(r.notes, o.String())
	}
}
