package main

import (
	"time"

	"github.com/rlock-go/redisson/integration/kit/quantile"
)

// plan says how many slices each cast of a row gets, and how long they are.
type plan struct {
	rounds int
	slice  time.Duration
}

// report is the result of a plan.
type report struct {
	rows        []rowResult
	plan        plan
	load, redis string // the machine's load average before the run; the server's version
}

type rowResult struct {
	row
	off, on, alone result // nil if not measured
}

// result is a cast's slices, in the order of the rounds.
type result []slice

func (p plan) row(s *stage, w row) rowResult {
	s.t.Helper()
	with := w.cast
	with.courteous = true
	casts := []cast{w.cast, with}
	if w.alone {
		casts = append(casts, cast{goes: w.goes, hold: w.hold})
	}
	s.prepare(w.cast)
	all := make([]result, 3)
	for round := range p.rounds {
		for i := range casts {
			k := (round + i) % len(casts)
			all[k] = append(all[k], s.play(casts[k], p.slice))
		}
	}
	return rowResult{w, all[0], all[1], all[2]}
}

// rate is the median of the slices' acquisitions per second.
func (r result) rate() float64 { return r.median(slice.rate) }

// rateRatio is the median of the rounds' ratios, or NaN if one of the two was not measured.
func rateRatio(a, b result) float64 {
	var ratios []float64
	for i := range min(len(a), len(b)) {
		ratios = append(ratios, a[i].rate()/b[i].rate())
	}
	return quantile.Median(ratios)
}

// shares are the processes' shares, each the median of its slices.
func (r result) shares() (shares []float64) {
	for i := range r[0].processes {
		shares = append(shares, r.median(func(s slice) float64 { return float64(s.processes[i].count) / float64(s.count()) }))
	}
	return shares
}

// sideShare is the share of all processes of a side together.
func (r result) sideShare(of side) float64 {
	return r.median(func(s slice) float64 {
		var n int64
		for _, p := range s.processes {
			if p.side == of {
				n += p.count
			}
		}
		return float64(n) / float64(s.count())
	})
}

// waits returns the waits of a side's processes in all slices, in ms.
func (r result) waits(of side) (all []float64) {
	for _, s := range r {
		for _, p := range s.processes {
			if p.side == of {
				for _, w := range p.waits {
					all = append(all, w.Seconds()*1000)
				}
			}
		}
	}
	return all
}

// commandsEach is the number of commands that clients sent per acquisition.
func (r result) commandsEach() float64 {
	return r.median(func(s slice) float64 { return float64(s.sent()) / float64(s.turns) })
}

func (r result) median(of func(slice) float64) float64 {
	var values []float64
	for _, s := range r {
		values = append(values, of(s))
	}
	return quantile.Median(values)
}
