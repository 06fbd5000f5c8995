package main

import (
	"fmt"
	"time"
)

// pairCallers are the numbers of callers in the uncontended part.
var pairCallers = []int{1, 2, 4, 8, 16, 32, 128, 1024}

// warmUp is how long a peer runs before it is measured; a JVM needs longer.
const (
	warmUp     = 200 * time.Millisecond
	javaWarmUp = 4 * time.Second
)

// runPairs measures lock and unlock of names that no other caller uses.
func runPairs(r *run) error { return r.pairs("pairs", r.server.addr, pairCallers) }

// pairs measures pairs with a server at addr, for a part that has a place for each number of callers.
func (r *run) pairs(part, addr string, places []int) (err error) {
	defer caught(&err)
	all, closeAll, err := r.openAt(addr, 1, false)
	check(err)
	defer closeAll()
	for _, c := range all {
		if c.name == javaP {
			length := javaWarmUp
			if r.Quick {
				length /= 4
			}
			if _, err := c.load(spec{prefix: "warm:", callers: 16, length: length}); err != nil {
				r.failed(c.name, "warming up", err)
			}
		}
	}
	for _, callers := range places {
		at := fmt.Sprint(callers)
		for i := range r.sizes.rounds {
			check(round(r, i, all, "uncontended pairs, "+part+", callers: "+at, func(c *contender) (err error) {
				defer caught(&err)
				s := spec{prefix: prefixFor("pairs", c.name), callers: callers, length: r.sizes.length}
				check(c.warm(i, s, warmUp))
				l, e, err := r.cost(c, s)
				check(err)
				r.addPairs(part, c, at, l, e)
				return nil
			}))
			if part == "pairs" {
				check(r.addLimit(at))
			}
			if callers == 1 {
				check(r.addThread(part, addr, at))
			}
		}
		r.say("%s, %d callers: done", part, callers)
	}
	return nil
}

func (r *run) addPairs(part string, c *contender, at string, l loaded, e expense) {
	n := float64(l.grants)
	r.add(part, c.name, at, "µs", l.micros())
	r.add(part, c.name, at, "server µs", e.server.Seconds()*1e6/n)
	r.add(part, c.name, at, "client µs", e.client.Seconds()*1e6/n)
	if part != "pairs" {
		return
	}
	r.addIdle(c.name, at, e)
	if c.peer != nil {
		r.add(part, c.name, at, "allocations", float64(e.mallocs)/n)
		r.add(part, c.name, at, "bytes", float64(e.bytes)/n)
		r.add(part, c.name, at, "commands", c.peer.requests(e.commands, l.grants)/n)
	}
}

// addLimit measures the server's limit at each place. The limit has no callers, but the rounds' ratios must be of the
// same moment.
func (r *run) addLimit(at string) (err error) {
	defer caught(&err)
	var best loaded
	var its expense
	for _, depth := range limitDepths {
		c := &contender{name: limitName, load: newLimit(r.server.addr, depth).load, usage: ownUsage}
		l, e, err := r.cost(c, spec{length: r.sizes.length / 2})
		check(err)
		r.add("limit", limitName, fmt.Sprint(depth), "µs", l.micros())
		if best.pairs == 0 || l.micros() < best.micros() {
			best, its = l, e
		}
	}
	r.add("pairs", limitName, at, "µs", best.micros())
	r.add("pairs", limitName, at, "server µs", its.server.Seconds()*1e6/float64(best.pairs))
	r.addIdle(limitName, at, its)
	return nil
}

// addThread measures what one caller can reach, for comparison.
func (r *run) addThread(part, addr, at string) error {
	l, err := thread(addr)(spec{length: r.sizes.length / 2})
	if err == nil && l.pairs > 0 {
		r.add(part, loneName, at, "µs", l.micros())
	}
	return err
}

// The percentages of the time in which the server and the client's process did not run, of one core. A process that
// uses more than one core is below 0.
const (
	serverIdle = "server idle, %"
	clientIdle = "client idle, %"
)

func (r *run) addIdle(peer, at string, e expense) {
	r.add("pairs", peer, at, serverIdle, 100*(1-e.server.Seconds()/e.wall.Seconds()))
	r.add("pairs", peer, at, clientIdle, 100*(1-e.client.Seconds()/e.wall.Seconds()))
}
