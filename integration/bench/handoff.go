package main

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// firstP50 is of the JVMs' hand-offs after their start, which are in no other figure.
const firstP50 = "p50 µs, first"

// runHandoff measures how long after a release in one process a waiter in another has the lock. The two take turns: one
// holds, the other is given time to settle down to wait, the first releases.
func runHandoff(r *run) error {
	type pair struct {
		name    string
		parties [2]party
		waits   []float64
	}
	var all []*pair
	defer func() {
		for _, p := range all {
			for _, one := range p.parties {
				if one != nil {
					one.close()
				}
			}
		}
	}()
	names := []string{limitName}
	for _, p := range builtIn() {
		if p.waits && r.wants(p.name) {
			names = append(names, p.name)
		}
	}
	for _, name := range names {
		q := &pair{name: name}
		all = append(all, q)
		for i := range q.parties {
			c, err := startChild("party", name, r.server.addr, "")
			if err != nil {
				return err
			}
			q.parties[i] = goParty{c}
		}
	}
	if r.java && r.wants(javaP) {
		q := &pair{name: javaP}
		all = append(all, q)
		for i := range q.parties {
			j, err := startJava(r.server.addr)
			if err != nil {
				return err
			}
			q.parties[i] = javaParty{j, j.Thread("t")}
		}
		// The first hundreds run uncompiled.
		first, err := handOver(q.parties, "handoff:warm", r.sizes.handoffs)
		if err != nil {
			return r.failed(javaP, "hand-off between processes", err)
		}
		r.add("handoff", javaP, "2 processes", firstP50, median(first))
	}
	for i := range r.sizes.rounds {
		for k := range all {
			q := all[(k+i)%len(all)]
			if r.hung[q.name] {
				continue
			}
			n := max(r.sizes.handoffs/r.sizes.rounds, 4)
			if q.name == redsyncP {
				n = max(n/4, 4)
			}
			waits, err := handOver(q.parties, "handoff:"+q.name, n)
			if err != nil {
				if err := r.failed(q.name, "hand-off between processes", err); err != nil {
					return err
				}
				continue
			}
			q.waits = append(q.waits, waits...)
			r.add("handoff", q.name, "2 processes", "p50 µs", median(waits))
		}
	}
	for _, q := range all {
		if len(q.waits) > 0 { // of one that hung, those before that
			r.add("handoff", q.name, "2 processes", "p99 µs", quantile(q.waits, 0.99))
			r.add("handoff", q.name, "2 processes", "samples", float64(len(q.waits)))
		}
	}
	r.say("handoff: done")
	return nil
}

// handOver passes a lock to and fro n times and gives the delays in µs.
func handOver(parties [2]party, name string, n int) ([]float64, error) {
	if _, err := parties[0].lock(name); err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	type grant struct {
		at  int64
		err error
	}
	var waits []float64
	for i := range n {
		holder, waiter := parties[i%2], parties[(i+1)%2]
		granted := make(chan grant, 1)
		go func() {
			at, err := waiter.lock(name)
			granted <- grant{at, err}
		}()
		// Longer than any needs to be refused twice and subscribed, and of no rhythm that a poll could share.
		time.Sleep(6*time.Millisecond + rand.N(10*time.Millisecond))
		began, err := holder.unlock(name)
		if err != nil {
			return nil, fmt.Errorf("unlock: %w", err)
		}
		g := <-granted
		if g.err != nil {
			return nil, fmt.Errorf("lock: %w", g.err)
		}
		waits = append(waits, float64(g.at-began)/1000)
	}
	if _, err := parties[n%2].unlock(name); err != nil {
		return nil, fmt.Errorf("unlock: %w", err)
	}
	return waits, nil
}
