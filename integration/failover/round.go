package main

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/rlock-go/redisson/integration/gate"
	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// scene is what a round is played on.
type scene struct {
	kind            string
	urls            [2]string // of the client that holds, and of the one that waits
	witness         *gate.Witness
	contested, kept []string
	affected        func(lock string) bool // by the fault; nil: all are
	strike          func()                 // makes the fault, and returns when its end is known to the servers
	present         func(name, owner string) (bool, error)
	inspect         func(l *load, r *result) // before the standing holds are released; nil: nothing
}

// result is what a round came to.
type result struct {
	kind         string
	back, others time.Duration // the longest time without an entry into a lock that was affected, or was not
	kept, lost   int
	told         int           // waiters that entered when the standing holds were released
	woken        time.Duration // from the first of these releases until the last of them was inside
	gap          time.Duration // the longest between two renewals, where that is looked at
	entries      int
	failed       int64
	proven       int // twice inside, both acknowledged: a violation
	unproven     map[string]int
	proofs       [4]int // of the entries and standing holds of the round
	wrong        []string
	notes        []string
}

func (r *result) violate(format string, args ...any) {
	r.wrong = append(r.wrong, r.kind+": "+fmt.Sprintf(format, args...))
}

// guarded plays a round, and ends what it started. What failed in its rig is a failure of the round.
func guarded(kind string, play func(t *testbed.Program) result) (r result) {
	p := &testbed.Program{Title: "failover", Quiet: true}
	r.kind = kind
	status := 0
	defer func() {
		if status != 0 {
			r.violate("%s", strings.Join(p.Errors(), "; "))
		}
	}()
	defer p.End(&status)
	return play(p)
}

const (
	warm    = 40 // entries before the fault
	enough  = 60 // entries behind it
	renewed = lease/3 + 500*time.Millisecond
)

// play plays one round.
func (s scene) play() (r result) {
	r = result{kind: s.kind, unproven: map[string]int{}}
	if s.affected == nil {
		s.affected = func(string) bool { return true }
	}
	l, err := begin(s.urls, s.contested, s.kept)
	if err != nil {
		r.violate("%v", err)
		return r
	}
	ended := sync.OnceFunc(l.end)
	defer ended()
	if !testbed.Within(patience, func() bool { return l.book.entries(time.Time{}, s.affected) >= warm }) {
		r.violate("no load before the fault: %d entries, %d failures", l.book.entries(time.Time{}, s.affected), l.failed.Load())
		return r
	}
	struck := time.Now()
	s.strike()
	behind := time.Now()
	if !testbed.Within(patience, func() bool { return l.book.entries(behind, s.affected) >= enough }) {
		r.violate("locks did not work again within %v: %d entries, %d failures", patience, l.book.entries(behind, s.affected), l.failed.Load())
		return r
	}
	time.Sleep(renewed) // holds that were lost must be told by then
	s.count(l, &r)
	if s.inspect != nil {
		s.inspect(l, &r)
	}
	s.release(l, &r)
	r.back = l.book.outage(struck, s.affected)
	r.others = l.book.outage(struck, func(lock string) bool { return !s.affected(lock) })
	ended()
	r.entries, r.failed = l.book.entries(struck, func(string) bool { return true }), l.failed.Load()
	s.judge(l.book, &r)
	return r
}

// count asks the standing holds, and the master, whether they are held.
func (s scene) count(l *load, r *result) {
	for _, h := range l.standing {
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
}

// release gives the standing holds back; whoever waits must enter.
func (s scene) release(l *load, r *result) {
	began, before := time.Now(), int(l.entered.Load())
	var releasing sync.WaitGroup
	var mu sync.Mutex
	for _, h := range l.standing {
		if h.hold.Err() != nil {
			continue
		}
		releasing.Go(func() {
			if err := h.hold.Unlock(l.ctx); err != nil {
				mu.Lock()
				defer mu.Unlock()
				r.notes = append(r.notes, err.Error())
			}
		})
	}
	releasing.Wait()
	defer func() { r.told, r.woken = int(l.entered.Load())-before, time.Since(began) }()
	if !testbed.Within(patience, func() bool { return int(l.entered.Load()) == len(l.standing) }) {
		r.violate("%d of %d waiters entered within %v", l.entered.Load(), len(l.standing), patience)
	}
}

// judge holds against one another what the holds said.
func (s scene) judge(book *ledger, r *result) {
	for _, one := range book.stays {
		r.proofs[s.witness.Of(one.owner, one.from)]++
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
