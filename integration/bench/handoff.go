package main

import (
	"math/rand/v2"
	"time"

	"github.com/rlock-go/redisson/integration/kit/quantile"
)

// firstP50 is of the JVMs' first hand-offs after their start. No other figure includes these.
const firstP50 = "p50 µs, first"

// handing is two processes that pass a lock back and forth.
type handing struct {
	name    string
	parties [2]party
	waits   []float64
}

func (h *handing) called() string { return h.name }

// handings are the pairs of processes that a part compares.
type handings []*handing

// add starts the two processes of a handing.
func (all *handings) add(name string, start func() (party, error)) (h *handing, err error) {
	defer caught(&err)
	h = &handing{name: name}
	*all = append(*all, h)
	for i := range h.parties {
		h.parties[i] = must(start())
	}
	return h, nil
}

// addJVMs starts two JVMs and warms them up: the first hundreds of hand-offs run uncompiled. It returns their times.
func (all *handings) addJVMs(addr, name string, n int) (first []float64, err error) {
	h, err := all.add(javaP, func() (party, error) {
		j, err := startJava(addr)
		if err != nil {
			return nil, err
		}
		return javaParty{j, j.Thread("t")}, nil
	})
	if err != nil {
		return nil, err
	}
	return handOver(h.parties, name, n)
}

func (all *handings) close() {
	for _, h := range *all {
		for _, p := range h.parties {
			if p != nil {
				p.close()
			}
		}
	}
}

// runHandoff measures how long after a release in one process a waiter in another has the lock. The processes
// alternate: one holds, the other gets time to become a waiter, then the first releases.
func runHandoff(r *run) (err error) {
	defer caught(&err)
	const at, what = "2 processes", "hand-off between processes"
	var all handings
	defer all.close()
	names := []string{limitName}
	for _, p := range builtIn() {
		if p.waits && r.wants(p.name) {
			names = append(names, p.name)
		}
	}
	for _, name := range names {
		must(all.add(name, func() (party, error) { return startParty(name, r.server.addr, "") }))
	}
	if r.java && r.wants(javaP) {
		first, err := all.addJVMs(r.server.addr, "handoff:warm", r.sizes.handoffs)
		if err != nil {
			return r.failed(javaP, what, err)
		}
		r.add("handoff", javaP, at, firstP50, quantile.Median(first))
	}
	for i := range r.sizes.rounds {
		check(round(r, i, all, what, func(h *handing) error {
			n := max(r.sizes.handoffs/r.sizes.rounds, 4)
			if h.name == redsyncP {
				n = max(n/4, 4)
			}
			waits, err := handOver(h.parties, "handoff:"+h.name, n)
			if err == nil {
				h.waits = append(h.waits, waits...)
				r.add("handoff", h.name, at, "p50 µs", quantile.Median(waits))
			}
			return err
		}))
	}
	for _, h := range all {
		if len(h.waits) > 0 { // of a peer that hung, those before that
			r.add("handoff", h.name, at, "p99 µs", quantile.Of(h.waits, 0.99))
			r.add("handoff", h.name, at, "samples", float64(len(h.waits)))
		}
	}
	r.say("handoff: done")
	return nil
}

// handOver passes a lock back and forth n times and returns the delays in µs.
func handOver(parties [2]party, name string, n int) (waits []float64, err error) {
	defer caught(&err)
	must(parties[0].lock(name))
	type grant struct {
		at  int64
		err error
	}
	for i := range n {
		holder, waiter := parties[i%2], parties[(i+1)%2]
		granted := make(chan grant, 1)
		go func() {
			at, err := waiter.lock(name)
			granted <- grant{at, err}
		}()
		// Longer than any peer needs to be refused twice and to subscribe. Random, so that no poll keeps step.
		time.Sleep(6*time.Millisecond + rand.N(10*time.Millisecond))
		began := must(holder.unlock(name))
		g := <-granted
		check(g.err)
		waits = append(waits, float64(g.at-began)/1000)
	}
	must(parties[n%2].unlock(name))
	return waits, nil
}
