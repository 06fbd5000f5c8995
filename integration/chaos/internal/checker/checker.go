package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/rlock-go/redisson/integration/chaos/internal/history"
)

// Checker judges a history chapter by chapter. It is for one goroutine.
type Checker struct {
	model    Model
	voiding  voiding
	late     *lateness
	standing *standing
	probing  *probing
	order    *ordering
	tokens   *numbering
	reentry  *reentry
	troubles []Trouble

	carried []*history.Acquisition // judged, and open beyond the last horizon
	told    map[[2]string]bool     // pairs reported already, because carried windows are judged again

	verdict Verdict
}

type Verdict struct {
	Windows, Voided int
	Why             map[string]int // number of void windows by the fault
	Violations      []string
	Suppressed      int // violations beyond those that are spelled out
	// Calm and Troubled are times from a lock's release to the entry of a waiter, by the waiter's side.
	Calm, Troubled map[history.Side][]time.Duration
	// Judged counts how often a rule of a Model had something to judge, Looked the comparisons with the server.
	Judged, Looked map[string]int
}

// maxSpelled bounds the violations that are kept as text.
const maxSpelled = 50

func New(m Model, b Bounds) *Checker {
	c := &Checker{
		model:   m,
		verdict: Verdict{Why: map[string]int{}, Judged: map[string]int{}, Looked: map[string]int{}},
		voiding: voiding{tainted: map[owning]int64{}, spoilt: map[owning]int64{}},
		late:    newLateness(b),
		told:    map[[2]string]bool{},
	}
	c.order = &ordering{Checker: c, lines: map[int]*line{}}
	if m.Order {
		c.late.first = c.order.first
	}
	if m.Several { // a waiter may be waiting for another member
		c.late.first = func(*history.Acquisition, int64, int64) bool { return false }
	}
	c.standing = &standing{Checker: c, members: map[int]*presence{}}
	c.probing = &probing{Checker: c, parts: map[owning][]*history.Acquisition{}}
	c.tokens = &numbering{Checker: c, locks: map[int]*numbers{}}
	c.reentry = &reentry{Checker: c, owners: map[owning]*having{}}
	return c
}

// Violation records a violation. Callers add those that they found themselves.
func (c *Checker) Violation(format string, args ...any) {
	if len(c.verdict.Violations) >= maxSpelled {
		c.verdict.Suppressed++
		return
	}
	c.verdict.Violations = append(c.verdict.Violations, fmt.Sprintf(format, args...))
}

// Judge judges a chapter, with all troubles so far, sorted by From.
func (c *Checker) Judge(ch history.Chapter, troubles []Trouble) {
	c.troubles = troubles
	c.voiding.voids = append(c.voiding.voids, ch.Voids...)
	c.late.sightings = append(c.late.sightings, ch.Sightings...)
	c.probing.due = append(c.probing.due, slices.DeleteFunc(ch.Sightings, func(s history.Sighting) bool { return s.Set })...)
	c.order.see(ch.Queues)
	due := slices.SortedStableFunc(slices.Values(ch.Acquisitions), func(a, b *history.Acquisition) int { return cmp.Compare(a.Called, b.Called) })
	for _, a := range due {
		c.standing.add(a)
		c.probing.add(a)
		if c.model.Common {
			c.voiding.spoils(a)
		}
	}
	byLock := map[int][]Window{}
	var carried []*history.Acquisition
	for i, a := range append(c.carried, due...) {
		if !a.Held {
			c.late.add(a)
			c.reentry.add(a, Window{})
			continue
		}
		w := c.voiding.window(a)
		if i >= len(c.carried) {
			c.first(a, w)
		}
		byLock[a.Lock] = append(byLock[a.Lock], w)
		if w.To >= ch.Horizon {
			carried = append(carried, a)
		}
	}
	c.carried = carried
	for lock, windows := range byLock {
		c.exclusion(lock, windows)
	}
	back := ch.Horizon - (c.late.bounds.Troubled + time.Minute).Nanoseconds()
	c.standing.judge(ch.Horizon)
	c.probing.judge(ch.Horizon, back, byLock)
	for _, text := range c.late.judge(back, troubles) {
		c.Violation("%s", text)
	}
	c.order.judge(ch.Horizon, back)
	c.late.forget(back)
	c.tokens.judge(ch.Horizon, back)
	c.reentry.forget(back)
}

