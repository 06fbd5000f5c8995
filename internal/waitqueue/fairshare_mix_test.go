package waitqueue

import (
	"slices"
	"time"
)

// mix says which clients share the lock.
type mix struct {
	quick, slow, idle int
	quickly, slowly   work
	wakes             func(*simulation) func() time.Duration // of slow clients; nil: jvm
	oneByOne          bool                                   // of slow clients
	inARow            int                                    // 0: usualRow
}

const (
	// usualRow is how many local hand-offs follow each other at most.
	usualRow = 32

	settling = 500 * ms
	measured = 3 * time.Second
)

// outcome is the result of a mix.
type outcome struct {
	rate   float64 // acquisitions a second
	shares [2][]float64
	quicks []*quick
	slows  []*slow
}

const (
	ofQuick = iota
	ofSlow
)

// least is the smallest share of a client of this kind, in percent; 100 if there is none.
func (o *outcome) least(kind int) float64 { return slices.Min(append(o.shares[kind], 100)) }

// simulate runs the mix, with courtesy or without.
func (c mix) simulate(courteous bool) *outcome {
	s := newSimulation(1)
	s.from = s.now + settling
	o := new(outcome)
	if c.inARow == 0 {
		c.inARow = usualRow
	}
	if c.wakes == nil {
		c.wakes = jvm
	}
	for range c.quick {
		o.quicks = append(o.quicks, newQuick(s, c.quickly, courteous, c.inARow))
	}
	for range c.slow {
		p := newSlow(s, c.slowly, c.wakes(s))
		p.oneByOne = c.oneByOne
		o.slows = append(o.slows, p)
	}
	for range c.idle {
		newIdle(s)
	}
	s.run(s.from + measured)
	total := 0
	for _, q := range o.quicks {
		total += q.grants
	}
	for _, p := range o.slows {
		total += p.grants
	}
	for _, q := range o.quicks {
		o.shares[ofQuick] = append(o.shares[ofQuick], 100*float64(q.grants)/float64(total))
	}
	for _, p := range o.slows {
		o.shares[ofSlow] = append(o.shares[ofSlow], 100*float64(p.grants)/float64(total))
	}
	o.rate = float64(total) / measured.Seconds()
	return o
}
