package main

import (
	"math"
	"slices"
	"time"
)

// plan is what to measure.
type plan struct {
	rows    []row
	rounds  int
	slice   time.Duration
	off, on bool
}

// report is what came of a plan.
type report struct {
	rows []*rowResult
	plan plan
	load string // of the machine, before
}

// rowResult has nil for what was not measured.
type rowResult struct {
	row
	off, on, alone *result
}

// result is a cast's slices, in the order of the rounds.
type result struct {
	cast   cast
	slices []slice
}

// measure plays all rows and tells of each when it is done.
func (p plan) measure(s *stage, done func(*rowResult)) report {
	s.t.Helper()
	r := report{plan: p, load: loadAverage()}
	for _, row := range p.rows {
		result := p.row(s, row)
		r.rows = append(r.rows, result)
		done(result)
	}
	return r
}

func (p plan) row(s *stage, w row) *rowResult {
	s.t.Helper()
	r := &rowResult{row: w}
	var all []*result
	have := func(c cast) *result {
		x := &result{cast: c}
		all = append(all, x)
		return x
	}
	if p.off {
		r.off = have(w.cast.with(false))
	}
	if p.on {
		r.on = have(w.cast.with(true))
	}
	if w.alone != nil {
		r.alone = have(w.alone.with(false))
	}
	for _, x := range all {
		s.prepare(x.cast)
	}
	for round := range p.rounds {
		for i := range all {
			x := all[(round+i)%len(all)]
			x.slices = append(x.slices, s.play(x.cast, p.slice))
		}
	}
	return r
}

// rate is the median of acquisitions a second.
func (r *result) rate() float64 {
	return median(each(r.slices, slice.rate))
}

// rateRatio is the median of the rounds' ratios; not a number if one of them was not measured.
func rateRatio(a, b *result) float64 { return median(rateRatios(a, b)) }

func rateRatios(a, b *result) (ratios []float64) {
	if a == nil || b == nil {
		return nil
	}
	for i := range a.slices {
		ratios = append(ratios, a.slices[i].rate()/b.slices[i].rate())
	}
	return ratios
}

// uncertainty is about how far from a median of these the true one may be (95%), by the distance of their quartiles. Of
// few it says little.
func uncertainty(v []float64) float64 {
	if len(v) < 4 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(v))
	return 1.57 * (s[len(s)*3/4] - s[len(s)/4]) / math.Sqrt(float64(len(s)))
}

// shares are the processes', each the median of its slices.
func (r *result) shares() (shares []float64) {
	for i := range r.slices[0].processes {
		shares = append(shares, median(r.sharesOf(i)))
	}
	return shares
}

// sharesOf are those of one process, by slice.
func (r *result) sharesOf(i int) []float64 {
	return each(r.slices, func(s slice) float64 { return float64(s.processes[i].count) / float64(s.count()) })
}

// sideShare is that of all processes of a side together.
func (r *result) sideShare(of side) float64 {
	return median(each(r.slices, func(s slice) float64 {
		var n int64
		for _, p := range s.processes {
			if p.side == of {
				n += p.count
			}
		}
		return float64(n) / float64(s.count())
	}))
}

// waits are those of the processes that are chosen, of all slices, sorted.
func (r *result) waits(chosen func(i int, p performance) bool) (all []time.Duration) {
	for _, s := range r.slices {
		for i, p := range s.processes {
			if chosen(i, p) {
				all = append(all, p.waits...)
			}
		}
	}
	slices.Sort(all)
	return all
}

func (r *result) sideWaits(of side) []time.Duration {
	return r.waits(func(_ int, p performance) bool { return p.side == of })
}

// of a kind, for each acquisition.
func (r *result) commandEach(kind string) float64 {
	return median(each(r.slices, func(s slice) float64 { return float64(s.commands[kind]) / float64(s.turns) }))
}

// commandsEach is all that clients sent for each acquisition.
func (r *result) commandsEach() float64 {
	return median(each(r.slices, func(s slice) float64 { return float64(s.commands.total(s.turns)) / float64(s.turns) }))
}

func each(all []slice, f func(slice) float64) (values []float64) {
	for _, s := range all {
		values = append(values, f(s))
	}
	return values
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(v))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// percentile is the nearest rank of what is sorted; 0 of nothing.
func percentile(sorted []time.Duration, p float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(int(math.Ceil(p*float64(len(sorted)))), 1)-1]
}