// first applies the rules that judge a granted acquisition only once.
func (c *Checker) first(a *history.Acquisition, w Window) {
	c.verdict.Windows++
	if w.Void != "" {
		c.verdict.Voided++
		c.verdict.Why[w.Void]++
	}
	c.late.add(a)
	c.order.add(a, w)
	c.tokens.add(a, w)
	c.reentry.add(a, w)
	if w.Void != "" {
		return
	}
	if a.Process.Side == history.Java {
		return
	}
	if a.Outcome == history.NotHeld && a.Lost == 0 && a.Unlocked < a.Until && !c.voiding.between(a.Lock, a.Unlock, a.Unlocked) {
		c.Violation("unlock: %s was told that it does not hold, %v before the end of its lease, %v after the call, at %d; it said %v%s", a.Who(),
			time.Duration(a.Until-a.Unlocked), time.Duration(a.Unlocked-a.Unlock), a.Unlocked, a.Said, c.late.locks[a.Lock].meanwhile(a.Called, a.Unlocked, a.Owner))
	}
	if until := a.Trusted(a.Lost-ownWord, a.Lost-ownWord); a.Lost != 0 && until > a.Lost+c.late.bounds.Calm.Nanoseconds()/10 && !c.late.near(a.Called, a.Lost, c.troubles) {
		c.Violation("loss: %s was told of its loss at %d, %v before the time that it had said, and no fault was near", a.Who(), a.Lost, time.Duration(until-a.Lost))
	}
	// The end of a fresh owner's outermost hold frees the lock: its release, or the end of a fixed lease that was never
	// changed.
	if a.Asked || a.Left {
		return
	}
	switch {
	case a.Outcome == history.OK:
		c.late.free(a, a.Unlock, a.Unlocked)
	case a.Outcome == history.LostLease && a.Lease > 0 && !a.Moved && a.Returned+a.Lease < a.Unlock:
		c.late.free(a, a.Until, a.Returned+a.Lease)
	}
}

// ownWord is how long before its loss a hold may already report a shortened validity.
const ownWord = int64(2 * time.Millisecond)

func (c *Checker) exclusion(lock int, windows []Window) {
	overlaps := c.model.Overlaps(windows)
	if c.model.Shared {
		c.verdict.Judged["pairs of readers inside together"] += len(Model{}.Overlaps(windows)) - len(overlaps)
	}
	if c.model.Permits > 0 {
		c.verdict.Judged["pairs of holders of permits at once"] += len(Model{}.Overlaps(windows)) - len(overlaps)
	}
	for _, o := range overlaps {
		pair := [2]string{o.A.Who, o.B.Who}
		if c.told[pair] {
			continue
		}
		c.told[pair] = true
		c.Violation("exclusion: lock %d was %s for %v:\n    %v\n    %v",
			lock, whose(o), time.Duration(min(o.A.To, o.B.To)-o.B.From), o.A, o.B)
	}
}

// whose names an overlap in a violation.
func whose(o Overlap) string {
	if o.A.Permits > 0 {
		return "of more than there are permits"
	}
	if o.A.Owner == o.B.Owner {
		return "one owner's twice"
	}
	return "two owners'"
}

// End judges what is left after the last chapter and returns the verdict.
func (c *Checker) End() Verdict {
	c.Judge(history.Chapter{Horizon: forever}, c.troubles)
	for _, text := range c.late.judge(forever, c.troubles) {
		c.Violation("%s", text)
	}
	v := &c.verdict
	if v.Windows > 0 && float64(v.Voided) > c.late.bounds.Voided*float64(v.Windows) {
		c.Violation("void: faults set %d of %d windows aside, more than %.0f %%", v.Voided, v.Windows, 100*c.late.bounds.Voided)
	}
	v.Troubled, v.Calm = c.late.entries[0], c.late.entries[1]
	return *v
}
