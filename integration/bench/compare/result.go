package main

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// never stands for an event that did not come while a round waited, in milliseconds.
const never = 1e9

// Metric is one measured property of a cell. Values has one value per round.
type Metric struct {
	Name   string    `json:"name"`
	Unit   string    `json:"unit"`   // "ms" for a time, "of" for yes (1) or no (0), "" for a number
	Better string    `json:"better"` // "less", "more", or empty if neither is better
	Values []float64 `json:"values"`
}

// Cell is a fault tried on a party.
type Cell struct {
	Fault   string   `json:"fault"`
	Party   string   `json:"party"`
	Rounds  int      `json:"rounds"`
	Metrics []Metric `json:"metrics,omitempty"`
	// Together is for how many milliseconds two were inside, per round; 0 if they were not.
	Together []float64 `json:"together_ms"`
	// Untried says why there are no rounds. Trouble says why rounds are missing that the rig could not run.
	Untried string   `json:"untried,omitempty"`
	Trouble []string `json:"trouble,omitempty"`
}

// Report is the result of a run.
type Report struct {
	Command string            `json:"command"`
	Began   time.Time         `json:"began"`
	Took    string            `json:"took"`
	Redis   string            `json:"redis"`
	Go      string            `json:"go"`
	Rounds  int               `json:"rounds"`
	Missing map[string]string `json:"missing"`
	Again   string            `json:"again,omitempty"` // which cells are from a later run, and its time
	Cells   []*Cell           `json:"cells"`
}

// with replaces the cells that a later run has.
func (r *Report) with(later *Report, which string) *Report {
	for _, c := range later.Cells {
		*r.cell(c.Fault, c.Party) = *c
	}
	r.Again = fmt.Sprintf("Cells with %q in their names were played again on %s.", which, later.Began.Format("2006-01-02 15:04"))
	return r
}

// result is a round in progress.
type result struct {
	mu      sync.Mutex
	metrics []Metric
}

func (r *result) add(name, unit, better string, value float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.metrics = append(r.metrics, Metric{name, unit, better, []float64{value}})
}

// after records a time, of which less is better. ok is false if the event never came.
func (r *result) after(name string, d time.Duration, ok bool) {
	ms := float64(d.Microseconds()) / 1000
	if !ok {
		ms = never
	}
	r.add(name, "ms", "less", max(ms, 0))
}

// yes records whether something is true that should be.
func (r *result) yes(name string, is bool) { r.add(name, "of", "more", truth(is)) }

// no records whether something is true that should not be.
func (r *result) no(name string, is bool) { r.add(name, "of", "less", truth(is)) }

// says records whether something is true, with no preference.
func (r *result) says(name string, is bool) { r.add(name, "of", "", truth(is)) }

// number records a number of which less is better.
func (r *result) number(name string, n float64) { r.add(name, "", "less", n) }

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// take adds a round to its cell.
func (c *Cell) take(r *result, together time.Duration) {
	c.Rounds++
	c.Together = append(c.Together, float64(max(together, 0).Microseconds())/1000)
	for _, m := range r.metrics {
		i := slices.IndexFunc(c.Metrics, func(o Metric) bool { return o.Name == m.Name })
		if i < 0 {
			c.Metrics = append(c.Metrics, m)
			continue
		}
		c.Metrics[i].Values = append(c.Metrics[i].Values, m.Values...)
	}
}

func (c *Cell) metric(name string) (Metric, bool) {
	i := slices.IndexFunc(c.Metrics, func(m Metric) bool { return m.Name == name })
	if i < 0 {
		return Metric{}, false
	}
	return c.Metrics[i], true
}

// both counts the rounds in which two were inside.
func (c *Cell) both() (n int) {
	for _, ms := range c.Together {
		if ms > 0 {
			n++
		}
	}
	return n
}

func (r *Report) cell(fault, party string) *Cell {
	c := r.of(fault, party)
	if c == nil {
		c = &Cell{Fault: fault, Party: party}
		r.Cells = append(r.Cells, c)
	}
	return c
}

func sum(v []float64) (s float64) {
	for _, x := range v {
		s += x
	}
	return s
}
