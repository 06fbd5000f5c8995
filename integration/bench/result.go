package main

import (
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/rlock-go/redisson/integration/kit/quantile"
)

// Cell is one measured value. Its rounds are in the order of the run; round i of one peer ran next to round i of the
// others.
type Cell struct {
	Part   string    `json:"part"`
	Peer   string    `json:"peer"`
	At     string    `json:"at"` // how many callers, holds or waiters
	Metric string    `json:"metric"`
	Rounds []float64 `json:"rounds"`
}

// Report is the result of a run.
type Report struct {
	Command string    `json:"command"`
	Began   time.Time `json:"began"`
	Took    string    `json:"took"`
	Quick   bool      `json:"quick"`
	Machine Machine   `json:"machine"`
	Cells   []*Cell   `json:"cells"`
	Missing []Missing `json:"missing,omitempty"`
	Trouble []string  `json:"trouble"`         // what hung or failed
	Since   string    `json:"since,omitempty"` // written by hand: what has changed since, and what it costs
}

// add notes one round.
func (r *Report) add(part, peer, at, metric string, value float64) {
	c := r.cell(part, peer, at, metric)
	if c == nil {
		c = &Cell{Part: part, Peer: peer, At: at, Metric: metric}
		r.Cells = append(r.Cells, c)
	}
	c.Rounds = append(c.Rounds, value)
}

func (r *Report) cell(part, peer, at, metric string) *Cell {
	for _, c := range r.Cells {
		if c.Part == part && c.Peer == peer && c.At == at && c.Metric == metric {
			return c
		}
	}
	return nil
}

// median returns the median of a cell's rounds, and false if there is no such cell.
func (r *Report) median(part, peer, at, metric string) (float64, bool) {
	c := r.cell(part, peer, at, metric)
	if c == nil {
		return 0, false
	}
	return quantile.Median(c.Rounds), true
}

// ratio is the median of a's rounds over b's, round by round.
func (r *Report) ratio(part, a, b, at, metric string) (float64, bool) {
	q := r.ratios(part, a, b, at, metric)
	return quantile.Median(q), q != nil
}

// ratios returns the rounds' ratios, or nil if there is no such cell.
func (r *Report) ratios(part, a, b, at, metric string) (q []float64) {
	x, y := r.cell(part, a, at, metric), r.cell(part, b, at, metric)
	if x == nil || y == nil {
		return nil
	}
	for i := range min(len(x.Rounds), len(y.Rounds)) {
		q = append(q, x.Rounds[i]/y.Rounds[i])
	}
	return q
}

// peers and places of a part, in the order of the run.
func (r *Report) peers(part string) []string {
	return r.distinct(part, func(c *Cell) string { return c.Peer })
}
func (r *Report) places(part string) []string {
	return r.distinct(part, func(c *Cell) string { return c.At })
}

func (r *Report) distinct(part string, of func(*Cell) string) (all []string) {
	for _, c := range r.Cells {
		if c.Part == part && !slices.Contains(all, of(c)) {
			all = append(all, of(c))
		}
	}
	return all
}

// best returns the peer with the lowest median, or the highest, other than rlock now or at an earlier commit.
func (r *Report) best(part, at, metric string, highest bool) (name string, ok bool) {
	var lead float64
	for _, p := range r.peers(part) {
		if p == ours || p == beforeP || !isPeer(p) {
			continue
		}
		m, measured := r.median(part, p, at, metric)
		if measured && (!ok || (m < lead) != highest) {
			name, lead, ok = p, m, true
		}
	}
	return name, ok
}

func (r *Report) trouble(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.Trouble = append(r.Trouble, text)
	fmt.Fprintln(os.Stderr, "!!", text)
}

// spread is half of (highest − lowest) of the rounds, as a share of their median.
func (c *Cell) spread() float64 {
	return (slices.Max(c.Rounds) - slices.Min(c.Rounds)) / 2 / quantile.Median(c.Rounds)
}
