package checker

import (
	"slices"
	"time"

	"github.com/rlock-go/redisson/integration/chaos/internal/history"
)

// probing compares what the server showed with what Go's holds reported at that moment:
//   - An owner with windows throughout the look has at least as many holds there, and the key lives at least as long as its
//     holds reported that they are valid.
//   - No owner has more holds there than it may have been granted and not released. This finds an acquire or a release that
//     counted twice, and a lost one that was undone wrongly.
type probing struct {
	*Checker
	due   []history.Sighting
	parts map[owning][]*history.Acquisition // by their owners
}

func (p *probing) judges() bool { return !p.model.Shared }

func (p *probing) add(a *history.Acquisition) {
	if p.judges() && a.Owner != "" && a.Process.Side == history.Go {
		key := owning{a.Lock, a.Owner}
		p.parts[key] = append(p.parts[key], a)
	}
}

// judge checks the sightings before horizon, for which all acquisitions are known. It forgets those that ended before since.
func (p *probing) judge(horizon, since int64, windows map[int][]Window) {
	if !p.judges() {
		return
	}
	slices.SortFunc(p.due, func(a, b history.Sighting) int { return int(a.Answered - b.Answered) })
	n := len(p.due)
	if i := slices.IndexFunc(p.due, func(s history.Sighting) bool { return s.Answered >= horizon }); i >= 0 {
		n = i
	}
	for _, s := range p.due[:n] {
		p.look(s, windows[s.Lock])
	}
	p.due = slices.Clone(p.due[n:])
	for key, all := range p.parts {
		if all = slices.DeleteFunc(all, func(a *history.Acquisition) bool { return end(a) < since }); len(all) == 0 {
			delete(p.parts, key)
		} else {
			p.parts[key] = all
		}
	}
}

func (p *probing) look(s history.Sighting, windows []Window) {
	p.verdict.Looked["looks at the server"]++
	there := map[string]int{}
	for _, w := range windows {
		if w.Process.Side != history.Go || w.From >= s.Asked || w.To <= s.Answered {
			continue
		}
		there[w.Owner]++
		p.verdict.Looked["valid holds held against a look"]++
		if n := s.Owners[w.Owner]; n < there[w.Owner] && p.model.Permits == 0 || n == 0 {
			p.complain(s, w.Who, "trust: %s is valid, as %d of its owner are, and lock %d shows %d of it at %d (%v)", w.Who, there[w.Owner], s.Lock, n, s.Asked, s.Owners)
		}
		if until := w.by.Trusted(s.Asked, s.Answered); p.model.Permits == 0 && until > s.Answered+(s.TTL+2)*int64(time.Millisecond) {
			p.complain(s, w.Who, "trust: %s is trusted for %v at %d, and the key of lock %d lives for %d ms; it said %v%s%s", w.Who, time.Duration(until-s.Answered), s.Answered, s.Lock, s.TTL, w.by.Said,
				p.late.locks[s.Lock].meanwhile(s.Asked-int64(3*time.Second), s.Answered, w.Owner), p.late.seen(s.Lock, s.Asked-int64(3*time.Second), s.Answered))
		}
	}
	for owner, n := range s.Owners {
		all, known := p.parts[owning{s.Lock, owner}]
		if !known || p.model.Permits > 0 {
			continue
		}
		most := 0
		for _, a := range all {
			if p.perhaps(a, s) {
				most++
			}
		}
		p.verdict.Looked["counts of owners held against what was granted and released"]++
		if n > most {
			p.complain(s, owner, "count: lock %d shows %d of %s at %d, which may have %d%s", s.Lock, n, owner, s.Asked, most, p.late.locks[s.Lock].meanwhile(s.Asked-int64(3*time.Second), s.Answered, owner))
		}
	}
}

// complain records a violation, once for each hold or owner and format.
func (p *probing) complain(s history.Sighting, who, format string, args ...any) {
	if pair := [2]string{who, format}; !p.told[pair] {
		p.told[pair] = true
		p.Violation(format, args...)
	}
}

// perhaps reports whether an acquire's hold may have been on the server at the moment of a sighting.
func (p *probing) perhaps(a *history.Acquisition, s history.Sighting) bool {
	switch {
	case a.Called >= s.Answered:
		return false
	case !a.Held && (a.Refusal == history.Locked || a.Refusal == history.Reentered):
		return a.Returned > s.Asked || p.model.Several // members that were granted may not be released yet
	case a.Held && (a.Outcome == history.OK || a.Outcome == history.NotHeld):
		return a.Unlocked > s.Asked
	}
	return true
}
